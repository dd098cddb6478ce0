"""`cyscc bfs`: one breadth-first search."""

import argparse
from contextlib import closing
from typing import TYPE_CHECKING, Any

from host.errors import InputError
from host.options import (
    add_checkpoint_options,
    add_machine_options,
    add_record_options,
    at_least,
    check_required,
    usable,
)

if TYPE_CHECKING:
    from host.checkpoints.checkpoints import Checkpoints
    from host.command_line.keeping import Keeping
    from host.graph.csr import Graph
    from host.graph.memory_map import PlacedGraph
    from host.progress import Progress
    from host.runs.results import BfsResult
    from host.runs.session import RunOptions
    from host.studies.roofline.recorder import Recorder
    from sim.machine import Machine

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc generate random --vertices 2^18 --degree 16 -o random.gr
  cyscc bfs random.gr --source 1
  cyscc bfs random.gr --source 1 --config published-1ae --memory fixed:75 --levels levels.txt --json result.json
  cyscc bfs random.gr --source 1 --roofline --roofline-plot roofline.svg

GRAPH: SNAP edge list, Matrix Market (.mtx), DIMACS or GTgraph (.gr), scipy sparse matrix (.npz); each also .gz
"""


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bfs",
        help="search a graph breadth-first on the simulated accelerator",
        description="Search a graph breadth-first on the simulated accelerator, and check the levels.",
        epilog=_EPILOG,
    )
    parser.add_argument("graph", metavar="GRAPH", nargs="?", help="the graph")
    parser.add_argument(
        "--source",
        type=at_least(0),
        metavar="ID",
        help="vertex to start from, as the graph's file names it",
    )
    parser.add_argument(
        "--levels", metavar="OUT", help="write a line 'vertex level' for each vertex reached ('-': standard output)"
    )
    parser.add_argument(
        "--roofline",
        action="store_true",
        default=None,
        help="say what ports, links, banks, ring and latency would have allowed, and what was reached",
    )
    parser.add_argument(
        "--roofline-plot",
        metavar="OUT.svg",
        help="draw that, as .svg, .png or .pdf; implies --roofline ('-': SVG to standard output)",
    )
    add_machine_options(parser)
    add_checkpoint_options(parser)
    add_record_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage or input.
    SimulationError
        The simulation failed or its result is wrong.
    """
    check_required(arguments, graph="GRAPH", source="--source")
    if arguments.roofline_plot is not None:
        arguments.roofline = True
    from host.command_line.keeping import Keeping

    with closing(Keeping(arguments, "bfs")) as keeping:
        _run(arguments, keeping)


def _run(arguments: argparse.Namespace, keeping: "Keeping") -> None:
    import numpy as np

    from host.command_line.recording import opened_recording
    from host.command_line.simulation import Simulation
    from host.graph.formats.writer import write_pairs
    from host.output import figure_format, open_output
    from host.runs.bfs import run_bfs

    if arguments.roofline_plot is not None:
        figure_format(arguments.roofline_plot)
    simulation = Simulation(arguments, {"--levels": arguments.levels, "--roofline-plot": arguments.roofline_plot})
    session = simulation.session
    roofline = _Roofline(arguments, session.options) if arguments.roofline else None
    with opened_recording(arguments, "bfs", session, keeping) as recording:
        result = run_bfs(
            session,
            lambda graph: _source(arguments, graph),
            keep=lambda machine, graphs: keeping.keeper(session, machine, graphs),
            recording=recording,
            watch=None if roofline is None else roofline.watch,
            seconds=keeping.seconds,
        )
    if arguments.levels is not None:
        reached = np.flatnonzero(result.levels >= 0)
        with open_output(arguments.levels) as file:
            write_pairs(file, result.graph.original(reached), result.levels[reached].astype(np.int64))
    document, table = result.document, str(result)
    if roofline is not None:
        of, text = roofline.of(result, session.progress)
        document, table = {**document, "roofline": of}, f"{table}\n{text}"
    simulation.publish(document, table)
    keeping.done()


def _source(arguments: argparse.Namespace, graph: "Graph") -> int:
    """Return the vertex to start from.

    Raises
    ------
    InputError
        The graph has no such vertex.
    """
    try:
        return graph.index(arguments.source)
    except InputError as error:
        raise InputError(f"{error} (--source)", path=arguments.graph) from None


class _Roofline:
    """The roofline of a search: watched while it goes on, told and drawn at its end.

    Raises
    ------
    UsageError
        The machine has none.
    """

    def __init__(self, arguments: argparse.Namespace, options: "RunOptions") -> None:
        name = options.changes.config_text(options.config_name)
        with usable("--roofline", options.config_name):
            options.config.require("keeps_reach_queue", "reads_every_word", name=name)
        self._plot = arguments.roofline_plot
        self._options = options
        self._recorder: Recorder | None = None

    def watch(self, machine: "Machine", placed: "PlacedGraph", keeper: "Checkpoints | None") -> "Recorder":
        """Return what is driven in the place of the machine."""
        from host.studies.roofline.limits import Bounds
        from host.studies.roofline.recorder import Recorder

        bounds = Bounds.of(self._options.config, self._options.memory)
        self._recorder = Recorder(machine, placed, bounds, keeper=keeper)
        return self._recorder

    def of(self, result: "BfsResult", progress: "Progress") -> tuple[dict[str, Any], str]:
        """Return the roofline as a document and as a table; draw it where that is asked for."""
        from host.studies.roofline.analysis import Roofline
        from host.studies.roofline.report import roofline_document, roofline_table

        recorder, setting = self._recorder, result.setting
        assert recorder is not None, "the search was watched"
        roofline = Roofline.of(result.run, recorder.levels, graph=result.graph, bounds=recorder.bounds)
        if self._plot is not None:
            from host.studies.roofline.plot import write_roofline_plot

            with progress.step("drawing"):
                write_roofline_plot(self._plot, roofline, setting)
        return roofline_document(roofline, setting), roofline_table(roofline, setting)
