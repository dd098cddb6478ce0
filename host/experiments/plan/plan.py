"""Plans: the results of many requests are found in a store, and the missing ones made by a pool."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from cyscc.host.experiments.plan.pool import perform_here, perform_on_cluster
from cyscc.host.experiments.plan.request import AnyRequest, Measured, Request
from cyscc.host.experiments.plan.store import Store
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import removing_empty
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import count_text
from cyscc.host.runs.sources import sources_digest
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import SimulationError
from cyscc.sim.notices import notice

RESULTS = "results"
"""Folder of the results in the folder of a command's output."""

_BEFORE = {"points/*/point.json": "points", "measurements/*.json": "measurements"}
"""Results of earlier versions, and their folders in the same place."""

OnStep = Callable[[int, int, str], None]
"""Progress callback: the number of steps done, their total, and a text on the latest step."""

Made = Measured | InputError | SimulationError
"""Result of a request, or the error with which it failed."""


def no_step(done: int, total: int, what: str) -> None:
    """Ignore progress."""


class LostError(SimulationError):
    """A run that was given up, as it takes more cycles than it may. One line."""


@dataclass(kw_only=True)
class Limit:
    """Limits of requests that are made in their order.

    Parameters
    ----------
    until : float
        Moment of `time.monotonic` at which no further request is begun, and those under way are given up, once there is
        a result.
    cycles : dict of str to int
        Cycles, those of the host included, after which a run is given up, by the digest of its request. Those of
        requests that have not begun may be changed.
    """

    until: float
    cycles: dict[str, int] = field(default_factory=dict)


_one_at_a_time = threading.Lock()
"""Lock for threads of a cluster's worker: results are made one at a time."""


def make_result(
    request: Request, *, folder: Path, sources: str, verify: bool, again: bool, limit: Limit | None = None
) -> Made:
    """Make a result if it is missing, in a worker process or in this one; return it, or why it failed.

    Parameters
    ----------
    request : Request
        The request.
    folder : Path
        Folder of the store.
    sources : str
        Digest of the sources of the process that has the plan.
    verify, again
        As of `Plan`.
    limit : Limit, optional
        Limits of the requests.

    Raises
    ------
    SimulationError
        The sources of this process differ from those of the process that has the plan.
    """
    if sources != sources_digest():
        raise SimulationError("this process and the one that works for it have different versions of the program")
    most = None if limit is None else limit.cycles.get(request.digest)
    with _one_at_a_time:
        try:
            return Store(folder).make(request, verify=verify, again=again, most=most)
        except (InputError, SimulationError) as error:
            return error
        except MemoryError:
            return InputError("not enough memory")
        except OSError as error:
            return InputError(error.strerror or str(error), path=error.filename or folder)


