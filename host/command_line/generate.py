"""`cyscc generate`: synthetic graphs, and a real one from the machine's own netlist."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.options import Parser, add_config, add_quiet, add_set, at_least, configuration, read_overrides
from host.progress import Progress, Step

if TYPE_CHECKING:
    from host.graph.csr import Graph

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc generate random --vertices 2^20 --degree 16 -o random.gr
  cyscc generate rmat --vertices 2^16 --degree 32 --seed 7 -o rmat.npz
  cyscc generate gnm --vertices 1e6 --edges 100000 -o sparse.npz
  cyscc generate netlist --config hc2 -o netlist.txt

OUT: .mtx, .gr, .npz, anything else a SNAP edge list; each also .gz
"""

_KINDS = {
    "random": "both ends of every edge uniform",
    "rmat": "recursive matrix (a = 0.45, b = 0.15, c = 0.15), a power of two of vertices",
    "ssca2": "cliques with edges between them",
    "gnm": "as many different edges as asked for, all sets of them alike",
}


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "generate",
        help="write a synthetic graph",
        description="Write a synthetic graph after GTgraph, or the signal-dependency graph of the machine itself.",
        epilog=_EPILOG,
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True, parser_class=Parser)
    for kind, text in _KINDS.items():
        synthetic = kinds.add_parser(kind, help=text, description=f"Write a {kind} graph: {text}.")
        synthetic.add_argument(
            "--vertices", required=True, type=at_least(1), metavar="N", help="number of vertices: 1000, 1e6, 2^20"
        )
        if kind == "gnm":
            synthetic.add_argument("--edges", required=True, type=at_least(0), metavar="M", help="number of edges")
        else:
            synthetic.add_argument(
                "--degree", required=True, type=at_least(0), metavar="D", help="average number of edges of a vertex"
            )
        synthetic.add_argument("--seed", default=0, type=at_least(0, 2**64 - 1), metavar="S", help="default: 0")
        _add_output(synthetic)
    text = "signal dependencies of the machine's own netlist"
    netlist = kinds.add_parser("netlist", help=text, description=f"Write the {text}.")
    add_config(netlist)
    add_set(netlist)
    _add_output(netlist)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    add_quiet(parser)
    parser.set_defaults(run=run)


def _generate(arguments: argparse.Namespace, step: Step) -> "Graph":
    if arguments.kind == "netlist":
        from host.graph.generators.netlist import netlist_graph

        return netlist_graph(configuration(arguments.config, read_overrides(arguments.overrides)))
    from host.graph.generators import gnm_graph, random_graph, rmat_graph, ssca2_graph

    if arguments.kind == "gnm":
        return gnm_graph(arguments.vertices, arguments.edges, arguments.seed, on_step=step)
    generators = {"random": random_graph, "rmat": rmat_graph, "ssca2": ssca2_graph}
    return generators[arguments.kind](arguments.vertices, arguments.degree, arguments.seed, on_step=step)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    """
    from host.graph.formats import write_graph
    from host.output import check_output, show
    from host.results.tables import graph_text

    check_output(arguments.output, "--output")
    progress = Progress(quiet=arguments.quiet)
    with progress.step("generating") as step:
        graph = _generate(arguments, step)
    with progress.step("writing") as step:
        write_graph(graph, Path(arguments.output), watch=step)
    if not arguments.quiet:
        show(graph_text(arguments.output, graph.vertices, graph.edges) + "\n")
