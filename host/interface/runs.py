"""`scc` and `bfs`: runs on the simulated accelerator."""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from os import PathLike, fspath
from shlex import split
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Unpack

from cyscc.host.answer.answer import Chart
from cyscc.host.interface.given import FORMS
from cyscc.host.interface.notes import MaybeGraph, Wanted
from cyscc.host.output.errors import VertexError
from cyscc.host.output.files import check_apart, check_distinct, open_output
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, SpecError, question
from cyscc.host.specification.run import ComponentArguments, Option, RunSpec, SearchArguments, option_of, run_options
from cyscc.sim.notices import notice
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.runs.results import BfsResult, Result, SccResult

RunGraph: TypeAlias = Annotated[MaybeGraph, Ask(option_of("graph").help, "GRAPH")]

_GRAPHS = """
GRAPH: SNAP edge list, Matrix Market (.mtx), DIMACS or GTgraph (.gr), scipy sparse matrix (.npz); each also .gz
"""
_PARAMETERS = ("algorithm", "graph", "source")
"""Fields of `RunSpec` that are parameters of their own."""


def _options(algorithm: str) -> dict[str, Option]:
    return {name: option for name, option in run_options(algorithm).items() if name not in _PARAMETERS}


@question(
    options=_options("scc"),
    examples=_GRAPHS,
)
def scc(
    graph: RunGraph = None,
    *,
    name: str | None = None,
    progress: Wanted = False,
    **arguments: Unpack[ComponentArguments],
) -> "SccResult":
    """Find the strongly connected components of a graph on the simulated accelerator.

    They are checked.

    Parameters
    ----------
    graph : Graph, str or path, optional
        The graph, or its file; a resumed run has that of its checkpoint.
    name : str, optional
        Name of the graph in results; its file by default.
    progress : bool
        Show progress on standard error if it is a terminal.
    **arguments
        See `ComponentArguments`.

    Raises
    ------
    SpecError, TypeError
        The machine does not exist or has no intersection kernels, or an argument is invalid or unknown.
    InputError
        The graph, or an output, cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.

    Examples
    --------
    cyscc scc wiki-Vote.txt.gz
    cyscc scc graph.mtx --config hc2-1ae --memory fixed:75 --labels components.txt --json result.json
    cyscc scc graph.gr --checkpoint kept --checkpoint-every 5min
    cyscc scc --resume kept
    cyscc scc graph.gr --config test --executor amaranth --waves run.vcd --wave-window 0:2000
    """
    return _run("scc", graph, name, progress, arguments)  # type: ignore[return-value]  # components were found


@question(
    options=_options("bfs"),
    examples=_GRAPHS,
)
def bfs(
    graph: RunGraph = None,
    source: Annotated[int | None, option_of("source")] = None,
    *,
    name: str | None = None,
    progress: Wanted = False,
    **arguments: Unpack[SearchArguments],
) -> "BfsResult":
    """Search a graph breadth-first on the simulated accelerator.

    The levels are checked.

    Parameters
    ----------
    graph : Graph, str or path, optional
        The graph, or its file; a resumed run has that of its checkpoint.
    source : int, optional
        The vertex to start from, by its name in the graph's file; a resumed run has that of its checkpoint.
    name : str, optional
        Name of the graph in results; its file by default.
    progress : bool
        Show progress on standard error if it is a terminal.
    **arguments
        See `SearchArguments`.

    Raises
    ------
    SpecError, TypeError
        The machine does not exist, or an argument is invalid or unknown.
    InputError
        The graph, or an output, cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.

    Examples
    --------
    cyscc generate random --vertices 2^18 --degree 16 -o random.gr
    cyscc bfs random.gr --source 1
    cyscc bfs random.gr --source 1 --config published-1ae --memory fixed:75 --levels levels.txt --json result.json
    cyscc bfs random.gr --source 1 --roofline --roofline-plot roofline.svg
    """
    given = {"source": source, **arguments}
    return _run("bfs", graph, name, progress, given)  # type: ignore[return-value]  # a search was made


