"""Summaries of what the hardware counted, for results."""

import numpy as np
import numpy.typing as npt

from hw.causes import Cause
from hw.registers import Counter

__all__ = ["summarise_causes", "summarise_counters"]


def summarise_causes(causes: npt.NDArray[np.int64], *, bfs_kernels: int) -> dict[str, dict[str, int]]:
    """Return the kernel cycles by module and cause.

    Parameters
    ----------
    causes : ndarray of int64, shape (AEs, kernels, causes)
        Cycles, BFS kernels first.
    bfs_kernels : int
        BFS kernels of an AE.
    """
    modules = {"bfs": causes[:, :bfs_kernels], "intersection": causes[:, bfs_kernels:]}
    return {
        module: {cause.name.lower(): int(cycles[:, :, cause].sum()) for cause in Cause}
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
        module: {counter.name.lower(): int(values[:, counter].sum()) for counter in Counter}
        for module, values in modules.items()
    }
