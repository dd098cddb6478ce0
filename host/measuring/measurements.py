"""Measurements, as every study asks for them: those made before are found again, the others made and kept."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any, ClassVar, TypeVar

from host.errors import InputError
from host.graph.csr import Graph
from host.measuring.graphs import GraphSpec, ModelSpec
from host.measuring.schedule import run_groups
from host.measuring.store import Store
from host.sources import sources_digest, text_digest
from sim.configuration import PRESETS
from sim.errors import SimulationError
from sim.memory import parse_profile

__all__ = ["Measured", "Measurements", "OnStep", "Request", "measure_request", "no_step", "prepare_executors"]

Measured = dict[str, Any]
"""A result, JSON-able. ``verified`` tells whether it was checked."""

_LONGEST = 1000
"""Characters of a text from which on its digest stands for it in the inputs of a result."""

OnStep = Callable[[int, int, str], None]
"""Is told how many steps are done, of how many, and what the last one was."""


def no_step(done: int, total: int, what: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """Something to be measured; a value, so that another process can be given it.

    A result depends on all fields but those declared with ``compare=False``, which say where files are.

    Parameters
    ----------
    graph : GraphSpec or ModelSpec, optional
        The graph that it is measured on, or the model whose graph that is.
    """

    alone: ClassVar[bool] = False
    """Whether nothing may run beside it and its process must be its own, because it is this processor that is timed."""

    graph: GraphSpec | ModelSpec | None = None

    @property
    @abstractmethod
    def label(self) -> str:
        """Name in messages."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about, the graph included; of no account when it runs alone."""
        return 1 << 30

    @property
    def machine(self) -> tuple[str, str] | None:
        """Preset and memory profile of the machine whose executor is to be built beforehand."""
        return None

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able: its fields, and what `setting` says."""
        counting = [each.name for each in fields(self) if each.compare]
        values = {name: value for name, value in asdict(self).items() if name in counting}
        for name, value in values.items():
            if isinstance(value, str) and len(value) > _LONGEST:
                values[name] = text_digest(value)
        return {"measurement": type(self).__name__, **values, **self.setting()}

    @abstractmethod
    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides, JSON-able: sources, and perhaps processor and tools."""

    @abstractmethod
    def measure(self, graph: Any, *, verify: bool) -> Measured:
        """Measure it.

        Parameters
        ----------
        graph : Graph or None
            The graph asked for.
        verify : bool
            Whether to check the result.

        Raises
        ------
        InputError, SimulationError
            It failed, or the result is wrong.
        """

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return "done"


_Request = TypeVar("_Request", bound=Request)

_generated: dict[GraphSpec | ModelSpec, Graph] = {}
"""The graph of the last request, which the next one of this process is likely to have too."""


def _graph_of(request: Request) -> Graph | None:
    spec = request.graph
    if spec is None:
        return None
    if spec not in _generated:
        _generated.clear()  # before the next one is there: both would take memory
        _generated[spec] = spec.generate()
    return _generated[spec]


def measure_request(request: Request, *, verify: bool, sources: str) -> Measured:
    """Measure what is asked for.

    Parameters
    ----------
    request : Request
        What to measure.
    verify : bool
        Whether to check the result.
    sources : str
        Digest of the sources that the result is kept under.

    Raises
    ------
    InputError, SimulationError
        It failed; the message names it. Or this process has read other sources than the one that asks.
    """
    if sources != sources_digest():
        raise SimulationError("the program's sources have changed since it was started: start it again")
    try:
        return request.measure(_graph_of(request), verify=verify)
    except InputError as error:
        raise InputError(f"{request.label}: {error}") from error
    except SimulationError as error:
        raise SimulationError(f"{request.label}: {error}", error.diagnosis) from error
    except MemoryError as error:
        raise InputError(f"{request.label}: not enough memory") from error


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


class Measurements:
    """Finds measurements in a store, makes those that are not there, and keeps them.

    Parameters
    ----------
    store : Store
        Where they are kept.
    jobs : int
        Processes for those that need not be alone.
    verify : bool
        Whether to check the results.
    again : bool
        Whether to make also those that are in the store.
    on_step : callable, optional
        Told of each measurement that is there.

    Attributes
    ----------
    asked, found : int
        Measurements asked for, and those of them taken over from the store.
    """

    def __init__(
        self, store: Store, *, jobs: int = 1, verify: bool = True, again: bool = False, on_step: OnStep = no_step
    ) -> None:
        self._store = store
        self._again = again
        self._jobs = jobs
        self._verify = verify
        self._on_step = on_step
        self.asked = self.found = 0

    def measure(self, requests: Iterable[_Request]) -> dict[_Request, Measured]:
        """Return the measurements asked for; those that must be alone are made first, in the order given.

        Raises
        ------
        InputError, SimulationError
            One failed; those that are finished are kept.
        """
        wanted = list(dict.fromkeys(requests))
        results: dict[_Request, Measured] = {}
        for request in () if self._again else wanted:
            result = self._store.find(request.inputs(), verified=self._verify)
            if result is not None:
                results[request] = result
        missing = [request for request in wanted if request not in results]
        self.asked += len(wanted)
        self.found += len(results)
        if results:
            self._on_step(len(results), len(wanted), "taken over")

        def keep(request: _Request, result: Measured) -> None:
            self._store.add(request.inputs(), result)
            results[request] = result
            self._on_step(len(results), len(wanted), f"{request.label}: {request.summary(result)}")

        machines = [request.machine for request in missing if request.machine is not None]
        if machines:
            prepare_executors(machines)
        work = partial(measure_request, verify=self._verify, sources=sources_digest())
        alone = [[request] for request in missing if request.alone]
        run_groups(alone, work, jobs=1, on_result=keep, apart=True)
        groups: dict[Any, list[_Request]] = {}
        for request in missing:
            if not request.alone:
                # What has no graph shares none.
                groups.setdefault(request if request.graph is None else request.graph, []).append(request)
        run_groups(list(groups.values()), work, jobs=self._jobs, on_result=keep)
        return results

    def forget(self, requests: Iterable[Request]) -> None:
        """Remove measurements from the store."""
        for request in requests:
            self._store.remove(request.inputs())
