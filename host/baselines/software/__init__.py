"""Software baselines for strongly connected components, on the processor and on graphics processors."""

from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareRun, SoftwareSetting, run_software

__all__ = ["Decomposition", "SoftwareRun", "SoftwareSetting", "run_software"]
