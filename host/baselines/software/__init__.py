"""Software baselines for strongly connected components, on the processor and on graphics processors."""

from cyscc.host.baselines.software.decomposition import (
    Decomposition,
    SoftwareRun,
    SoftwareSetting,
    peer_runs,
    run_software,
    transposed,
)
from cyscc.host.baselines.software.limited import ChildError, LimitError, Reports, in_child

__all__ = [
    "ChildError",
    "Decomposition",
    "LimitError",
    "Reports",
    "SoftwareRun",
    "SoftwareSetting",
    "in_child",
    "peer_runs",
    "run_software",
    "transposed",
]
