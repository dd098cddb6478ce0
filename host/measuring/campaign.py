"""Many measurements: what was made before is taken over, the rest is made by several processes."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from host.errors import InputError
from host.graph.csr import Graph
from host.measuring.graphs import GraphSpec
from host.measuring.schedule import available_memory, run_tasks
from host.measuring.sources import sources_digest
from host.measuring.store import Store
from sim.configuration import PRESETS
from sim.errors import SimulationError
from sim.memory import parse_profile

__all__ = ["Campaign", "GraphTask", "Measured", "Request", "measure_task", "prepare_executors"]

Measured = dict[str, Any]
"""A result, JSON-able. ``verified`` tells whether it was checked."""


class Request(Hashable, Protocol):
    """Something to be measured on a graph; a value, so that another process can be given it."""

    @property
    def graph(self) -> GraphSpec:
        """The graph."""

    @property
    def label(self) -> str:
        """What messages call it."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about, the graph included."""

    @property
    def machine(self) -> tuple[str, str] | None:
        """Preset and memory profile of the machine that it needs."""

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able."""

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Measure it."""

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""


_Request = TypeVar("_Request", bound=Request)


@dataclass(frozen=True, kw_only=True)
class GraphTask:
    """The measurements of one graph, which is generated once for all of them.

    Parameters
    ----------
    graph : GraphSpec
        The graph.
    requests : tuple of Request
        Its measurements.
    verify : bool
        Whether to check the results.
    sources : str
        Digest of the sources that the results are kept under.
    """

    graph: GraphSpec
    requests: tuple[Request, ...]
    verify: bool
    sources: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.graph.label

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about."""
        return max(request.bytes for request in self.requests)


def measure_task(task: GraphTask) -> Iterator[tuple[Request, Measured]]:
    """Make the measurements of a graph, and yield each as soon as it is there.

    Raises
    ------
    InputError, SimulationError
        One failed; the message names it. Or this process has read other sources than the one that asks.
    """
    if task.sources != sources_digest():
        raise SimulationError("the program's sources have changed since it was started: start it again")
    place = task.label
    try:
        graph = task.graph.generate()
        for request in task.requests:
            place = request.label
            yield request, request.measure(graph, verify=task.verify)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    except SimulationError as error:
        raise SimulationError(f"{place}: {error}", error.diagnosis) from error
    except MemoryError as error:
        raise InputError(f"{place}: not enough memory") from error


def prepare_executors(machines: Iterable[tuple[str, str]]) -> None:
    """Build the executors of machines, given by preset and memory profile, so that workers find them built.

    Raises
    ------
    SimulationError
        One could not be built.
    """
    from sim.machine import create_machine

    for preset, memory in sorted(set(machines)):
        create_machine(PRESETS[preset], parse_profile(memory)).close()


class Campaign:
    """Makes measurements and keeps them.

    Parameters
    ----------
    store : Store
        Where they are kept.
    jobs : int
        Processes.
    verify : bool
        Whether to check the results.
    report : callable, optional
        Called with a line for each measurement that is there, and one for those taken over.

    Attributes
    ----------
    asked, found : int
        Measurements asked for, and those of them taken over from the store.
    """

    def __init__(self, store: Store, *, jobs: int, verify: bool, report: Callable[[str], None] | None = None) -> None:
        self._store = store
        self._jobs = jobs
        self._verify = verify
        self._report = report if report is not None else lambda _: None
        self.asked = self.found = 0

    def measure(self, requests: Iterable[_Request], *, alone: bool = False) -> dict[_Request, Measured]:
        """Return the measurements asked for.

        Parameters
        ----------
        requests : iterable of Request
            What to measure.
        alone : bool
            One after the other in this process, because it is this processor that is measured.

        Raises
        ------
        InputError, SimulationError
            One failed; those that are finished are kept.
        """
        wanted = list(dict.fromkeys(requests))
        results: dict[_Request, Measured] = {}
        for request in wanted:
            result = self._store.find(request.inputs(), verified=self._verify)
            if result is not None:
                results[request] = result
        missing = [request for request in wanted if request not in results]
        self.asked += len(wanted)
        self.found += len(results)
        if results:
            self._report(f"{len(results)} of {len(wanted)} measurements taken over")
        if missing:
            prepare_executors(request.machine for request in missing if request.machine is not None)
            self._make(missing, results, jobs=1 if alone else self._jobs)
        return results

    def _make(self, missing: Sequence[_Request], results: dict[_Request, Measured], *, jobs: int) -> None:
        groups: dict[GraphSpec, list[_Request]] = {}
        for request in missing:
            groups.setdefault(request.graph, []).append(request)
        tasks = [
            GraphTask(graph=graph, requests=tuple(group), verify=self._verify, sources=sources_digest())
            for graph, group in groups.items()
        ]
        numbers = itertools.count(1)

        def keep(_: GraphTask, measured: tuple[_Request, Measured]) -> None:
            request, result = measured
            self._store.add(request.inputs(), result)
            results[request] = result
            self._report(f"{next(numbers)} of {len(missing)}: {request.label}: {request.summary(result)}")

        run_tasks(tasks, measure_task, jobs=jobs, memory=available_memory() * 9 // 10, on_result=keep)