@dataclass(kw_only=True)
class Plan:
    """Where and how the results of requests are found or made.

    Parameters
    ----------
    folder : Path
        Folder of the command's output, which has the store.
    jobs : int
        Number of processes.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers make the results instead.
    verify : bool
        Whether to verify the results.
    again : bool
        Whether to make those that are in the store, too.
    make : bool
        Whether to make those that are not.
    families : tuple of str
        FPGA families for which machines are synthesised besides.
    progress : Progress
        Progress display.
    on_step : callable
        Progress callback of `measure`, called for each result.

    Attributes
    ----------
    store : Store
        The store, made at its first use.
    found, made : int
        Number of results so far that were in the store, and of those made.
    failures : dict of str to SimulationError or InputError
        Failures so far by the digest of the request.
    """

    folder: Path
    jobs: int = 1
    scheduler: str | None = None
    verify: bool = True
    again: bool = False
    make: bool = True
    families: tuple[str, ...] = ()
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))
    on_step: OnStep = no_step

    def __post_init__(self) -> None:
        self.found = self.made = 0
        self.failures: dict[str, InputError | SimulationError] = {}

    @cached_property
    def store(self) -> Store:
        """The store; made at the first use.

        Raises
        ------
        InputError
            The folder cannot be created or written.
        """
        if before := [folder for files, folder in _BEFORE.items() if next(self.folder.glob(files), None)]:
            names = ", ".join(str(self.folder / name) for name in before)
            notice(f"{names}: results of an earlier version of the program, which are left alone", once=True)
        return Store(self.folder.resolve() / RESULTS, named=self.folder)

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Yield the store; after an error in the block, folders that are empty and new are removed.

        Raises
        ------
        InputError
            The folder cannot be created or written.
        """
        with removing_empty(self.folder / RESULTS):
            yield self.store

    @property
    def text(self) -> str:
        """Number of results in words: ``4 made, 2 from before``."""
        return f"{self.made} made, {self.found} from before"

    @property
    def runs_text(self) -> str:
        """The same, of runs, with their number."""
        return f"{count_text(self.made + self.found, 'run')}: {self.text}"

    def measure(self, requests: Iterable[AnyRequest]) -> dict[AnyRequest, Measured]:
        """Return the results of requests.

        Raises
        ------
        InputError, SimulationError
            A request failed, and the message names it; finished results stay in the store.
        LookupError
            A result is not in the store, and is not to be made.
        """

        def on_outcome(request: AnyRequest, outcome: Made) -> None:
            text = f"{request.label}: {outcome}"
            if isinstance(outcome, InputError):
                raise InputError(text) from outcome
            if isinstance(outcome, SimulationError):
                raise SimulationError(text, outcome.diagnosis) from outcome

        wanted = list(dict.fromkeys(requests))
        results = self.results(wanted, self.on_step, on_outcome=on_outcome)
        return {request: results[request.digest] for request in wanted}

    def results(
        self,
        requests: Iterable[AnyRequest],
        on_step: OnStep = no_step,
        *,
        limit: Limit | None = None,
        on_outcome: Callable[[AnyRequest, Made], None] = lambda request, outcome: None,
    ) -> dict[str, Measured]:
        """Return the results of requests by their digests; the missing ones are made side by side.

        Parameters
        ----------
        requests : iterable of Request
            The requests. Those that must be alone are made first. The others are ordered so that the largest come
            first, of equal ones the first of each machine, which builds it, and then those of a graph.
        on_step : callable
            Progress callback, called for each result.
        limit : Limit, optional
            Limits of the requests, which are then made in their order.
        on_outcome : callable
            Called with each request and its result or failure, first with those whose results exist.

        Raises
        ------
        InputError
            The scheduler does not answer, or has no workers.
        SimulationError
            No further results can be made. A failure does not raise: see `failures`.
        LookupError
            A result is not in the store, and is not to be made.
        """
        wanted = {request.digest: request for request in requests}
        found: dict[str, Measured] = {}
        for digest, request in {} if self.again else wanted.items():
            result = self.store.find(request, verified=self.verify)
            if result is not None:
                found[digest] = result
        missing = [request for digest, request in wanted.items() if digest not in found]
        if missing and not self.make:
            raise LookupError(missing[0].label)
        self.found += len(found)
        done = len(found)
        on_step(done, len(wanted), f"{done} of them from before" if done else "")
        for digest, result in found.items():
            on_outcome(wanted[digest], result)

        def keep(request: AnyRequest, outcome: Made) -> None:
            nonlocal done
            done += 1
            if isinstance(outcome, dict) and not self.store.folder_of(request).exists():
                outcome = InputError(f"the process that made it does not see {self.folder.resolve()}")
            if isinstance(outcome, dict):
                found[request.digest] = outcome
                self.made += 1
            else:
                self.failures[request.digest] = outcome
            on_outcome(request, outcome)
            text = request.summary(outcome) if isinstance(outcome, dict) else outcome
            on_step(done, len(wanted), f"{request.label}: {text}")

        work = partial(
            make_result,
            folder=self.store.folder,
            sources=sources_digest(),
            verify=self.verify,
            again=self.again,
            limit=limit,
        )
        if limit is None:
            missing = _ordered(missing)
        until = None if limit is None else limit.until
        try:
            if self.scheduler is None:
                perform_here(missing, work, keep, jobs=self.jobs, until=until)
            elif missing:
                perform_on_cluster(missing, work, keep, address=self.scheduler, until=until)
        finally:
            for request in missing:
                self.store.clear(request)
        return found

    def forget(self, requests: Iterable[Request]) -> None:
        """Remove results from the store."""
        for request in requests:
            self.store.remove(request)


def _ordered(requests: list[AnyRequest]) -> list[AnyRequest]:
    """Return requests in the order in which they are made, see `Plan.results`."""
    graphs = {graph: place for place, graph in enumerate(dict.fromkeys(request.graph for request in requests))}
    seen: set[AcceleratorConfig] = set()

    def place(request: AnyRequest) -> tuple[Any, ...]:
        if request.alone:
            return (0,)
        later = request.machine is None or request.machine in seen
        if request.machine is not None:
            seen.add(request.machine)
        return 1, -request.bytes, later, graphs[request.graph]

    return sorted(requests, key=place)
