"""The software that the accelerator is compared with: strongly connected components on the host's own processor."""

from host.algorithms.software.algorithms import ALGORITHMS, SoftwareRun, run_software

__all__ = ["ALGORITHMS", "SoftwareRun", "run_software"]
