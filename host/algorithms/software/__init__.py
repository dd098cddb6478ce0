"""The software that the accelerator is compared with: strongly connected components on the host's own processor."""

from host.algorithms.software.decomposition import Decomposition, Setting, SoftwareRun, Watch, run_software

__all__ = ["Decomposition", "Setting", "SoftwareRun", "Watch", "run_software"]
