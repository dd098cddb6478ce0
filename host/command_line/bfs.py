"""`cyscc bfs`: one breadth-first search."""

import argparse
from contextlib import closing
from typing import TYPE_CHECKING, Any

from host.errors import InputError
from host.options import (
    UsageError,
    add_checkpoint_options,
    add_machine_options,
    add_record_options,
    at_least,
    check_required,
)

if TYPE_CHECKING:
    from host.command_line.keeping import Keeping
    from host.command_line.recording import Recordings

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
    from host.command_line.recording import Recordings

    with closing(Keeping(arguments, "bfs")) as keeping, closing(Recordings(arguments, "bfs")) as recordings:
        _run(arguments, keeping, recordings)


def _run(arguments: argparse.Namespace, keeping: "Keeping", recordings: "Recordings") -> None:
    import numpy as np

    from host.algorithms.reference import check_levels
    from host.algorithms.search import breadth_first_search
    from host.command_line.simulation import Simulation
    from host.graph.formats.writer import write_pairs
    from host.graph.memory_map import PlacedGraph
    from host.output import figure_format, open_output
    from host.results.documents import bfs_document
    from host.results.tables import bfs_table

    if arguments.roofline_plot is not None:
        figure_format(arguments.roofline_plot)
    simulation = Simulation(arguments, {"--levels": arguments.levels, "--roofline-plot": arguments.roofline_plot})
    if arguments.roofline and simulation.config.bfs_only:
        raise UsageError(f"--roofline reads the reach queue, and {arguments.config} keeps none")
    if arguments.roofline and simulation.config.remembered_ids:
        raise UsageError(f"--roofline counts two reads an edge, and {arguments.config} drops copies (remembered_ids)")
    read = simulation.read_graph(directions=1)
    try:
        source = read.index(arguments.source)
    except InputError as error:
        raise InputError(f"{error} (--source)", path=arguments.graph) from None
    with simulation.machine() as machine:
        with simulation.phase("load", "placing"):
            placed = PlacedGraph.place(machine, read.simplified() if arguments.simplify else read)
            graph = placed.graph
            dropped = read.edges - graph.edges
            if not dropped or arguments.no_verify:
                read = graph
        keeper = keeping.keeper(simulation, machine, (placed,))
        recorder = None
        if arguments.roofline:
            from host.studies.roofline.limits import Bounds
            from host.studies.roofline.recorder import Recorder

            recorder = Recorder(machine, placed, Bounds.of(simulation.config, simulation.memory), keeper=keeper)
        observer = recordings.begin(machine, keeper)
        with simulation.simulating(machine, graph.vertices, "level") as advance:
            search = breadth_first_search(
                machine if recorder is None else recorder,
                placed,
                source,
                slack=arguments.queue_slack,
                on_level=advance.on_level,
                keeper=keeper,
                observer=observer,
            )
        statistics = machine.statistics()
        with simulation.phase("record", "recording"):
            recordings.finish()
        reference = "sequential search"
        checked = simulation.verified(machine, (placed,), reference, lambda: check_levels(search.levels, read, source))
        setting = simulation.setting(graph, machine, uploaded_bytes=placed.size, dropped_edges=dropped)
        wall = simulation.wall(machine, before=keeping.seconds)
    if arguments.levels is not None:
        reached = np.flatnonzero(search.levels >= 0)
        with open_output(arguments.levels) as file:
            write_pairs(file, graph.original(reached), search.levels[reached].astype(np.int64))
    document = bfs_document(search, setting, wall, graph=graph, checked=checked, statistics=statistics)
    recordings.complete(machine, graph, document)
    table = bfs_table(search, setting, wall, graph=graph, checked=checked)
    if recorder is not None:
        from host.studies.roofline.analysis import Roofline
        from host.studies.roofline.report import roofline_document, roofline_table

        roofline = Roofline.of(search, recorder.levels, graph=graph, bounds=recorder.bounds)
        document["roofline"] = roofline_document(roofline, setting)
        table += "\n" + roofline_table(roofline, setting)
        if arguments.roofline_plot is not None:
            from host.studies.roofline.plot import write_roofline_plot

            with simulation.progress.step("drawing"):
                write_roofline_plot(arguments.roofline_plot, roofline, setting)
    simulation.publish(document, table)
    keeping.done()
