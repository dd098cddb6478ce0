"""Summaries of what the hardware counted, for results."""

import numpy as np
import numpy.typing as npt

from hw.kernel_control import Activity
from hw.registers import Counter

__all__ = ["summarise_activity", "summarise_counters"]


def summarise_activity(activity: npt.NDArray[np.int64], *, bfs_kernels: int) -> dict[str, dict[str, int]]:
    """Return the kernel cycles by module and cause.

    Parameters
    ----------
    activity : ndarray of int64, shape (AEs, kernels, activities)
        Cycles, BFS kernels first.
    bfs_kernels : int
        BFS kernels of an AE.
    """
    modules = {"bfs": activity[:, :bfs_kernels], "intersection": activity[:, bfs_kernels:]}
    return {
        module: {cause.name.lower(): int(cycles[:, :, cause.value].sum()) for cause in Activity.__members__.values()}
        for module, cycles in modules.items()
    }


def summarise_counters(counters: npt.NDArray[np.uint64], *, bfs_kernels: int) -> dict[str, dict[str, int]]:
    """Return the event counters by module, summed over kernels and AEs.

    Parameters
    ----------
    counters : ndarray of uint64, shape (kernels, counters, AEs)
        BFS kernels first.
    bfs_kernels : int
        BFS kernels of an AE.
    """
    modules = {"bfs": counters[:bfs_kernels], "intersection": counters[bfs_kernels:]}
    return {
        module: {counter.name.lower(): int(values[:, counter.value].sum()) for counter in Counter}
        for module, values in modules.items()
    }
