"""`cyscc scc` and `cyscc bfs`: runs on the simulated accelerator, and output of their results."""

import argparse
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from cyscc.host.output.files import STANDARD_OUTPUT, check_apart, open_output, output_result
from cyscc.host.specification.options import add_run_options, add_shared, as_usage, check_outputs, given_options
from cyscc.host.specification.run import run_options

if TYPE_CHECKING:
    from cyscc.host.runs.results import Result

__all__ = ["TEXTS", "add_options", "run"]

_GRAPHS = """
GRAPH: SNAP edge list, Matrix Market (.mtx), DIMACS or GTgraph (.gr), scipy sparse matrix (.npz); each also .gz
"""
TEXTS = {
    "scc": {
        "help": "find the strongly connected components of a graph on the simulated accelerator",
        "description": "Find the strongly connected components of a graph on the simulated accelerator, "
        "and check them.",
        "epilog": f"""examples:
  cyscc scc wiki-Vote.txt.gz
  cyscc scc graph.mtx --config hc2-1ae --memory fixed:75 --labels components.txt --json result.json
  cyscc scc graph.gr --checkpoint kept --checkpoint-every 5min
  cyscc scc --resume kept
  cyscc scc graph.gr --config test --executor amaranth --waves run.vcd --wave-window 0:2000
{_GRAPHS}""",
    },
    "bfs": {
        "help": "search a graph breadth-first on the simulated accelerator",
        "description": "Search a graph breadth-first on the simulated accelerator, and check the levels.",
        "epilog": f"""examples:
  cyscc generate random --vertices 2^18 --degree 16 -o random.gr
  cyscc bfs random.gr --source 1
  cyscc bfs random.gr --source 1 --config published-1ae --memory fixed:75 --levels levels.txt --json result.json
  cyscc bfs random.gr --source 1 --roofline --roofline-plot roofline.svg
{_GRAPHS}""",
    },
}
"""Help of each command, by the name of its algorithm."""

_OUTPUTS = {
    ("scc", "graph"): ("--labels", "OUT", "write a line 'vertex component' for each vertex ('-': standard output)"),
    ("bfs", "source"): (
        "--levels",
        "OUT",
        "write a line 'vertex level' for each vertex reached ('-': standard output)",
    ),
    ("bfs", "roofline"): (
        "--roofline-plot",
        "OUT.svg",
        "draw that, as .svg, .png or .pdf; implies --roofline ('-': SVG to standard output)",
    ),
}
"""Output options, by command and by the field of `RunSpec` that precedes them in the help."""
_COMMON = {"threads": "--json", "verify": "--quiet"}
"""Options of all commands, by the field of `RunSpec` that precedes them in the help."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the parser's command."""
    algorithm = parser.prog.split()[-1]
    for name in run_options(algorithm):
        if name != "algorithm":
            add_run_options(parser, name)
        if (algorithm, name) in _OUTPUTS:
            flag, metavar, text = _OUTPUTS[algorithm, name]
            parser.add_argument(flag, metavar=metavar, help=text)
        if name in _COMMON:
            add_shared(parser, _COMMON[name])


def run(arguments: argparse.Namespace) -> None:
    """Run the command; remove the run's checkpoint after the outputs are written.

    Raises
    ------
    UsageError, InputError
        Invalid options, outputs that cannot be written, input that cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    search, plot = arguments.command == "bfs", getattr(arguments, "roofline_plot", None)
    vertices = arguments.levels if search else arguments.labels
    own = {"--levels": vertices, "--roofline-plot": plot} if search else {"--labels": vertices}
    if plot is not None:
        arguments.roofline = True
    given = given_options(arguments, required=("graph", "source") if search else ("graph",))
    outputs = {**own, "--json": arguments.json, **{f"--{name}": given.get(name) for name in ("waves", "trace", "live")}}
    # Imported here because the import is slow.
    from cyscc.host.output.errors import InputError, VertexError
    from cyscc.host.output.progress import Progress
    from cyscc.host.replay.runs import performed
    from cyscc.host.runs.checkpoints.run import CheckpointedRun
    from cyscc.sim.notices import notice

    with as_usage():
        on_resumed = None if arguments.quiet else notice
        checkpointed = CheckpointedRun(arguments.command, given, outputs=outputs, on_resumed=on_resumed)
    arguments.kept = partial(checkpointed.kept, arguments.words)
    with closing(checkpointed):
        spec = checkpointed.spec
        check_outputs(outputs, others={"the graph": spec.graph})
        check_apart(outputs, spec.folders)
        with as_usage():
            spec.checked()
        try:
            with performed(spec, Progress(quiet=arguments.quiet), checkpointed=checkpointed) as result:
                if vertices is not None:
                    _write_vertices(vertices, result)
                document, table = result.document, str(result)
                if spec.roofline:
                    of, text = _roofline(result, plot, quiet=arguments.quiet)
                    document, table = {**document, "roofline": of}, f"{table}\n{text}"
                quiet = arguments.quiet or STANDARD_OUTPUT in outputs.values()
                output_result(document, table, path=arguments.json, quiet=quiet)
        except VertexError as error:
            raise InputError(f"{error} (--source)", path=spec.graph) from None


def _write_vertices(path: str, result: "Result") -> None:
    """Write a line for each vertex with its component, or for each reached vertex with its level."""
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


def _roofline(result: "Result", plot: str | None, *, quiet: bool) -> tuple[dict[str, Any], str]:
    """Return the roofline of a recorded search as a document and as a table; plot it if a file is given."""
    from cyscc.host.analysis.roofline.analysis import Roofline, roofline_document, roofline_table
    from cyscc.host.analysis.roofline.limits import Bounds

    assert result.record is not None, "the search was recorded"
    spec = result.setting.spec
    roofline = Roofline.of(result.record, Bounds(spec.configuration, spec.profile))
    if plot is not None:
        from cyscc.host.analysis.roofline.plot import roofline_figure
        from cyscc.host.output.figures import write_plot
        from cyscc.host.output.progress import Progress

        with Progress(quiet=quiet).step("drawing"):
            write_plot(lambda: roofline_figure(roofline, result.setting), plot)
    return roofline_document(roofline, result.setting), roofline_table(roofline, result.setting)
