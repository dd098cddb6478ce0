"""Samples: counter values at a cycle, in rows of the same layout from every executor."""

from collections.abc import Mapping
from functools import cache
from typing import get_args

import numpy as np
import numpy.typing as npt

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig, Depth
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.kernel import Fifo
from cyscc.hw.queue import Queue

MODULES = ("bfs", "intersection")
"""The modules of an AE, in the order of a row."""

MOST_HELD = get_args(Depth)[1].le + Queue.REGISTERS
"""Most entries of a FIFO in any configuration."""


def fifos(config: AcceleratorConfig) -> Mapping[str, tuple[Fifo, ...]]:
    """Return the FIFOs of each module's kernels."""
    return {"bfs": BfsKernel.fifos(config), "intersection": IntersectionKernel.fifos(config)}


@cache
def sample_dtype(config: AcceleratorConfig) -> np.dtype[np.void]:
    """Return the dtype of an AE's row, made of 64-bit integers.

    Returns
    -------
    dtype
        ``cycle``: the row covers the cycles before it. ``turns``: token arrivals at the first kernel of ``bfs`` and of
        ``intersection``, since reset. ``bfs`` and ``intersection``, by kernel: ``causes``, cycles by `Cause`
        since reset. For each FIFO, in the order of `fifos`, its occupancy at the end of a cycle: ``fill``, the sum over
        the cycles since recording began; ``interval_most``, the maximum since the last boundary; ``instruction_most``,
        the maximum since `Executor.begin_instruction_marks`. ``begun`` and ``ended``: first cycle of the kernel's last
        run, and end of the last completed run; -1 before.
    """
    number = np.int64
    columns: list[tuple[str, object] | tuple[str, object, tuple[int, ...]]] = [("cycle", number)]
    for module, names in fifos(config).items():
        shape = (len(names),)
        kernel = np.dtype(
            [
                ("causes", number, (len(Cause),)),
                *((name, number, shape) for name in ("fill", "interval_most", "instruction_most")),
                ("begun", number),
                ("ended", number),
            ]
        )
        columns.append((module, kernel, (getattr(config, f"{module}_kernels"),)))
    columns.append(("turns", np.dtype([(module, number) for module in MODULES])))
    return np.dtype(columns)


class Samples:
    """Rows at multiples of an interval, in a ring that the AEs fill.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    interval : int
        Cycles between two rows.
    places : int
        Capacity of the ring in rows per AE.
    cycle : int
        Current cycle; the first row is at the next multiple.

    Attributes
    ----------
    interval, places
        As given.
    rows : ndarray of `sample_dtype`, shape (AEs, places)
        The ring: the row at cycle n * interval is at index n % places.
    """

    def __init__(self, config: AcceleratorConfig, *, interval: int, places: int, cycle: int) -> None:
        if interval < 1 or places < 1:
            raise ValueError(f"interval and places must be at least 1, not {interval} and {places}")
        self.interval = interval
        self.places = places
        self.rows = np.zeros((config.engines, places), sample_dtype(config))
        self.restart(cycle)

    def restart(self, cycle: int) -> None:
        """Continue from another cycle; rows not taken are dropped."""
        self._taken = cycle // self.interval

    @property
    def limit(self) -> int:
        """Cycle from which on rows not taken are overwritten."""
        return (self._taken + self.places + 1) * self.interval

    def waiting(self, cycle: int) -> int:
        """Return the number of rows per AE that can be taken at a cycle."""
        return cycle // self.interval - self._taken

    def take(self, cycle: int) -> npt.NDArray[np.void]:
        """Return the rows since the last call up to a cycle, of shape (AEs, rows), oldest first.

        Raises
        ------
        ValueError
            Some rows have been overwritten.
        """
        waiting = self.waiting(cycle)
        if waiting > self.places:
            raise ValueError(f"{waiting} rows of samples wait, and {self.places} have a place: some are lost")
        first = self._taken + 1
        self._taken += waiting
        return self.rows[:, np.arange(first, first + waiting) % self.places]
