"""The algorithms by name, and a run of one with its time."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from host.algorithms.components import canonical
from host.algorithms.names import KINDS
from host.algorithms.software.decomposition import Decomposition, Setting, unwatched
from host.algorithms.software.fbt import fbt
from host.algorithms.software.hong import hong
from host.algorithms.software.kosaraju import kosaraju
from host.algorithms.software.tarjan import tarjan
from host.algorithms.software.warming import small_graph
from host.graph.csr import Graph

__all__ = ["ALGORITHMS", "SoftwareRun", "run_software"]

_Algorithm = Callable[[Graph, Graph, Setting], Decomposition]

ALGORITHMS: dict[str, _Algorithm] = {
    "kosaraju": lambda graph, transpose, _: Decomposition(labels=kosaraju(graph, transpose)),
    "tarjan": lambda graph, _, __: Decomposition(labels=tarjan(graph)),
    "hong": lambda graph, transpose, setting: Decomposition(
        labels=hong(graph, transpose, threads=setting.device.threads)
    ),
    "fbt": fbt,
}
"""By name, each of `host.algorithms.names.KINDS`: takes a graph, its transpose, and how to run."""


@dataclass(frozen=True, kw_only=True)
class SoftwareRun:
    """A run of one algorithm.

    Parameters
    ----------
    algorithm : str
        Its name.
    device : str
        Name of the device.
    threads : int
        Threads of the processor that it used.
    labels : ndarray of uint32, shape (n,)
        For each vertex the smallest vertex of its component.
    counts : mapping
        What the algorithm counts of its work.
    seconds : float
        Time of the algorithm alone: the graph and its transpose are there, and everything is compiled.
    """

    algorithm: str
    device: str
    threads: int
    labels: NDArray[np.uint32]
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float


def run_software(algorithm: str, graph: Graph, transpose: Graph, setting: Setting) -> SoftwareRun:
    """Run an algorithm, after a run on a small graph that compiles what is not yet compiled.

    Parameters
    ----------
    algorithm : str
        A key of `ALGORITHMS`.
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs.
    """
    run = ALGORITHMS[algorithm]
    if setting.device.compiles:
        small = small_graph()
        run(small, small.transpose(), replace(setting, watch=unwatched))
    begin = time.perf_counter()
    found = run(graph, transpose, setting)
    seconds = time.perf_counter() - begin
    return SoftwareRun(
        algorithm=algorithm,
        device=setting.device.name,
        threads=setting.device.threads if KINDS[algorithm].threads else 1,
        labels=canonical(found.labels),
        counts=found.counts,
        seconds=seconds,
    )
