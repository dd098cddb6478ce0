"""Replays for Python: a window of a recorded run, as waveforms."""

from os import PathLike
from pathlib import Path

from host.api.records import Recorded, record_of
from host.graph.csr import Graph
from host.progress import Progress
from host.record.reader import Record
from host.replay.point import Point
from host.replay.replaying import Window, replay_window
from host.runs.results import Result
from host.runs.specification import available_threads
from sim.memory import Profile

__all__ = ["replay"]


def replay(
    recorded: Recorded,
    at: str | int,
    path: str | PathLike[str] | None = None,
    *,
    cycles: int = 1000,
    before: int = 0,
    scopes: tuple[str, ...] = (),
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Window:
    """Make a recorded run again up to a point, and write waveforms from there, as ``cyscc replay`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a run that was recorded, or a record's folder; that of a run that failed too.
    at : str or int
        The point: a cycle, ``level=3``, or an event such as ``slot,engine=0,kernel=3,level=3``.
    path : str or path, optional
        The waveforms, ``.fst`` or ``.vcd``; named after the record and the first cycle by default.
    cycles : int
        Cycles to show; fewer where the run ends before.
    before : int
        Of them those before the point.
    scopes : tuple of str
        Globs over the dotted paths of what is shown; all by default.
    graph : Graph, str or path, optional
        The graph, or its file; by default the result's, or the file that the run had.
    memory : Profile, optional
        The memory, where no file has its rules; by default the one that the run names.
    threads : int, optional
        Threads that the executor may use; all cores by default.
    progress : bool
        Show on a terminal's standard error how far it is.

    Returns
    -------
    Window
        The file, the cycle of the point, and which cycles are shown.

    Raises
    ------
    ValueError
        There is no such point, the run was not recorded, or the file is of no kind of waveforms.
    InputError
        The record, the graph or the file cannot be used; the point is not in the run.
    SimulationError
        The run failed before the point.
    """
    if cycles < 1 or before < 0:
        raise ValueError(f"a window has a cycle or more, and begins no later than its point: not {cycles}, {before}")
    if path is not None and Path(path).suffix not in (".fst", ".vcd"):
        raise ValueError(f"waveforms end in .fst or .vcd: {path}")
    if isinstance(recorded, Result) and graph is None:
        graph = recorded.graph
    folder = record_of(recorded).folder if isinstance(recorded, Record | Result) else Path(recorded)
    return replay_window(
        folder,
        Point.parse(str(at)),
        cycles=cycles,
        before=before,
        path=None if path is None else Path(path),
        scopes=tuple(scopes),
        view=False,
        graph=graph if graph is None or isinstance(graph, Graph) else str(graph),
        memory=memory,
        checkpoint=None,
        executor=None,
        threads=available_threads() if threads is None else threads,
        progress=Progress(quiet=not progress),
    )
