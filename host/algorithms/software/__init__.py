"""The software that the accelerator is compared with: strongly connected components on the host's own processor."""

from host.algorithms.software.algorithms import ALGORITHMS, SoftwareRun, run_software
from host.algorithms.software.decomposition import Decomposition, Setting, Watch

__all__ = ["ALGORITHMS", "Decomposition", "Setting", "SoftwareRun", "Watch", "run_software"]
