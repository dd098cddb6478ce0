"""`cyscc software`: the algorithms that the paper compares with, on this machine's own processor."""

import argparse
import time
from typing import Any

from host.options import add_result_options, add_threads
from host.progress import Progress

__all__ = ["add_parser", "run"]

_NAMES = ("kosaraju", "tarjan", "hong")
_EPILOG = """examples:
  cyscc software tarjan wiki-Vote.txt.gz
  cyscc software hong graph.mtx --threads 2 --json result.json

kosaraju: two searches and an intersection per component, as the accelerator; one thread
tarjan:   one depth-first search; one thread
hong:     the basic parallel FW-BW-Trim of Hong et al. 2013
"""


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "software",
        help="find the components in software, for comparison",
        description="Find the strongly connected components of a graph by software on this machine's processor.",
        epilog=_EPILOG,
    )
    parser.add_argument("algorithm", metavar="ALGORITHM", choices=_NAMES, help="kosaraju, tarjan or hong")
    parser.add_argument("graph", metavar="GRAPH", help="the graph")
    add_threads(parser, "hong")
    add_result_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    InputError
        Bad input.
    SimulationError
        The result is wrong.
    """
    from host.algorithms.components import component_sizes
    from host.algorithms.reference import check_components
    from host.algorithms.software import run_software
    from host.graph.formats import read_graph
    from host.output import check_output
    from host.results.documents import publish
    from host.results.table_text import plain_table
    from host.results.tables import graph_text, largest_text
    from host.results.version import identity
    from host.running.session import check_result
    from host.words import counted
    from sim.notices import notice

    if arguments.json is not None:
        check_output(arguments.json, "--json")
    progress = Progress(quiet=arguments.quiet)
    begin = time.perf_counter()
    with progress.step("reading") as step:
        graph = read_graph(arguments.graph, watch=step, on_note=notice)
    with progress.step("transposing"):
        transpose = graph.transpose()
    load = time.perf_counter() - begin
    with progress.step(f"{arguments.algorithm}: compiling and running"):
        result = run_software(arguments.algorithm, graph, transpose, threads=arguments.threads)
    if not arguments.no_verify:
        with progress.step("verifying"):
            check_result(check_components(result.labels, graph))
    sizes = component_sizes(result.labels)[1]
    document = {
        **identity(),
        "algorithm": result.algorithm,
        "graph": {"file": arguments.graph, "vertices": graph.vertices, "edges": graph.edges},
        "threads": result.threads,
        "components": {"count": int(sizes.size), "largest": int(sizes.max())},
        "seconds": result.seconds,
        "verified": None if arguments.no_verify else True,
        "wall": {"load": load},
    }
    rows = [
        ("graph", graph_text(arguments.graph, graph.vertices, graph.edges)),
        ("algorithm", f"{result.algorithm}, {counted(result.threads, 'thread')}"),
        ("components", largest_text(sizes.size, int(sizes.max()))),
        ("time", f"{result.seconds * 1e3:.1f} ms"),
        ("verified", "not checked" if arguments.no_verify else "yes"),
    ]
    publish(document, plain_table(rows, words=2), path=arguments.json, quiet=arguments.quiet)
