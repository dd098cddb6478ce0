"""`cyscc software`: the algorithms that the paper compares with, on this machine's own processor."""

import argparse
import os
import sys
import time
from typing import Any

from host.algorithms.components import component_sizes
from host.algorithms.reference import check_components
from host.command_line.options import at_least
from host.command_line.simulation import check_result
from host.graph.formats import read_graph
from host.results.documents import write_json
from host.results.output import STANDARD_OUTPUT, check_output

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
    parser.add_argument(
        "--threads",
        default=len(os.sched_getaffinity(0)),
        type=at_least(1, 1024),
        metavar="N",
        help="threads that hong may use (default: the cores, %(default)s)",
    )
    parser.add_argument("--json", metavar="OUT", help="write the result as JSON ('-': standard output)")
    parser.add_argument("--no-verify", action="store_true", help="do not check the result")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
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
    if arguments.json is not None:
        check_output(arguments.json, "--json")
    begin = time.perf_counter()
    graph = read_graph(arguments.graph)
    transpose = graph.transpose()
    load = time.perf_counter() - begin
    # Imported late: it takes as long as reading a small graph.
    from host.algorithms.software import run_software

    result = run_software(arguments.algorithm, graph, transpose, threads=arguments.threads)
    if not arguments.no_verify:
        check_result(check_components(result.labels, graph))
    sizes = component_sizes(result.labels)[1]
    document = {
        "algorithm": result.algorithm,
        "graph": {"file": arguments.graph, "vertices": graph.vertices, "edges": graph.edges},
        "threads": result.threads,
        "components": {"count": int(sizes.size), "largest": int(sizes.max())},
        "seconds": result.seconds,
        "verified": None if arguments.no_verify else True,
        "wall": {"load": load},
    }
    if arguments.json is not None:
        write_json(arguments.json, document)
    if not arguments.quiet and arguments.json != STANDARD_OUTPUT:
        threads = f"{result.threads} thread{'s' if result.threads != 1 else ''}"
        sys.stdout.write(
            f"graph       {arguments.graph}: {graph.vertices:,} vertices, {graph.edges:,} edges\n"
            f"algorithm   {result.algorithm}, {threads}\n"
            f"components  {sizes.size:,}, the largest of {sizes.max():,} vertices\n"
            f"time        {result.seconds * 1e3:.1f} ms\n"
            f"verified    {'not checked' if arguments.no_verify else 'yes'}\n"
        )
