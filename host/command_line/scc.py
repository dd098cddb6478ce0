"""`cyscc scc`: strongly connected components."""

import argparse
from contextlib import closing
from typing import TYPE_CHECKING, Any

from host.options import add_checkpoint_options, add_machine_options, add_record_options, check_required, usable

if TYPE_CHECKING:
    from host.command_line.keeping import Keeping

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

    with closing(Keeping(arguments, "scc")) as keeping:
        _run(arguments, keeping)


def _run(arguments: argparse.Namespace, keeping: "Keeping") -> None:
    import numpy as np

    from host.command_line.recording import opened_recording
    from host.command_line.simulation import Simulation
    from host.graph.formats.writer import write_pairs
    from host.output import open_output
    from host.runs.scc import run_scc

    simulation = Simulation(arguments, {"--labels": arguments.labels})
    session = simulation.session
    with usable("--config", arguments.config):
        name = session.options.changes.config_text(arguments.config)
        session.options.config.require("finds_components", name=name)
    with opened_recording(arguments, "scc", session, keeping) as recording:
        result = run_scc(
            session,
            keep=lambda machine, graphs: keeping.keeper(session, machine, graphs),
            recording=recording,
            seconds=keeping.seconds,
        )
    graph = result.graph
    if arguments.labels is not None:
        with open_output(arguments.labels) as file:
            every = np.arange(graph.vertices, dtype=np.uint32)
            write_pairs(file, graph.original(every), graph.original(result.labels))
    simulation.publish(result.document, str(result))
    keeping.done()
