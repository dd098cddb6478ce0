"""`cyscc bfs`: one breadth-first search."""

import argparse
import sys
from typing import Any

import numpy as np

from host.bfs import breadth_first_search
from host.commands.options import add_machine_options, integer
from host.commands.simulation import Simulation, check_result
from host.errors import InputError
from host.labels import write_pairs
from host.memory_map import PlacedGraph
from host.reference import check_levels
from host.result import bfs_document, write_json
from host.table import bfs_table

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc generate random --vertices 2^18 --degree 16 -o random.gr
  cyscc bfs random.gr --source 1
  cyscc bfs random.gr --source 1 --config published-1ae --memory fixed:75 --levels levels.txt --json result.json

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
    add_machine_options(parser)
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
    simulation = Simulation(arguments, {"--levels": arguments.levels})
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
        with simulation.timed("simulate"):
            search = breadth_first_search(
                machine,
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
    if arguments.json is not None:
        document = bfs_document(search, setting, wall, graph=graph, verified=verified, statistics=statistics)
        write_json(arguments.json, document)
    if simulation.prints_table:
        sys.stdout.write(bfs_table(search, setting, wall, graph=graph, verified=verified))
