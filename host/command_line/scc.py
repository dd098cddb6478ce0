"""`cyscc scc`: strongly connected components."""

import argparse
from typing import Any

from host.command_line.simulation import add_simulation, simulated

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc scc wiki-Vote.txt.gz
  cyscc scc graph.mtx --config hc2-1ae --memory fixed:75 --labels components.txt --json result.json
  cyscc scc graph.gr --checkpoint kept --checkpoint-every 5min
  cyscc scc --resume kept
  cyscc scc graph.gr --config test --executor amaranth --waves run.vcd --wave-window 0:2000

GRAPH: SNAP edge list, Matrix Market (.mtx), DIMACS or GTgraph (.gr), scipy sparse matrix (.npz); each also .gz
"""


_OUTPUTS = {
    "graph": {
        "--labels": {
            "metavar": "OUT",
            "help": "write a line 'vertex component' for each vertex ('-': standard output)",
        }
    }
}


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    add_simulation(
        commands,
        "scc",
        _OUTPUTS,
        run,
        help="find the strongly connected components of a graph on the simulated accelerator",
        description="Find the strongly connected components of a graph on the simulated accelerator, and check them.",
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
    with simulated(arguments, "scc", {"--labels": arguments.labels}) as (result, publish):
        if arguments.labels is not None:
            import numpy as np

            from host.graph.formats.writer import write_pairs
            from host.output import open_output

            graph = result.graph
            with open_output(arguments.labels) as file:
                every = np.arange(graph.vertices, dtype=np.uint32)
                write_pairs(file, graph.original(every), graph.original(result.labels))
        publish(result.document, str(result))
