"""Software timed on this processor or a graphics processor: the quickest of some runs."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from host.algorithms.mec.basic import run_mec
from host.algorithms.mec.checker import check_mecs
from host.algorithms.software import Decomposition, Setting, SoftwareRun, run_software
from host.algorithms.software.decomposition import small_graph
from host.algorithms.software.kosaraju import KosarajuPhases, kosaraju_phases
from host.algorithms.verification import canonical, check_components
from host.devices import open_device
from host.graph.csr import Graph
from host.measuring.graphs import GraphSpec, ModelSpec
from host.measuring.measurements import Measured, Request
from host.measuring.setting import processor_name
from host.runs.execution import check_result
from host.sources import sources_digest
from host.words import place

__all__ = ["GivenUpError", "MecRequest", "SoftwareRequest", "TimedRequest", "quickest"]

_BEST_OF = 3
"""Runs of software, of which the best counts."""

_LONG = 60.0
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
class TimedRequest(Request):
    """Something to be found by software, with nothing else running.

    Parameters
    ----------
    algorithm : str
        The algorithm.
    threads : int
        Threads that it may use.
    device : str
        Where it runs.
    options : tuple of pairs
        Options that differ from what they are by default, by name.
    """

    alone: ClassVar[bool] = True

    algorithm: str
    threads: int
    device: str = "cpu"
    options: tuple[tuple[str, int], ...] = ()

    @property
    def how(self) -> str:
        """Algorithm, device and options in words."""
        given = "".join(f", {name} = {value}" for name, value in self.options)
        return f"{self.algorithm} on {place(self.device, self.threads)}{given}"

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides: processor, number of runs, sources."""
        return {"processor": processor_name(), "best_of": _BEST_OF, "sources": sources_digest()}

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['seconds'] * 1e3:.1f} ms, best of {result['runs']}"


@dataclass(frozen=True, kw_only=True)
class SoftwareRequest(TimedRequest):
    """Strongly connected components to be found. The parameters are those of `TimedRequest` too.

    Parameters
    ----------
    graph : GraphSpec or ModelSpec
        The graph, or the model whose graph it is.
    seed : int
        Of what the algorithm draws at random; of ``kosaraju`` the phases are timed.
    """

    graph: GraphSpec | ModelSpec
    seed: int = 1

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.graph.label}, {self.how}"

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

            def run() -> KosarajuPhases | SoftwareRun[Decomposition]:
                if phases:
                    return kosaraju_phases(graph, transpose)
                return run_software(self.algorithm, graph, transpose, setting)

            best, runs = quickest(run, runs=_BEST_OF, limit=_LONG)
        labels = canonical((best if isinstance(best, KosarajuPhases) else best.found).labels)
        if verify:
            check_result(check_components(labels, graph))
        if isinstance(best, KosarajuPhases):
            found = {name: getattr(best, name) for name in ("seconds", "searches", "intersections", "starts")}
        else:
            components = int(np.count_nonzero(labels == np.arange(graph.vertices)))
            sizes = {"vertices": graph.vertices, "edges": graph.edges, "components": components}
            found = {"seconds": best.seconds, "counts": dict(best.found.counts), **sizes}
        return {**found, "runs": runs, "verified": verify, "wall": {}}


@dataclass(frozen=True, kw_only=True)
class MecRequest(TimedRequest):
    """Maximal end components to be found. The parameters are those of `TimedRequest` too.

    Parameters
    ----------
    model : ModelSpec
        The model.
    """

    graph: None = None
    model: ModelSpec

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.model.label}, MECs by {self.how}"

    def measure(self, graph: Graph | None, *, verify: bool) -> Measured:
        """Find the maximal end components, several times unless that takes long, and take the best time.

        Returns
        -------
        dict
            ``seconds``, ``counts``, ``rounds`` as `host.algorithms.mec.basic.MecRound` has them, ``mecs`` and
            ``in_mecs``, the number of them and of states in any; ``states``, ``choices`` and ``transitions`` of the
            model; ``runs`` and ``verified``.

        Raises
        ------
        InputError
            There is no such model, or no such device.
        SimulationError
            The result is wrong.
        """
        mdp = self.model.model()
        with open_device(self.device, threads=self.threads) as device:
            setting = Setting(device=device, options=dict(self.options))
            best, runs = quickest(lambda: run_mec(self.algorithm, mdp, setting), runs=_BEST_OF, limit=_LONG)
        found = best.found
        if verify:
            check_result(check_mecs(mdp, found.mecs))
        return {
            "seconds": best.seconds,
            "counts": dict(found.counts),
            "rounds": [asdict(each) for each in found.rounds],
            "mecs": sum(each.mecs for each in found.rounds),
            "in_mecs": int((found.mecs >= 0).sum()),
            "states": mdp.states,
            "choices": mdp.choice_count,
            "transitions": mdp.transition_count,
            "runs": runs,
            "verified": verify,
            "wall": {},
        }
