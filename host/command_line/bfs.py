"""`cyscc bfs`: one breadth-first search."""

import argparse
from typing import TYPE_CHECKING, Any

from host.command_line.simulation import add_simulation, simulated

if TYPE_CHECKING:
    from host.runs.results import BfsResult

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc generate random --vertices 2^18 --degree 16 -o random.gr
  cyscc bfs random.gr --source 1
  cyscc bfs random.gr --source 1 --config published-1ae --memory fixed:75 --levels levels.txt --json result.json
  cyscc bfs random.gr --source 1 --roofline --roofline-plot roofline.svg

GRAPH: SNAP edge list, Matrix Market (.mtx), DIMACS or GTgraph (.gr), scipy sparse matrix (.npz); each also .gz
"""


_OUTPUTS = {
    "source": {
        "--levels": {
            "metavar": "OUT",
            "help": "write a line 'vertex level' for each vertex reached ('-': standard output)",
        }
    },
    "roofline": {
        "--roofline-plot": {
            "metavar": "OUT.svg",
            "help": "draw that, as .svg, .png or .pdf; implies --roofline ('-': SVG to standard output)",
        }
    },
}


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    add_simulation(
        commands,
        "bfs",
        _OUTPUTS,
        run,
        help="search a graph breadth-first on the simulated accelerator",
        description="Search a graph breadth-first on the simulated accelerator, and check the levels.",
        epilog=_EPILOG,
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage or input.
    SimulationError
        The simulation failed or its result is wrong.
    """
    from host.output import figure_format, open_output

    plot = arguments.roofline_plot
    values = {}
    if plot is not None:
        figure_format(plot)
        values["roofline"] = True
    outputs = {"--levels": arguments.levels, "--roofline-plot": plot}
    with simulated(arguments, "bfs", outputs, **values) as (result, publish):
        import numpy as np

        from host.graph.formats.writer import write_pairs

        if arguments.levels is not None:
            reached = np.flatnonzero(result.levels >= 0)
            with open_output(arguments.levels) as file:
                write_pairs(file, result.graph.original(reached), result.levels[reached].astype(np.int64))
        document, table = result.document, str(result)
        if result.setting.spec.roofline:
            of, text = _roofline(result, plot, quiet=arguments.quiet)
            document, table = {**document, "roofline": of}, f"{table}\n{text}"
        publish(document, table)


def _roofline(result: "BfsResult", plot: str | None, *, quiet: bool) -> tuple[dict[str, Any], str]:
    """Return the roofline of a recorded search as a document and as a table; draw it where that is asked for."""
    from host.analysis.roofline.analysis import Roofline, roofline_document, roofline_table
    from host.analysis.roofline.limits import Bounds

    assert result.record is not None, "the search was recorded"
    spec = result.setting.spec
    roofline = Roofline.of(result.record, Bounds.of(spec.configuration, spec.profile))
    if plot is not None:
        from host.analysis.roofline.plot import write_roofline_plot
        from host.progress import Progress

        with Progress(quiet=quiet).step("drawing"):
            write_roofline_plot(plot, roofline, result.setting)
    return roofline_document(roofline, result.setting), roofline_table(roofline, result.setting)
