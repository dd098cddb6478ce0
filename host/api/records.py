"""Records in the Python interface: explain, compare, draw, replay."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from cyscc.host.analysis.explain.comparison import Comparison
from cyscc.host.analysis.explain.comparison import compare as compare_records
from cyscc.host.analysis.explain.comparison_page import difference_page
from cyscc.host.analysis.explain.conclusion import conclusion
from cyscc.host.analysis.explain.evidence import evidence_of
from cyscc.host.analysis.explain.groups import RunGroup, groups_of_runs
from cyscc.host.analysis.explain.groups import compare_groups as compare_run_groups
from cyscc.host.analysis.explain.groups_page import groups_conclusion, groups_page, pair_row, run_row
from cyscc.host.analysis.explain.iterations import iterations_of
from cyscc.host.analysis.explain.page import page
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.analysis.explain.terminal import as_html, as_text
from cyscc.host.analysis.explain.verdict import Finding, bounds, findings_of
from cyscc.host.graph.csr import Graph
from cyscc.host.output.files import Content, check_suffix, write_text
from cyscc.host.output.progress import Progress
from cyscc.host.record.reader import Record
from cyscc.host.replay.point import Point
from cyscc.host.replay.replaying import Window, WindowRequest, replay_window
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.runs.results import Result
from cyscc.host.specification.run import checked_number
from cyscc.sim.memory import Profile
from cyscc.sim.processors import available_cores
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from rich.console import RenderableType

    from cyscc.host.analysis.explain.proposals import Proposal

__all__ = [
    "Difference",
    "Explanation",
    "Groups",
    "Shown",
    "compare",
    "compare_groups",
    "explain",
    "figures",
    "inputs_of",
    "record_of",
    "replay",
    "report",
    "rerun_setting",
    "write_figure",
]

Recorded: TypeAlias = Record | Result | str | PathLike[str]
"""A record, given as such, as the result of a recorded run, or as its folder."""

_ROWS = 12
_WIDTH = 100


def record_of(recorded: Recorded) -> Record:
    """Return the record.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        The folder holds no record.
    """
    if isinstance(recorded, Record):
        return recorded
    if isinstance(recorded, Result):
        if recorded.record is None:
            raise ValueError("the run was not recorded: give it record=FOLDER")
        return recorded.record
    return Record(Path(recorded))


def rerun_setting(
    recorded: Recorded,
    graph: Graph | str | PathLike[str] | None,
    memory: Profile | str | PathLike[str] | None,
    threads: int | None,
    progress: bool,
) -> RerunSetting:
    """Return how a recorded run is made again, with all cores by default."""
    cores = available_cores() if threads is None else threads
    return RerunSetting(progress=Progress(quiet=not progress), threads=cores, **inputs_of(recorded, graph, memory))


def inputs_of(
    recorded: Recorded, graph: Graph | str | PathLike[str] | None, memory: Profile | str | PathLike[str] | None
) -> dict[str, Any]:
    """Return the ``graph`` and ``memory`` with which a recorded run is made again, by default the result's graph."""
    if isinstance(recorded, Result) and graph is None:
        graph = recorded.graph
    return {
        "graph": graph if graph is None or isinstance(graph, Graph) else str(graph),
        "memory": memory if memory is None or isinstance(memory, Profile) else GivenText(memory),
    }


class Shown:
    """An answer that `print` and Jupyter show as a command prints it."""

    def _page(self) -> "list[RenderableType]":
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self._page(), width=_WIDTH)

    def _repr_html_(self) -> str:
        return as_html(self._page(), width=_WIDTH)


