"""Measurements for studies: existing results are taken from the store, the others are measured and added to it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec, ModelSpec
from cyscc.host.experiments.measuring.schedule import run_requests
from cyscc.host.experiments.measuring.store import Store
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError
from cyscc.host.runs.sources import sources_digest, text_digest
from cyscc.sim.configuration import PRESETS
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory import parse_profile

Measured = dict[str, Any]
"""A result as JSON values. ``verified`` tells whether it was checked."""

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
"""Numbers in results: how many, also bytes; and how much."""

Divisor = Annotated[int, msgspec.Meta(ge=1, le=1 << 62)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e12)]
"""The same, where other numbers are divided by them."""

_LONGEST = 1000
"""Length in characters above which a text in the inputs of a result is replaced by its digest."""

OnStep = Callable[[int, int, str], None]
"""Progress callback: the number of steps done, their total, and a text on the latest step."""


def no_step(done: int, total: int, what: str) -> None:
    """Ignore progress."""


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """A request for a measurement; a value that can be sent to another process.

    The result depends on all fields except those declared with ``compare=False``, which hold the locations of files.

    Parameters
    ----------
    graph : GraphSpec, GraphFile or ModelSpec, optional
        The graph to measure on, or the model whose graph it is.
    """

    alone: ClassVar[bool] = False
    """Whether it times this processor, and so needs a process of its own with nothing beside it."""

    kind: ClassVar[Any] = dict[str, Any]
    """Type of its results, which stored ones are checked against."""

    graph: GraphSpec | GraphFile | ModelSpec | None = None

    @property
    @abstractmethod
    def label(self) -> str:
        """Name in messages."""

    @property
    def bytes(self) -> int:
        """Approximate peak memory, including the graph; unused if it runs alone."""
        return 1 << 30

    @property
    def machine(self) -> tuple[str, str] | None:
        """Preset and memory profile of the machine whose executor must be built first; None for no machine."""
        return None

    def inputs(self) -> dict[str, Any]:
        """Return the inputs of the result as JSON values, for its digest: the fields and `setting`."""
        counting = [each.name for each in fields(self) if each.compare]
        values = {name: value for name, value in asdict(self).items() if name in counting}
        if self.graph is not None:
            values["graph"] = self.graph.identity()
        for name, value in values.items():
            if isinstance(value, str) and len(value) > _LONGEST:
                values[name] = text_digest(value)
        return {"measurement": type(self).__name__, **values, **self.setting()}

    @abstractmethod
    def setting(self) -> dict[str, Any]:
        """Return the further inputs of the result as JSON values: sources, and possibly processor and tools."""

    @abstractmethod
    def measure(self, graph: Any, *, verify: bool) -> Measured:
        """Perform the measurement.

        Parameters
        ----------
        graph : Graph or None
            The requested graph.
        verify : bool
            Whether to verify the result.

        Raises
        ------
        InputError, SimulationError
            The measurement failed, or its result is wrong.
        """

    def check(self, result: Measured) -> None:
        """Check that a stored result is one of this measurement.

        Raises
        ------
        ValueError
            It has not the fields or types of one.
        """
        msgspec.convert(result, self.kind)

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a short text on a result."""
        return "done"


_Request = TypeVar("_Request", bound=Request)


_generated: dict[GraphSpec | GraphFile | ModelSpec, Graph] = {}
"""Cache of the last request's graph; the next request of this process often has the same."""


def _graph_of(spec: GraphSpec | GraphFile | ModelSpec) -> Graph:
    if spec not in _generated:
        _generated.clear()  # free the old graph before the new one is generated
        _generated[spec] = spec.generate()
    return _generated[spec]


def measure_request(request: Request, *, verify: bool, sources: str) -> Measured:
    """Perform a measurement, in a worker process or in this one.

    Parameters
    ----------
    request : Request
        The measurement.
    verify : bool
        Whether to verify the result.
    sources : str
        Digest of the sources of the process that makes the request.

    Raises
    ------
    InputError, SimulationError
        The measurement failed, and the message names it; or the sources of this process differ from those of the
        requesting one.
    """
    if sources != sources_digest():
        raise SimulationError("the program's sources have changed since it was started: start it again")
    try:
        graph = None if request.graph is None else _graph_of(request.graph)
        return request.measure(graph, verify=verify)
    except InputError as error:
        raise InputError(f"{request.label}: {error}") from error
    except SimulationError as error:
        raise SimulationError(f"{request.label}: {error}", error.diagnosis) from error
    except MemoryError as error:
        raise InputError(f"{request.label}: not enough memory") from error


def prepare_executors(machines: Iterable[tuple[str, str]]) -> None:
    """Build the executors of machines, given by preset and memory profile, before workers need them.

    Raises
    ------
    SimulationError
        An executor could not be built.
    """
    from cyscc.sim.machine import create_machine

    for preset, memory in sorted(set(machines)):
        create_machine(PRESETS[preset], parse_profile(memory)).close()


class Measurements:
    """Finds measurements in a store, and performs and stores the missing ones.

    Parameters
    ----------
    store : Store
        The store.
    jobs : int
        Number of processes for measurements that need not run alone.
    verify : bool
        Whether to verify the results.
    again : bool
        Whether to repeat measurements that are in the store.
    make : bool
        Whether to perform those that are not.
    on_step : callable, optional
        Progress callback, called for each result.

    Attributes
    ----------
    asked, found : int
        Number of measurements requested so far, and of those taken from the store.
    """

    def __init__(
        self,
        store: Store,
        *,
        jobs: int = 1,
        verify: bool = True,
        again: bool = False,
        make: bool = True,
        on_step: OnStep = no_step,
    ) -> None:
        self._store = store
        self._make = make
        self._again = again
        self._jobs = jobs
        self._verify = verify
        self._on_step = on_step
        self.asked = self.found = 0

    def measure(self, requests: Iterable[_Request]) -> dict[_Request, Measured]:
        """Return the results of requests; those that must run alone are performed first, in the given order.

        Raises
        ------
        InputError, SimulationError
            A measurement failed, or a stored one is damaged; completed ones stay in the store.
        LookupError
            One is not in the store, and is not to be performed.
        """
        wanted = list(dict.fromkeys(requests))
        results: dict[_Request, Measured] = {}
        for request in () if self._again else wanted:
            result = self._store.find(request.inputs(), verified=self._verify, check=request.check)
            if result is not None:
                results[request] = result
        missing = [request for request in wanted if request not in results]
        if missing and not self._make:
            raise LookupError(missing[0].label)
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
        run_requests([each for each in missing if each.alone], work, jobs=1, on_result=keep, apart=True)
        # Those of a graph one after the other, so that a process makes it once.
        graphs = list(dict.fromkeys(each.graph for each in missing))
        others = [each for graph in graphs for each in missing if each.graph == graph and not each.alone]
        run_requests(others, work, jobs=self._jobs, on_result=keep)
        return results

    def forget(self, requests: Iterable[Request]) -> None:
        """Remove measurements from the store."""
        for request in requests:
            self._store.remove(request.inputs())