def _run(
    algorithm: str, graph: MaybeGraph, name: str | None, progress: Progress | bool, arguments: Mapping[str, Any]
) -> "Result":
    """Make a run. Its checkpoint is removed when the outputs of its result are written."""
    values = {each: value for each, value in arguments.items() if value is not None}
    lacking = [each for each, value in (("graph", graph), ("source", values.get("source"))) if value is None]
    lacking = [option_of(each).flag for each in lacking if each in run_options(algorithm)]
    if lacking and "resume" not in values:
        raise SpecError("", f"the following arguments are required: {', '.join(lacking)}")
    # Imported here because the import is slow.
    from cyscc.host.graph.csr import Graph
    from cyscc.host.graph.formats import read_graph
    from cyscc.host.replay.runs import performed
    from cyscc.host.runs.checkpoints.run import CheckpointedRun

    if isinstance(values.get("memory"), str | PathLike):
        values["memory"] = GivenText(fspath(values["memory"]))
    if graph is not None:
        values["graph"] = name or ("graph" if isinstance(graph, Graph) else fspath(graph))
    shown = Progress.of(progress)
    outputs = {option: path for path, option in shown.outputs.items()}
    with shown.until_written() as stack:
        run = stack.enter_context(closing(CheckpointedRun(algorithm, values, outputs=outputs, on_resumed=shown.tell)))
        shown.kept = partial(run.kept, split(shown.command))
        spec = run.spec
        files = {"the graph": spec.graph} if isinstance(graph, str | None) else {}
        check_distinct({**spec.outputs, **outputs}, read=files)
        check_apart(outputs, spec.folders)
        spec.checked()
        given = graph if isinstance(graph, Graph) else None
        if given is not None and spec.undirected:
            given = given.mirrored(lambda text: notice(f"{spec.graph}: {text}"))
        elif given is None and name is not None and graph is not None:
            given = read_graph(fspath(graph), undirected=spec.undirected, on_note=notice)  # type: ignore[arg-type]
        try:
            result = stack.enter_context(performed(spec, shown, graph=given, checkpointed=run))
        except VertexError as error:
            option, path = " (--source)" if shown.command else "", None if isinstance(graph, Graph) else spec.graph
            raise VertexError(f"{error.cause}{option}", path=path) from None
        _write_vertices(spec, result)
        if spec.roofline:
            _add_roofline(result, shown)
        return result


def _write_vertices(spec: RunSpec, result: "Result") -> None:
    """Write a line for each vertex with its component, or for each reached vertex with its level."""
    path = spec.labels or spec.levels
    if path is None:
        return
    import numpy as np

    from cyscc.host.graph.formats.writer import write_pairs
    from cyscc.host.runs.results import BfsResult, SccResult

    graph = result.graph
    if isinstance(result, SccResult):
        vertices, values = np.arange(graph.vertices, dtype=np.uint32), graph.original(result.labels)
    else:
        assert isinstance(result, BfsResult), "it was a search"
        vertices = np.flatnonzero(result.levels >= 0).astype(np.uint32)
        values = result.levels[vertices].astype(np.int64)
    with open_output(path) as file:
        write_pairs(file, graph.original(vertices), values)


def _add_roofline(result: "Result", progress: Progress) -> None:
    """Add the roofline of a recorded search to its result; plot it if a file is given."""
    from cyscc.host.analysis.roofline.analysis import Roofline, limit_rows, roofline_document
    from cyscc.host.analysis.roofline.limits import Bounds

    setting = result.setting
    spec = setting.spec
    assert result.record is not None, "the search was recorded"
    roofline = Roofline.of(result.record, Bounds(spec.configuration, spec.profile))
    table = FORMS.table("roofline", limit_rows(roofline, setting))

    def draw() -> Any:
        from cyscc.host.analysis.roofline.plot import roofline_figure

        return roofline_figure(roofline, setting)

    result.tables = {**result.tables, "roofline": table}
    result.charts = {"roofline": Chart(title="roofline", draw=draw)}
    result.fields = {"roofline": roofline_document(roofline, setting)}
    if spec.roofline_plot is not None:
        with progress.step("drawing"):
            result.plot(spec.roofline_plot)
