"""`cyscc generate`: synthetic graphs, and a real one from the machine's own netlist."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.host.graph.kinds import KINDS, generate_graph
from cyscc.host.output.progress import Progress, Step
from cyscc.host.specification.options import Parser, add_set, add_shared, at_least, configuration, read_overrides

if TYPE_CHECKING:
    from cyscc.host.graph.csr import Graph

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "write a synthetic graph",
    "description": "Write a synthetic graph after GTgraph, or the signal-dependency graph of the machine itself.",
    "epilog": """examples:
  cyscc generate random --vertices 2^20 --degree 16 -o random.gr
  cyscc generate rmat --vertices 2^16 --degree 32 --seed 7 -o rmat.npz
  cyscc generate gnm --vertices 1e6 --edges 100000 -o sparse.npz
  cyscc generate netlist --config hc2 -o netlist.txt

OUT: .mtx, .gr, .npz, anything else a SNAP edge list; each also .gz
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True, parser_class=Parser)
    for name, kind in KINDS.items():
        synthetic = kinds.add_parser(
            name, help=kind.text, description=f"Write a graph of the kind {name}: {kind.text}."
        )
        for option, size in kind.sizes.items():
            synthetic.add_argument(
                f"--{option}",
                required=size.default is None,
                default=size.default,
                type=at_least(size.least, size.most),
                metavar=size.letter,
                help=size.text if size.default is None else f"{size.text} (default: %(default)s)",
            )
        _add_output(synthetic)
    text = "cells of the machine's own netlist, and the connections between them"
    netlist = kinds.add_parser("netlist", help=text, description=f"Write the {text}.")
    add_shared(netlist, "--config")
    add_set(netlist)
    _add_output(netlist)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    add_shared(parser, "--quiet")


def _generate(arguments: argparse.Namespace, step: Step) -> "Graph":
    if arguments.kind == "netlist":
        from cyscc.host.graph.generators import netlist_graph

        return netlist_graph(configuration(arguments.config, read_overrides(arguments.overrides)))
    sizes = {name: getattr(arguments, name) for name in KINDS[arguments.kind].sizes}
    return generate_graph(arguments.kind, on_step=step, **sizes)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    """
    from cyscc.host.graph.formats import write_graph
    from cyscc.host.output.files import Content, check_output, show
    from cyscc.host.output.text import graph_text

    check_output(arguments.output, "--output", Content.GRAPH)
    progress = Progress(quiet=arguments.quiet)
    with progress.step("generating") as step:
        graph = _generate(arguments, step)
    with progress.step("writing") as step:
        write_graph(graph, Path(arguments.output), watch=step)
    if not arguments.quiet:
        show(graph_text(arguments.output, graph.vertices, graph.edges) + "\n")
