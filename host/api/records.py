"""Records for Python: explained, compared, drawn, replayed."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from host.analysis.explain.evidence import evidence_of
from host.analysis.explain.page import difference_page, page
from host.analysis.explain.stacks import Comparison, stacks
from host.analysis.explain.stacks import compare as compare_records
from host.analysis.explain.terminal import as_html, as_text
from host.analysis.explain.verdict import Finding, findings_of
from host.graph.csr import Graph
from host.output import open_output
from host.progress import Progress
from host.record.reader import Record
from host.replay.point import Point
from host.replay.replaying import Window, replay_window
from host.runs.results import Result
from host.runs.specification import available_threads
from sim.memory import Profile

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from rich.console import RenderableType

__all__ = ["Difference", "Explanation", "compare", "explain", "figures", "record_of", "replay", "report"]

Recorded: TypeAlias = Record | Result | str | PathLike[str]
"""A record: itself, the result of a run that was recorded, or its folder."""

_ROWS = 12
_WIDTH = 100


def record_of(recorded: Recorded) -> Record:
    """Return the record.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        There is none in the folder.
    """
    if isinstance(recorded, Record):
        return recorded
    if isinstance(recorded, Result):
        if recorded.record is None:
            raise ValueError("the run was not recorded: give it record=FOLDER")
        return recorded.record
    return Record(Path(recorded))


class Explanation:
    """Why a recorded run spent its cycles as it did; `str` of it is what ``cyscc explain`` prints.

    Attributes
    ----------
    record : Record
    instructions : pandas.DataFrame
        The instructions that it is about: levels and intersections.
    """

    def __init__(self, record: Record, rows: "pd.DataFrame") -> None:
        self.record = record
        self.instructions = rows

    @property
    def findings(self) -> list[Finding]:
        """The verdict, what costs most first."""
        return findings_of(self.record, self.instructions)

    def stacks(self, by: str = "level") -> "pd.DataFrame":
        """Return cycles by cause of an average kernel for each phase, iteration, level, engine, kernel or interval."""
        return stacks(self.record, self.instructions, by)

    def banks(self, count: int = 10) -> "pd.DataFrame":
        """Return the hottest banks of each module: how busy, for which arrays, and when."""
        import pandas as pd

        every = evidence_of(self.record, self.instructions)
        return pd.DataFrame([{"module": its.module, **vars(bank)} for its in every for bank in its.hottest(count)])

    def fifos(self) -> "pd.DataFrame":
        """Return how deep each FIFO got, and which depth to try."""
        import pandas as pd

        every = evidence_of(self.record, self.instructions)
        return pd.DataFrame([{**vars(fifo), "proposed": fifo.proposed} for its in every for fifo in its.fifos])

    def _page(self) -> "list[RenderableType]":
        return page(self.record, self.instructions, by=None, top=_ROWS)

    def __str__(self) -> str:
        return as_text(self._page(), width=_WIDTH)

    def _repr_html_(self) -> str:
        return as_html(self._page(), width=_WIDTH)


class Difference:
    """Where the second of two recorded runs takes more cycles, and why; `str` of it is what ``cyscc explain`` prints.

    Attributes
    ----------
    levels, phases : pandas.DataFrame
        Cycles of both, their difference, and the difference by cause, for each level and each phase.
    causes : dict of str to float
        The whole difference by cause, in cycles of an average kernel.
    cycles : int
        The whole difference.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.levels, self.phases = comparison.levels, comparison.phases
        self.causes, self.cycles = comparison.causes, comparison.difference

    def _page(self) -> "list[RenderableType]":
        return difference_page(self._comparison, top=_ROWS)

    def __str__(self) -> str:
        return as_text(self._page(), width=_WIDTH)

    def _repr_html_(self) -> str:
        return as_html(self._page(), width=_WIDTH)


def explain(
    recorded: Recorded, *, phase: str | None = None, level: int | None = None, iteration: int | None = None
) -> Explanation:
    """Say why a recorded run spent its cycles as it did.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a run that was recorded, or a record's folder.
    phase, level, iteration : optional
        Only this phase, level or iteration.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        There is no record, or nothing of what was asked for in it.
    """
    record = record_of(recorded)
    return Explanation(record, record.select(phase=phase, level=level, iteration=iteration))


def compare(first: Recorded, second: Recorded) -> Difference:
    """Say where the second of two recorded runs takes more cycles, and why. As of `explain` otherwise."""
    return Difference(compare_records(record_of(first), record_of(second)))


def report(path: str | PathLike[str], *recorded: Recorded) -> None:
    """Write the page of runs: one HTML file that loads nothing.

    Parameters
    ----------
    path : str or path
        The file.
    *recorded : Record, Result, str or path
        Records, results of runs that were recorded, or records' folders; several are compared with the first one.

    Raises
    ------
    ValueError
        There is none, or a run was not recorded.
    InputError
        A record cannot be read, or the file cannot be written.
    """
    from host.analysis.report.page import page

    if not recorded:
        raise ValueError("a report needs a record")
    text = page([record_of(each) for each in recorded])
    with open_output(str(path)) as file:
        file.write(text.encode())


def figures(*recorded: Recorded) -> "dict[str, go.Figure]":
    """Return the charts of the page of runs, by their titles; where there are several runs, after the run's name.

    Parameters and errors are those of `report`.
    """
    from host.analysis.report.page import sections

    if not recorded:
        raise ValueError("charts need a record")
    made = sections([record_of(each) for each in recorded])
    several = len(recorded) > 1
    return {
        f"{section.run}: {chart.title}" if several and section.run else chart.title: chart.figure
        for section in made
        for chart in section.charts
    }


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
        graph=graph if graph is None or isinstance(graph, Graph) else str(graph),
        memory=memory,
        threads=available_threads() if threads is None else threads,
        progress=Progress(quiet=not progress),
    )
