"""Requests to time software on this processor or a graphics processor: the fastest of several runs counts."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, Protocol, TypedDict, TypeVar

import numpy as np

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.mec.basic import run_mec
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.baselines.software.decomposition import SoftwareSetting, run_software
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec, ModelSpec
from cyscc.host.experiments.plan.request import Amount, Count, Divisor, Measured, Positive, Request
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import check_components
from cyscc.host.output.text import device_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.execution import check_result
from cyscc.host.runs.sources import sources_digest

_BEST_OF = 3
"""Runs of software, of which the fastest counts."""

_LONG = 60.0
"""Seconds after which no further run is started."""

_BY_PHASE = "kosaraju"
"""The algorithm that is timed by phase."""


class _Timed(Protocol):
    @property
    def seconds(self) -> float: ...


_Run = TypeVar("_Run", bound=_Timed)


def fastest(
    run: Callable[[], _Run], *, runs: int, limit: float, on_best: Callable[[_Run], None] | None = None
) -> tuple[_Run, int]:
    """Return the result of the fastest of several runs, and the number of runs made.

    Parameters
    ----------
    run : callable
        Makes a run.
    runs : int
        Number of runs, unless they take too long.
    limit : float
        Seconds for all runs together; the first one is always made.
    on_best : callable, optional
        Called with the result of the first run, and with each that is faster than all before.
    """
    begin = time.monotonic()
    best, count = None, 0
    while best is None or (count < runs and time.monotonic() - begin + best.seconds <= limit):
        result = run()
        count += 1
        if best is None or result.seconds < best.seconds:
            best = result
            if on_best is not None:
                on_best(best)
    return best, count


class _TimedResult(TypedDict):
    seconds: Positive
    counts: dict[str, Count]
    runs: Count
    verified: bool


class _SoftwareResult(_TimedResult):
    phases: dict[str, Amount]
    vertices: Divisor
    edges: Count
    components: Count


class _MecResult(_TimedResult):
    rounds: list[dict[str, Count]]
    mecs: Count
    in_mecs: Count
    states: Count
    choices: Count
    transitions: Count


@dataclass(frozen=True, kw_only=True)
class TimedRequest(Request):
    """A timed run of software, with nothing beside it.

    Parameters
    ----------
    algorithm : str
        Name of the algorithm.
    threads : int
        Most threads of the algorithm.
    device : str
        The device that it runs on.
    options : tuple of pairs
        Name and value of each option that differs from its default.
    """

    alone: ClassVar[bool] = True

    algorithm: str
    threads: int
    device: str = "cpu"
    options: tuple[tuple[str, int], ...] = ()

    @property
    def how(self) -> str:
        """Algorithm, device and options as text."""
        given = "".join(f", {name} = {value}" for name, value in self.options)
        return f"{self.algorithm} on {device_text(self.device, self.threads)}{given}"

    def setting(self) -> dict[str, Any]:
        """Return processor, number of runs and digest of the sources, as JSON values."""
        return {"processor": processor_name(), "best_of": _BEST_OF, "sources": sources_digest()}

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['seconds'] * 1e3:.1f} ms, best of {result['runs']}"


@dataclass(frozen=True, kw_only=True)
class SoftwareRequest(TimedRequest):
    """A timed run of software that finds components. The other parameters are those of `TimedRequest`.

    Parameters
    ----------
    graph : GraphSpec, GraphFile or ModelSpec
        The graph, or the model whose graph is used.
    seed : int
        Seed of the algorithm's random choices. For ``kosaraju``, the phases are timed.
    """

    kind: ClassVar[Any] = _SoftwareResult

    graph: GraphSpec | GraphFile | ModelSpec
    seed: int = 1

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.graph.label}, {self.how}"

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Find the components in several runs, unless they take too long, and return the fastest.

        Returns
        -------
        dict
            ``seconds``; ``phases``, for ``kosaraju`` its seconds by phase (``searches``, ``intersections``,
            ``starts``), without trimming, which ``seconds`` are the sum of; ``counts``, the algorithm's counters;
            ``vertices``, ``edges`` and ``components`` of the graph; ``runs`` and ``verified``.

        Raises
        ------
        SimulationError
            The result is wrong.
        """
        transpose = graph.transpose()
        options = {**dict(self.options), **({"phases": True} if self.algorithm == _BY_PHASE else {})}
        with open_device(self.device, threads=self.threads) as device:
            setting = SoftwareSetting(device=device, seed=self.seed, options=options)
            run = partial(run_software, self.algorithm, graph, transpose, setting)
            best, runs = fastest(run, runs=_BEST_OF, limit=_LONG)
        labels = best.found.labels
        if verify:
            check_result(check_components(labels, graph))
        phases = dict(best.found.phases)
        return {
            "seconds": sum(phases.values()) or best.seconds,
            "phases": phases,
            "counts": dict(best.found.counts),
            "vertices": graph.vertices,
            "edges": graph.edges,
            "components": int(np.count_nonzero(labels == np.arange(graph.vertices))),
            "runs": runs,
            "verified": verify,
        }


@dataclass(frozen=True, kw_only=True)
class MecRequest(TimedRequest):
    """A timed run of software that finds maximal end components. The other parameters are those of `TimedRequest`.

    Parameters
    ----------
    model : ModelSpec
        The model.
    """

    kind: ClassVar[Any] = _MecResult

    graph: None = None
    model: ModelSpec

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.model.label}, MECs by {self.how}"

    def measure(self, graph: Graph | None, *, verify: bool) -> Measured:
        """Find the maximal end components in several runs, unless they take too long, and return the fastest.

        Returns
        -------
        dict
            ``seconds``; ``counts``; ``rounds``, see `cyscc.host.baselines.mec.basic.MecRound`; ``mecs``, the number of
            maximal end components; ``in_mecs``, the number of states in them; ``states``, ``choices`` and
            ``transitions`` of the model; ``runs`` and ``verified``.

        Raises
        ------
        InputError
            The model or the device does not exist.
        SimulationError
            The result is wrong.
        """
        mdp = self.model.model()
        with open_device(self.device, threads=self.threads) as device:
            setting = SoftwareSetting(device=device, options=dict(self.options))
            best, runs = fastest(lambda: run_mec(self.algorithm, mdp, setting), runs=_BEST_OF, limit=_LONG)
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
        }
