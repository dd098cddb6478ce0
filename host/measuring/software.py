"""Software timed on this processor or a graphics processor: the quickest of some runs."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from host.algorithms.components import canonical
from host.algorithms.reference import check_components
from host.algorithms.software import Setting, SoftwareRun, run_software
from host.algorithms.software.decomposition import small_graph
from host.algorithms.software.kosaraju import KosarajuPhases, kosaraju_phases
from host.devices import open_device
from host.graph.csr import Graph
from host.measuring.graphs import GraphSpec, ModelSpec
from host.measuring.requests import Measured, Request
from host.measuring.setting import processor_name
from host.sources import sources_digest
from host.words import place
from sim.errors import SimulationError

__all__ = ["BEST_OF", "LONG", "GivenUpError", "SoftwareRequest", "quickest"]

BEST_OF = 3
"""Runs of software, of which the best counts."""

LONG = 60.0
"""Seconds of runs after which there is no further one."""


class GivenUpError(Exception):
    """The time of an algorithm is over."""


class _Timed(Protocol):
    @property
    def seconds(self) -> float: ...


_Run = TypeVar("_Run", bound=_Timed)


def quickest(run: Callable[[], _Run], *, runs: int, limit: float) -> tuple[_Run, int]:
    """Return the quickest of some runs, and their number.

    Parameters
    ----------
    run : callable
        Makes a run. It may raise `GivenUpError`: after the first run the best one before stands.
    runs : int
        How many, unless that takes long.
    limit : float
        Seconds that they may take together; the first one is made whatever it takes.
    """
    begin = time.monotonic()
    best, count = run(), 1
    while count < runs and time.monotonic() - begin + best.seconds <= limit:
        count += 1
        with suppress(GivenUpError):
            best = min(best, run(), key=lambda each: each.seconds)
    return best, count


@dataclass(frozen=True, kw_only=True)
class SoftwareRequest(Request):
    """Components to be found by software on this processor, with nothing else running.

    Parameters
    ----------
    graph : GraphSpec or ModelSpec
        The graph, or the model whose graph it is.
    algorithm : str
        The algorithm; of ``kosaraju`` the phases are timed.
    threads : int
        Threads that it may use.
    device : str
        Where it runs.
    seed : int
        Of what it draws at random.
    options : tuple of pairs
        Its own options that differ from what they are by default, by name.
    """

    alone: ClassVar[bool] = True

    graph: GraphSpec | ModelSpec
    algorithm: str
    threads: int
    device: str = "cpu"
    seed: int = 1
    options: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """What messages call it."""
        given = "".join(f", {name} = {value}" for name, value in self.options)
        where = place(self.device, self.threads)
        return f"{self.graph.label}, {self.algorithm} on {where}{given}"

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides: processor, number of runs, sources."""
        return {"processor": processor_name(), "best_of": BEST_OF, "sources": sources_digest()}

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Find the components, several times unless that takes long, and take the best time.

        Returns
        -------
        dict
            ``seconds``; of ``kosaraju`` these by phase, ``searches``, ``intersections`` and ``starts``, and trimming in
            none of them; of the others what they count, ``counts``, and ``vertices``, ``edges`` and ``components`` of
            the graph; ``runs`` and ``verified``.

        Raises
        ------
        SimulationError
            The result is wrong.
        """
        transpose = graph.transpose()
        phases = self.algorithm == "kosaraju"
        if phases:
            # Once on a small graph, which compiles what is not yet compiled; `run_software` does so by itself.
            small = small_graph()
            kosaraju_phases(small, small.transpose())
        with open_device(self.device, threads=self.threads) as device:
            setting = Setting(device=device, seed=self.seed, options=dict(self.options))

            def run() -> KosarajuPhases | SoftwareRun:
                if phases:
                    return kosaraju_phases(graph, transpose)
                return run_software(self.algorithm, graph, transpose, setting)

            best, runs = quickest(run, runs=BEST_OF, limit=LONG)
        labels = canonical(best.labels)
        difference = check_components(labels, graph) if verify else None
        if difference is not None:
            raise SimulationError(f"wrong result: {difference}")
        if isinstance(best, KosarajuPhases):
            found = {name: getattr(best, name) for name in ("seconds", "searches", "intersections", "starts")}
        else:
            components = int(np.count_nonzero(labels == np.arange(graph.vertices)))
            sizes = {"vertices": graph.vertices, "edges": graph.edges, "components": components}
            found = {"seconds": best.seconds, "counts": dict(best.counts), **sizes}
        return {**found, "runs": runs, "verified": verify, "wall": {}}

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['seconds'] * 1e3:.1f} ms, best of {result['runs']}"
