"""`cyscc bfs`: one breadth-first search."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from host.algorithms.reference import check_levels
from host.algorithms.search import breadth_first_search
from host.command_line.options import UsageError, add_machine_options, configuration, integer
from host.command_line.simulation import Simulation, check_result
from host.errors import InputError
from host.graph.memory_map import PlacedGraph
from host.results.documents import bfs_document, write_json
from host.results.labels import write_pairs
from host.results.tables import bfs_table

if TYPE_CHECKING:
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
    parser.add_argument("graph", metavar="GRAPH", help="the graph")
    parser.add_argument(
        "--source",
        required=True,
        type=lambda text: integer(text, low=0),
        metavar="ID",
        help="vertex to start from, as the graph's file names it",
    )
    parser.add_argument(
        "--levels", metavar="OUT", help="write a line 'vertex level' for each vertex reached ('-': standard output)"
    )
    parser.add_argument(
        "--roofline",
        action="store_true",
        help="say what ports, links, banks, ring and latency would have allowed, and what was reached",
    )
    parser.add_argument(
        "--roofline-plot", metavar="OUT.svg", help="draw that; implies --roofline ('-': standard output)"
    )
    add_machine_options(parser)
    parser.set_defaults(run=run)


def _wants_roofline(arguments: argparse.Namespace) -> bool:
    return arguments.roofline or arguments.roofline_plot is not None


def _recorder(arguments: argparse.Namespace, machine: "Machine", placed: PlacedGraph) -> "Recorder | None":
    """Return what listens to the machine for the roofline; None when none was asked for."""
    if not _wants_roofline(arguments):
        return None
    from host.studies.roofline.limits import Bounds
    from host.studies.roofline.recorder import Recorder

    bounds = Bounds.of(configuration(arguments.config), machine.memory.profile)
    return Recorder(machine, placed, bounds)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage or input.
    SimulationError
        The simulation failed or its result is wrong.
    """
    simulation = Simulation(arguments, {"--levels": arguments.levels, "--roofline-plot": arguments.roofline_plot})
    if _wants_roofline(arguments) and configuration(arguments.config).bfs_only:
        raise UsageError(f"--roofline reads the reach queue, and {arguments.config} keeps none")
    graph = simulation.read_graph()
    try:
        source = graph.index(arguments.source)
    except InputError as error:
        raise InputError(f"{error} (--source)", path=arguments.graph) from None
    progress = simulation.progress(graph.vertices, verb="reached", step="level")
    with simulation.machine(progress) as machine:
        with simulation.timed("load"):
            placed = PlacedGraph.place(machine, graph)
            graph = placed.graph
        recorder = _recorder(arguments, machine, placed)
        with simulation.timed("simulate"):
            search = breadth_first_search(
                machine if recorder is None else recorder,
                placed,
                source,
                slack=arguments.queue_slack,
                on_level=None if progress is None else progress.on_level,
            )
        statistics = machine.statistics()
        if simulation.verify:
            with simulation.timed("verify"):
                check_result(check_levels(search.levels, graph, source))
        setting = simulation.setting(graph, machine, uploaded_bytes=placed.size)
        wall = simulation.wall(machine)
    verified = True if simulation.verify else None
    if arguments.levels is not None:
        reached = np.flatnonzero(search.levels >= 0)
        write_pairs(arguments.levels, graph.original(reached), search.levels[reached].astype(np.int64))
    roofline = None
    if recorder is not None:
        from host.studies.roofline.analysis import Roofline

        roofline = Roofline.of(search, recorder.levels, graph=graph, bounds=recorder.bounds)
    if arguments.roofline_plot is not None and roofline is not None:
        from host.studies.roofline.plot import write_roofline_plot

        write_roofline_plot(arguments.roofline_plot, roofline, setting)
    if arguments.json is not None:
        document = bfs_document(search, setting, wall, graph=graph, verified=verified, statistics=statistics)
        if roofline is not None:
            from host.studies.roofline.report import roofline_document

            document["roofline"] = roofline_document(roofline, setting)
        write_json(arguments.json, document)
    if simulation.prints_table:
        sys.stdout.write(bfs_table(search, setting, wall, graph=graph, verified=verified))
        if roofline is not None:
            from host.studies.roofline.report import roofline_table

            sys.stdout.write("\n" + roofline_table(roofline, setting))
