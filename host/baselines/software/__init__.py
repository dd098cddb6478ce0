"""Software baselines for strongly connected components, on the processor and on graphics processors."""

from cyscc.host.baselines.software.decomposition import Decomposition, Setting, SoftwareRun, Watch, run_software

__all__ = ["Decomposition", "Setting", "SoftwareRun", "Watch", "run_software"]
