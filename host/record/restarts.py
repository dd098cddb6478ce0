"""What becomes of the rows of an attempt that was given up: all its cycles have one cause."""

from typing import TYPE_CHECKING

import numpy as np

from host.record.arrow import array_of
from sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["given_up"]


def given_up(rows: "pa.Table", readouts: list[tuple[int, int]], *, interval: int) -> "pa.Table":
    """Return rows with causes whose cycles are all ``restarted``, but for those in which event counters were read.

    Parameters
    ----------
    rows : pyarrow.Table
        Rows of the tables ``kernels`` or ``instruction_kernels``.
    readouts : list of tuple of int
        First cycle, and the cycle after the last, of each readout: in them the host was at work.
    interval : int
        Cycles of an interval.
    """
    names = [cause.name for cause in CAUSES]
    total = np.sum([rows[name].to_numpy() for name in names], axis=0, dtype=np.int64)
    host = np.zeros_like(total)
    if "cycle" in rows.column_names:
        cycle = rows["cycle"].to_numpy()
        for begin, end in readouts:
            host += np.maximum(np.minimum(cycle + interval, end) - np.maximum(cycle, begin), 0)
    for name in names:
        counts = {"restarted": total - host, "host": host}.get(name, np.zeros_like(total))
        index = rows.column_names.index(name)
        rows = rows.set_column(index, rows.schema.field(index), array_of(counts, rows.schema.field(index).type))
    return rows
