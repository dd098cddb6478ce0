"""The algorithms by name, and a run of one with its time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from host.algorithms.components import canonical
from host.algorithms.software.hong import hong
from host.algorithms.software.kosaraju import kosaraju
from host.algorithms.software.tarjan import tarjan
from host.graph.csr import Graph

__all__ = ["ALGORITHMS", "SoftwareRun", "run_software"]

_Algorithm = Callable[[Graph, Graph, int], NDArray[np.int64]]

ALGORITHMS: dict[str, _Algorithm] = {
    "kosaraju": lambda graph, transpose, _: kosaraju(graph, transpose),
    "tarjan": lambda graph, _, __: tarjan(graph),
    "hong": lambda graph, transpose, threads: hong(graph, transpose, threads=threads),
}
"""By name: takes graph, transpose and threads, returns labels. Only ``hong`` uses more than one thread."""


@dataclass(frozen=True, kw_only=True)
class SoftwareRun:
    """A run of one algorithm.

    Parameters
    ----------
    algorithm : str
        Its name.
    threads : int
        Threads that it used.
    labels : ndarray of uint32, shape (n,)
        For each vertex the smallest vertex of its component.
    seconds : float
        Time of the algorithm alone: the graph and its transpose are there, and everything is compiled.
    """

    algorithm: str
    threads: int
    labels: NDArray[np.uint32]
    seconds: float


def run_software(algorithm: str, graph: Graph, transpose: Graph, *, threads: int) -> SoftwareRun:
    """Run an algorithm, after a run on a graph of two vertices that compiles what is not yet compiled.

    Parameters
    ----------
    algorithm : str
        A key of `ALGORITHMS`.
    graph, transpose : Graph
        The graph and its transpose.
    threads : int
        Threads that it may use.
    """
    run = ALGORITHMS[algorithm]
    if algorithm != "hong":
        threads = 1
    ends = np.array([0, 1], np.uint32)
    small = Graph.from_edges(2, ends, ends[::-1].copy())
    run(small, small.transpose(), threads)
    begin = time.perf_counter()
    labels = run(graph, transpose, threads)
    seconds = time.perf_counter() - begin
    return SoftwareRun(algorithm=algorithm, threads=threads, labels=canonical(labels), seconds=seconds)
