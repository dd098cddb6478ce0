"""`cyscc scc`: strongly connected components."""

import argparse
from contextlib import closing
from typing import TYPE_CHECKING, Any

from host.options import UsageError, add_checkpoint_options, add_machine_options, add_record_options, check_required

if TYPE_CHECKING:
    from host.command_line.keeping import Keeping
    from host.command_line.recording import Recordings

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc scc wiki-Vote.txt.gz
  cyscc scc graph.mtx --config hc2-1ae --memory fixed:75 --labels components.txt --json result.json
  cyscc scc graph.gr --checkpoint kept --checkpoint-every 5min
  cyscc scc --resume kept
  cyscc scc graph.gr --config test --executor amaranth --waves run.vcd --wave-window 0:2000

GRAPH: SNAP edge list, Matrix Market (.mtx), DIMACS or GTgraph (.gr), scipy sparse matrix (.npz); each also .gz
"""


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "scc",
        help="find the strongly connected components of a graph on the simulated accelerator",
        description="Find the strongly connected components of a graph on the simulated accelerator, and check them.",
        epilog=_EPILOG,
    )
    parser.add_argument("graph", metavar="GRAPH", nargs="?", help="the graph")
    parser.add_argument(
        "--labels", metavar="OUT", help="write a line 'vertex component' for each vertex ('-': standard output)"
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
    check_required(arguments, graph="GRAPH")
    from host.command_line.keeping import Keeping
    from host.command_line.recording import Recordings

    with closing(Keeping(arguments, "scc")) as keeping, closing(Recordings(arguments, "scc")) as recordings:
        _run(arguments, keeping, recordings)


def _run(arguments: argparse.Namespace, keeping: "Keeping", recordings: "Recordings") -> None:
    import numpy as np

    from host.algorithms.components import canonical, component_sizes
    from host.algorithms.kosaraju import strong_components
    from host.algorithms.reference import check_components
    from host.command_line.simulation import Simulation
    from host.graph.formats.writer import write_pairs
    from host.graph.memory_map import PlacedGraph
    from host.graph.trim import trim
    from host.output import open_output
    from host.results.documents import scc_document
    from host.results.tables import scc_table

    simulation = Simulation(arguments, {"--labels": arguments.labels})
    if simulation.config.bfs_only:
        raise UsageError(f"--config: {arguments.config} only searches: it keeps no reach queue to intersect")
    read = simulation.read_graph(directions=2)
    with simulation.machine() as machine:
        with simulation.phase("load", "transposing, trimming and placing"):
            graph = read.simplified() if arguments.simplify else read
            dropped = read.edges - graph.edges
            transpose = graph.transpose()
            trimmed = trim(graph, transpose)
            forward = PlacedGraph.place(machine, graph)
            backward = PlacedGraph.place(machine, transpose, name="transpose")
            graph, transpose = forward.graph, backward.graph
            if not dropped or arguments.no_verify:
                read = graph
        keeper = keeping.keeper(simulation, machine, (forward, backward))
        observer = recordings.begin(machine, keeper)
        with simulation.simulating(machine, graph.vertices, "iteration") as advance:
            components = strong_components(
                machine,
                forward,
                backward,
                trimmed,
                slack=arguments.queue_slack,
                on_iteration=advance.on_iteration,
                keeper=keeper,
                observer=observer,
            )
        statistics = machine.statistics()
        with simulation.phase("record", "recording"):
            recordings.finish()
        labels = canonical(components.colours)
        checked = simulation.verified(machine, (forward, backward), "scipy", lambda: check_components(labels, read))
        uploaded = forward.size + backward.size
        setting = simulation.setting(graph, machine, uploaded_bytes=uploaded, dropped_edges=dropped)
        wall = simulation.wall(machine, before=keeping.seconds)
    largest = int(component_sizes(labels)[1].max())
    if arguments.labels is not None:
        with open_output(arguments.labels) as file:
            write_pairs(file, graph.original(np.arange(graph.vertices, dtype=np.uint32)), graph.original(labels))
    document = scc_document(
        components, setting, wall, graph=graph, largest=largest, checked=checked, statistics=statistics
    )
    recordings.complete(machine, graph, document)
    simulation.publish(document, scc_table(components, setting, wall, largest=largest, checked=checked))
    keeping.done()