class Explanation(Shown):
    """Breakdown of a recorded run's cycles by cause; its `str` is the output of ``cyscc explain``.

    Attributes
    ----------
    record : Record
    instructions : pandas.DataFrame
        The instructions covered: levels and intersections.
    """

    def __init__(self, record: Record, rows: "pd.DataFrame") -> None:
        self.record = record
        self.instructions = rows

    @property
    def findings(self) -> list[Finding]:
        """Findings of the verdict, the most expensive first."""
        return findings_of(self.record, self.instructions)

    @property
    def proposals(self) -> "list[Proposal]":
        """Changes that may make the whole run take fewer cycles, the most promising first; see `what_if`."""
        from cyscc.host.analysis.explain.proposals import proposals

        return proposals(self.record)

    def stacks(self, by: str = "level") -> "pd.DataFrame":
        """Return the cycle stack of an average kernel for each phase, iteration, level, engine, kernel or interval."""
        return stacks(self.record, self.instructions, by)

    def bounds(self, count: int = 10) -> "pd.DataFrame":
        """Return the levels and intersections with most cycles, and what bounds each, in a few words."""
        import pandas as pd

        most = checked_number("count", count, low=0)
        return pd.DataFrame(bounds(self.record, self.instructions, most))

    @property
    def iterations(self) -> "pd.DataFrame | None":
        """The iterations of the whole run: cycles, work, and vertices of the component at most; None of one search."""
        found = iterations_of(self.record)
        return None if found is None else found.frame

    def banks(self, count: int = 10) -> "pd.DataFrame":
        """Return the hottest banks of each module: utilization, arrays, and interval."""
        import pandas as pd

        most = checked_number("count", count, low=0)
        every = evidence_of(self.record, self.instructions)
        return pd.DataFrame([{"module": its.module, **vars(bank)} for its in every for bank in its.hottest(most)])

    def fifos(self) -> "pd.DataFrame":
        """Return the depth and the maximum occupancy of each FIFO."""
        import pandas as pd

        every = evidence_of(self.record, self.instructions)
        return pd.DataFrame([vars(fifo) for its in every for fifo in its.fifos])

    def _page(self) -> "list[RenderableType]":
        return page(self.record, self.instructions, by=None, top=_ROWS)


