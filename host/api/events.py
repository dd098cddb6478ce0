"""Events and traces of recorded runs in the Python interface."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from cyscc.host.analysis.event_kinds import TOP, EventQuery, EventScope
from cyscc.host.analysis.events import Events
from cyscc.host.api.records import Recorded, record_of, rerun_setting
from cyscc.host.graph.csr import Graph
from cyscc.host.output.files import Content, check_suffix
from cyscc.host.replay.events import events_of
from cyscc.host.replay.point import Point
from cyscc.host.specification.run import checked_number
from cyscc.sim.memory import Profile

__all__ = ["events", "trace"]


def events(
    recorded: Recorded,
    kinds: str | Sequence[str] = (),
    *,
    longer: int | None = None,
    replay: bool = False,
    order: str = "size",
    top: int = TOP,
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = False,
    **scope: Any,
) -> Events:
    """Return the events of a recorded run, as ``cyscc events`` lists them.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    kinds : str or sequence of str
        Kinds of events, such as ``"bank"``; by default all that the record knows, or that the restrictions leave.
    longer : int, optional
        Waits of a kernel for more than so many cycles, for which the run is made again.
    replay : bool
        Whether to make the run again for all kinds that are known better then.
    order : str
        ``"size"``: the largest of each kind first, or ``"time"``.
    top : int
        Most events of each kind.
    graph, memory, threads, progress : optional
        As in `replay`, if the run is made again.
    **scope
        Restrictions: ``iteration``, ``phase``, ``level``, ``engine``, ``module``, ``kernel``, ``cause``, ``fifo``, and
        ``bank``, a pair of controller and bank.

    Returns
    -------
    Events
        Its `frame` has a row for each event; its `str` is the output of ``cyscc events``.

    Raises
    ------
    ValueError
        There is no such kind, cause or order, a kind cannot be restricted so, or the run was not recorded.
    InputError
        The record or the graph cannot be used, or the run does not have what is named.
    SimulationError
        The run that is made again failed.
    """
    query = EventQuery(
        kinds=(kinds,) if isinstance(kinds, str) else tuple(kinds),
        scope=EventScope(**scope),
        longer=longer,
        replay=replay,
        order=order,
        top=top,
    )
    return events_of(record_of(recorded), query, rerun_setting(recorded, graph, memory, threads, progress))


def trace(
    recorded: Recorded,
    path: str | PathLike[str],
    at: str | int | None = None,
    *,
    cycles: int = 1000,
    before: int = 0,
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> None:
    """Write the trace of a recorded run for Perfetto, as ``cyscc report --trace`` does; or that of a window.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    path : str or path
        The file, ``.pftrace`` by custom.
    at : str or int, optional
        The point of a window, as of `replay`: the run is made again, and the trace has every cycle of every kernel and
        every access there. By default the trace is that of the whole run, from the record.
    cycles, before : int
        Cycles of the window, and how many of them lie before the point.
    graph, memory, threads, progress : optional
        As in `replay`, for a window.

    Raises
    ------
    ValueError
        The run was not recorded, or the point is malformed.
    InputError
        The record or the graph cannot be used, the file cannot be written, or the point is not in the run.
    SimulationError
        The run that is made again failed.
    """
    check_suffix(str(path), Content.TRACE)
    if at is None:
        from cyscc.host.analysis.trace import write_trace

        write_trace(record_of(recorded), str(path))
        return
    from cyscc.host.replay.trace import trace_window

    trace_window(
        record_of(recorded),
        Point.of(at),
        str(path),
        rerun_setting(recorded, graph, memory, threads, progress),
        cycles=checked_number("cycles", cycles, low=1),
        before=checked_number("before", before, low=0),
    )
