"""Samples: what was counted up to a cycle, in rows that every executor writes alike."""

from collections.abc import Mapping
from functools import cache
from typing import get_args

import numpy as np
import numpy.typing as npt

from hw.bfs import Kernel as BfsKernel
from hw.causes import Cause
from hw.config import AcceleratorConfig, Depth
from hw.intersection import Kernel as IntersectionKernel
from hw.kernel import Fifo
from hw.queue import Queue

__all__ = ["MODULES", "MOST_HELD", "Samples", "fifos", "sample_dtype"]

MODULES = ("bfs", "intersection")
"""The modules of an AE, in the order of a row."""

MOST_HELD = get_args(Depth)[1].le + Queue.REGISTERS
"""The entries that a FIFO of any configuration may hold."""


def fifos(config: AcceleratorConfig) -> Mapping[str, tuple[Fifo, ...]]:
    """Return the FIFOs of each module's kernels."""
    return {"bfs": BfsKernel.fifos(config), "intersection": IntersectionKernel.fifos(config)}


@cache
def sample_dtype(config: AcceleratorConfig) -> np.dtype[np.void]:
    """Return what an AE's row has; all its numbers are of 64 bits.

    Returns
    -------
    dtype
        ``cycle``: the row is of the cycles before it. ``turns``: how often the token came to the first kernel of
        ``bfs`` and of ``intersection``, since reset. ``bfs`` and ``intersection``, by kernel: ``causes``, cycles by
        `hw.causes.Cause` since reset; of each FIFO, in the order of `fifos`, entries held at the end of a cycle:
        ``fill``, their sum over the cycles since recording began, ``interval_most``, the most of a cycle since the last
        boundary, and ``instruction_most``, the most since `Executor.begin_instruction_marks`; ``begun`` and ``ended``,
        the first cycle of the kernel's last run, and the first after the last run that has ended, -1 before.
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
    """Rows at the multiples of an interval, in a ring that the AEs fill by themselves.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    interval : int
        Cycles between two rows.
    places : int
        Rows of an AE that the ring has room for.
    cycle : int
        The present one; the first row is at the next multiple.

    Attributes
    ----------
    interval, places
        As given.
    rows : ndarray of `sample_dtype`, shape (AEs, places)
        The ring: the row at cycle n * interval has the place n % places.
    """

    def __init__(self, config: AcceleratorConfig, *, interval: int, places: int, cycle: int) -> None:
        if interval < 1 or places < 1:
            raise ValueError(f"interval and places must be at least 1, not {interval} and {places}")
        self.interval = interval
        self.places = places
        self.rows = np.zeros((config.engines, places), sample_dtype(config))
        self.restart(cycle)

    def restart(self, cycle: int) -> None:
        """Go on from another cycle; rows that were not taken are forgotten."""
        self._taken = cycle // self.interval

    @property
    def limit(self) -> int:
        """Cycle from which on a row that was not taken is overwritten."""
        return (self._taken + self.places + 1) * self.interval

    def waiting(self, cycle: int) -> int:
        """Return how many rows of each AE wait to be taken in a cycle."""
        return cycle // self.interval - self._taken

    def take(self, cycle: int) -> npt.NDArray[np.void]:
        """Return the rows since the last call up to a cycle, of shape (AEs, rows), oldest first.

        Raises
        ------
        ValueError
            Some have been overwritten.
        """
        waiting = self.waiting(cycle)
        if waiting > self.places:
            raise ValueError(f"{waiting} rows of samples wait, and {self.places} have a place: some are lost")
        first = self._taken + 1
        self._taken += waiting
        return self.rows[:, np.arange(first, first + waiting) % self.places]
