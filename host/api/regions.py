"""Regions of recorded runs in detail, in the Python interface."""

from os import PathLike
from pathlib import Path

from cyscc.host.api.records import Recorded, record_of, rerun_setting
from cyscc.host.graph.csr import Graph
from cyscc.host.record.reader import Record
from cyscc.host.replay.parts import record_region
from cyscc.host.specification.region import Region
from cyscc.host.specification.run import checked_number
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.memory import Profile

__all__ = ["detail"]


def detail(
    recorded: Recorded,
    region: str,
    path: str | PathLike[str] | None = None,
    *,
    interval: int | None = None,
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Record:
    """Record a region of a recorded run in detail, as ``cyscc replay --record-detail`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    region : str
        The region: ``level=3``, ``level=3-5,iteration=1,phase=backward``, or cycles ``100000:120000``.
    path : str or path, optional
        The folder of the new record; ``detail`` in that of the record by default.
    interval : int, optional
        Cycles of an interval; 64 by default.
    graph, memory, threads, progress : optional
        As in `replay`.

    Returns
    -------
    Record
        The new record, whose cycles and instructions count from 0 at the begin of its `part`.

    Raises
    ------
    ValueError
        The region is malformed, or the run was not recorded.
    InputError
        The run has no such region; the record, the graph or the folder cannot be used.
    SimulationError
        The machine could not be built.
    """
    return record_region(
        record_of(recorded),
        Region.parse(region),
        rerun_setting(recorded, graph, memory, threads, progress),
        output=None if path is None else Path(path),
        interval=None if interval is None else checked_number("interval", interval, low=16, high=LONGEST_INTERVAL),
    )