class Difference(Shown):
    """Difference in cycles between two recorded runs, by cause; its `str` is the output of ``cyscc explain``.

    Attributes
    ----------
    conclusion : str
        Which run is slower, by how much, where and why.
    levels, phases : pandas.DataFrame
        Cycles of both, their difference, and the difference by cause, for each level and each phase.
    unpaired : pandas.DataFrame
        The same, by phase, of iterations that only one of the runs has.
    causes : dict of str to float
        The total difference by cause, in cycles of an average kernel.
    cycles : int
        The total difference, without the time of the host.
    settings : dict of str to list
        Settings that differ and can change cycles, each with both values.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.conclusion = " ".join(conclusion(comparison))
        self.levels, self.phases, self.unpaired = comparison.levels, comparison.phases, comparison.unpaired
        self.settings = comparison.settings
        self.causes, self.cycles = comparison.causes, comparison.difference

    def _page(self) -> "list[RenderableType]":
        return difference_page(self._comparison, top=_ROWS)


class Groups(Shown):
    """Groups of recorded runs and their comparison; its `str` is the output of ``cyscc explain``.

    Attributes
    ----------
    conclusion : str
        Which group is slower than the first, by how much, and whether that is more than the spread.
    groups : list of RunGroup
        The groups: `name`, `records`, and mean and spread of `cycles`, `gteps` and `causes`.
    comparisons : list of GroupComparison
        Those with the first group: `ratio` of times, `interval`, `beyond_spread`, `causes`.
    runs : pandas.DataFrame
        A row for each run: group, record, graph, source, cycles, seconds, gteps.
    inputs : pandas.DataFrame
        A row for each comparison and input that both groups have: cycles, ratio of times, difference by cause.
    """

    def __init__(self, groups: list[RunGroup]) -> None:
        import pandas as pd

        self.groups = groups
        self.comparisons = compare_run_groups(groups)
        self.conclusion = " ".join(groups_conclusion(self.groups, self.comparisons))
        self.runs = pd.DataFrame(
            [{"group": group.name, **run_row(record)} for group in groups for record in group.records]
        )
        self.inputs = pd.DataFrame(
            [{"group": each.second.name, **pair_row(pair)} for each in self.comparisons for pair in each.pairs]
        )

    def _page(self) -> "list[RenderableType]":
        return groups_page(self.groups, self.comparisons, top=_ROWS)


def explain(
    recorded: Recorded, *, phase: str | None = None, level: int | None = None, iteration: int | None = None
) -> Explanation:
    """Explain where a recorded run spent its cycles, and why.

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
        There is no record, or it does not contain the phase, level or iteration.
    """
    record = record_of(recorded)
    return Explanation(record, record.select(phase=phase, level=level, iteration=iteration))


def compare(first: Recorded, second: Recorded) -> Difference:
    """Explain where the second of two recorded runs takes more cycles, and why. Errors are those of `explain`."""
    return Difference(compare_records(record_of(first), record_of(second)))


def compare_groups(*recorded: Recorded, against: Iterable[Recorded] = ()) -> Groups:
    """Compare groups of recorded runs: machines, each on several graphs, seeds or sources.

    Parameters
    ----------
    *recorded : Record, Result, str or path
        Records, results of recorded runs, or record folders. Runs that differ in nothing but their inputs form a group.
    against : iterable of the same
        Runs that form the first group instead, whatever they are; all others are then the second.

    Raises
    ------
    ValueError
        None was given, or a run was not recorded.
    InputError
        A record cannot be read or has no result; the algorithms differ; two runs of a group have one input.
    """
    if not recorded:
        raise ValueError("a comparison needs a record")
    return Groups(groups_of_runs([record_of(each) for each in recorded], [record_of(each) for each in against]))


def report(path: str | PathLike[str], *recorded: Recorded) -> None:
    """Write the page of runs: one self-contained HTML file.

    Parameters
    ----------
    path : str or path
        The file.
    *recorded : Record, Result, str or path
        Records, results of recorded runs, or record folders; several are compared with the first one.

    Raises
    ------
    ValueError
        None was given, or a run was not recorded.
    InputError
        A record cannot be read, or the file cannot be written.
    """
    from cyscc.host.analysis.report.page import page

    if not recorded:
        raise ValueError("a report needs a record")
    check_suffix(str(path), Content.PAGE)
    text = page([record_of(each) for each in recorded])
    write_text(str(path), text)


def figures(*recorded: Recorded) -> "dict[str, go.Figure]":
    """Return the charts of the page of runs by title; with several runs, the title follows the run's name.

    Takes the runs of `report`, and raises its errors.
    """
    from cyscc.host.analysis.report.page import sections

    if not recorded:
        raise ValueError("charts need a record")
    made = sections([record_of(each) for each in recorded])
    several = len(recorded) > 1
    return {
        f"{section.run}: {chart.title}" if several and section.run else chart.title: chart.figure
        for section in made
        for chart in section.charts
    }


def write_figure(
    figure: "go.Figure", path: str | PathLike[str], *, title: str = "", option: str = "", width: int | None = None
) -> None:
    """Write a chart of `figures` as SVG, PNG or PDF, by the file's suffix.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The chart; it may have been changed.
    path : str or path
        The file.
    title : str
        Title above the chart.
    option : str
        Option of the chart's selector, such as a cause of a time-lapse; the first one by default.
    width : int, optional
        Width in pixels, of which an inch has 100; by default that of the chart's layout, else 1,000.

    Raises
    ------
    ValueError
        The chart has no such option, or is of another kind than those of `figures`.
    InputError
        The file cannot be written, or its suffix is of no format.
    """
    from cyscc.host.analysis.report.drawing import draw_chart
    from cyscc.host.output.figures import write_plot

    width = None if width is None else checked_number("width", width, low=1)
    write_plot(lambda: draw_chart(figure, title=str(title), option=option, width=width), str(path))


def replay(
    recorded: Recorded,
    at: str | int,
    path: str | PathLike[str] | None = None,
    *,
    cycles: int = 1000,
    before: int = 0,
    scopes: tuple[str, ...] = (),
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Window:
    """Replay a recorded run up to a point, and write waveforms from there, as ``cyscc replay`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder, also that of a failed run.
    at : str or int
        The point: a cycle, ``level=3``, or an event such as ``slot,engine=0,kernel=3,level=4`` or
        ``wait=slot,longer=60``.
    path : str or path, optional
        The waveforms, ``.fst`` or ``.vcd``; named after the record and the first cycle by default.
    cycles : int
        Cycles to show; fewer if the run ends earlier.
    before : int
        How many of these cycles lie before the point.
    scopes : tuple of str
        Globs that select signals by dotted path; all by default.
    graph : Graph, str or path, optional
        The graph, or its file; by default the result's graph, or the file that the run read.
    memory : Profile, str or path, optional
        The memory profile, or its file, of a run whose rules are in a file; that file is code.
    threads : int, optional
        Threads that the executor may use; all cores by default.
    progress : bool
        Show progress on standard error if it is a terminal.

    Returns
    -------
    Window
        The file, the cycle of the point, and the range of cycles shown.

    Raises
    ------
    ValueError
        The point is malformed, the run was not recorded, or the file has no suffix of waveforms.
    InputError
        The record, the graph or the file cannot be used; the point is not in the run.
    SimulationError
        The run failed before the point.
    """
    if path is not None and Path(path).suffix not in (".fst", ".vcd"):
        raise ValueError(f"waveforms end in .fst or .vcd: {path}")
    folder = record_of(recorded).folder if isinstance(recorded, Record | Result) else Path(recorded)
    wanted = WindowRequest(
        point=Point.of(at),
        cycles=checked_number("cycles", cycles, low=1),
        before=checked_number("before", before, low=0),
        path=None if path is None else Path(path),
        scopes=tuple(scopes),
    )
    return replay_window(folder, wanted, rerun_setting(recorded, graph, memory, threads, progress))
