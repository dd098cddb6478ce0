"""Points of a sweep: runs identified by the digest of their inputs, found in a folder or made in parallel."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.measurements import OnStep
from cyscc.host.experiments.measuring.schedule import EndedError, run_groups, run_on_cluster
from cyscc.host.experiments.measuring.store import Store, measurement_digest, read_stored
from cyscc.host.graph.csr import Graph, graph_digest
from cyscc.host.graph.formats import write_graph
from cyscc.host.output.documents import DAMAGED, SEAL, sealed, write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress
from cyscc.host.record.document import RECORD_SCHEMA
from cyscc.host.record.reader import Record
from cyscc.host.runs.execution import SOURCE_RULE, execute
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.run import RunSpec
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import CycleLimitError, SimulationError

__all__ = ["LOST", "Budget", "SweepFolder", "SweepPoint", "Swept", "make_point", "sweep"]


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    """A run of a sweep, to be recorded.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    spec : RunSpec
        Specification of the run; a search without a source uses `SOURCE_RULE`.
    """

    graph: GraphSpec | GraphFile
    spec: RunSpec

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.spec.algorithm} of {self.graph.label} on {self.spec.machine_text}"

    @property
    def bytes(self) -> int:
        """Approximate peak memory: the graph, for components also its transpose, and the verification."""
        return 20 * self.graph.edges + 200 * self.graph.vertices + (400 << 20)

    def inputs(self) -> dict[str, Any]:
        """Return all inputs of the result as JSON values."""
        return {
            "measurement": "point",
            "graph": self.graph.identity(),
            "rule": SOURCE_RULE,
            "run": self.spec.varied(),
            "sources": sources_digest(),
            "record": RECORD_SCHEMA,
        }

    @cached_property
    def digest(self) -> str:
        """Digest of the inputs, 24 hexadecimal digits."""
        return measurement_digest(self.inputs())


_POINT = "point.json"
"""File of a point's folder that holds its inputs, and the digest of its record's document."""

_GRAPH = "graph.json"
"""File beside a generated graph that holds its inputs, and the digest of its file."""


class SweepFolder:
    """A folder of points and graphs, which several processes and sweeps may use at the same time.

    Parameters
    ----------
    path : Path
        The folder; created with its parents.

    Attributes
    ----------
    path : Path

    Raises
    ------
    InputError
        The folder cannot be created or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._points, self._graphs = (Store(self.path / name, named=path) for name in ("points", "graphs"))

    def of(self, point: SweepPoint) -> Path:
        """Return the folder of a point, which exists only if the point is complete."""
        return self._points.folder / point.digest

    def has(self, point: SweepPoint) -> bool:
        """Whether a point is complete.

        Raises
        ------
        InputError
            Its folder is damaged, or is that of another point.
        """
        found = self._points.has(point.digest)
        if found:
            self.record(point)
        return found

    def record(self, point: SweepPoint) -> Record:
        """Return the record of a complete point.

        Raises
        ------
        InputError
            Its folder is damaged, or is that of another point.
        """
        folder = self.of(point)
        with _advising("remove the point's folder to simulate it again"):
            kept = _kept(folder, _POINT, point.inputs())
            record = Record(folder)
            if kept != _digest(record):
                raise InputError("is the record of another point", path=folder)
        return record

    def make(self, point: SweepPoint, *, most_cycles: int | None = None) -> None:
        """Make a point if it is missing.

        If another process is making it, wait for that process.

        Parameters
        ----------
        point : SweepPoint
            The point.
        most_cycles : int, optional
            Cycles after which its run is given up.

        Raises
        ------
        InputError, SimulationError
            The graph cannot be read, or the run failed or was given up.
        """

        def record(made: Path) -> None:
            file, graph = self._read(point.graph)
            spec = replace(point.spec, graph=str(file.path), record=str(made))
            execute(spec, Progress(quiet=True), graph=graph, most_cycles=most_cycles)
            write_sealed(made / _POINT, {"inputs": point.inputs(), "digest": _digest(Record(made))})

        self._points.make(point.digest, record)

    def clear(self, point: SweepPoint) -> None:
        """Remove the leftovers of an interrupted `make`, unless a process is at work on the point."""
        self._points.clear(point.digest)

    def _read(self, graph: GraphSpec | GraphFile) -> tuple[GraphFile, Graph]:
        """Return the file of a graph, and the graph; a generated one is generated if it is missing."""
        if isinstance(graph, GraphFile):
            return graph, _read(graph, "has changed since the study was read")
        return self._kept_graph(graph.identity(), graph.generate)

    def keep(self, graph: Graph) -> GraphFile:
        """Return the file of a graph in the folder, written if it is missing; vertices are numbered from 0 there."""
        return self._kept_graph({"digest": graph_digest(graph)}, lambda: graph)[0]

    def _kept_graph(self, inputs: dict[str, Any], make: Callable[[], Graph]) -> tuple[GraphFile, Graph]:
        """Return the file of a graph in the folder, and the graph; it is made if it is missing."""
        name = measurement_digest(inputs)

        def generate(folder: Path) -> None:
            folder.mkdir()
            path = folder / f"{name}.npz"
            write_graph(make(), path)
            write_sealed(folder / _GRAPH, {"inputs": inputs, "digest": GraphFile.of(path).digest})

        folder = self._graphs.make(name, generate)
        with _advising("remove the graph's folder to generate it again"):
            digest = _kept(folder, _GRAPH, inputs)
            file = GraphFile.of(folder / f"{name}.npz", follow=False)
            return file, _read(replace(file, digest=digest), DAMAGED)


@contextmanager
def _advising(advice: str) -> Iterator[None]:
    """Add an advice to an `InputError` in the block."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error.cause}: {advice}", path=error.path) from None


def _kept(folder: Path, name: str, inputs: dict[str, Any]) -> str:
    """Return the digest that a folder's document has of what the folder holds.

    Raises
    ------
    InputError
        The folder is a link, or its document is damaged, or is that of other inputs.
    """
    path = folder / name
    if folder.is_symlink():
        raise InputError("is a link, which is not followed here", path=folder)
    try:
        return str(read_stored(path, inputs, otherwise="has other inputs").get("digest"))
    except FileNotFoundError:
        raise InputError("is not there", path=path) from None


def _digest(record: Record) -> str:
    """Return the digest of a record's document, which has those of its tables."""
    return str(sealed(record.document)[SEAL])


# Successive points of a sweep often have the same graph.
@lru_cache(maxsize=1)
def _read(file: GraphFile, otherwise: str) -> Graph:
    """Return the graph in a file; raise an `InputError` with a cause if its contents are others than they were."""
    return file.generate(otherwise=otherwise)


_one_at_a_time = threading.Lock()
"""Lock for threads of a cluster's worker: runs are measured one at a time."""


LOST = "takes more cycles than it may"
"""Reason of a point that was given up, see `Budget`."""


@dataclass(kw_only=True)
class Budget:
    """Limits of points that are made in their order.

    Parameters
    ----------
    until : float
        Moment of `time.monotonic` at which no further point is begun, and those under way are given up, once there is a
        result.
    cycles : dict of str to int
        Cycles, those of the host included, after which a point is given up, by its digest. Those of points that have
        not begun may be changed.
    """

    until: float
    cycles: dict[str, int] = field(default_factory=dict)


def make_point(point: SweepPoint, *, folder: Path, sources: str, budget: Budget | None = None) -> str:
    """Make a point if it is missing, in a worker process or in this one.

    Parameters
    ----------
    point : SweepPoint
        The point.
    folder : Path
        Folder of the sweep.
    sources : str
        Digest of the sources of the process that runs the sweep.
    budget : Budget, optional
        Limits of the points.

    Returns
    -------
    str
        The reason of a failure, in one line; empty if the point is complete.

    Raises
    ------
    SimulationError
        The sources of this process differ from those of the process that runs the sweep.
    """
    if sources != sources_digest():
        raise SimulationError("this process and the one that works for it have different versions of the program")
    most = None if budget is None else budget.cycles.get(point.digest)
    own = point.spec.cycle_limit
    with _one_at_a_time:
        try:
            SweepFolder(folder).make(point, most_cycles=most)
        except CycleLimitError as error:
            return LOST if most is not None and (own is None or most < own) else str(error)
        except (InputError, SimulationError) as error:
            return str(error)
        except MemoryError:
            return "not enough memory"
        except OSError as error:
            return f"{error.filename or folder}: {error.strerror or error}"
    return ""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """Outcome of a sweep.

    Parameters
    ----------
    found, made : int
        Number of points that existed, and of those made by this sweep.
    failures : dict of str to str
        Reason of each failure, one line each, by the point's digest.
    """

    found: int
    made: int
    failures: dict[str, str]


def sweep(
    asked: Iterable[SweepPoint],
    folder: SweepFolder,
    *,
    jobs: int,
    scheduler: str | None,
    on_step: OnStep,
    budget: Budget | None = None,
    on_point: Callable[[SweepPoint, str], None] = lambda point, failure: None,
) -> Swept:
    """Make the missing points of a sweep, in parallel.

    Parameters
    ----------
    asked : iterable of SweepPoint
        The points of a study.
    folder : SweepFolder
        The folder of points.
    jobs : int
        Number of local processes.
    scheduler : str or None
        Address of the scheduler of a Dask cluster, whose workers make the points instead.
    on_step : callable
        Progress callback, called for each point.
    budget : Budget, optional
        Limits of the points, which are then made in their order.
    on_point : callable
        Called with each point, first those that exist, and the reason if it failed.

    Raises
    ------
    InputError
        A point that exists is damaged; the scheduler does not answer, or has no workers.
    SimulationError
        No further points can be made. A failed point does not raise: see `Swept.failures`.
    """
    points = list({point.digest: point for point in asked}.values())
    there = {point.digest for point in points if folder.has(point)}
    missing = [point for point in points if point.digest not in there]
    if budget is None:
        missing = _ordered(missing)
    found = done = len(there)
    failures: dict[str, str] = {}
    on_step(found, len(points), f"{found} of them from before" if found else "")
    for point in points:
        if point.digest in there:
            on_point(point, "")

    def on_outcome(point: SweepPoint, failure: str) -> None:
        nonlocal done
        done += 1
        if not failure and not folder.of(point).exists():
            failure = f"the process that made it does not see {folder.path}"
        if failure:
            failures[point.digest] = failure
        on_point(point, failure)
        on_step(done, len(points), f"{point.label}: {failure or 'done'}")

    def on_lost(point: SweepPoint, error: EndedError) -> None:
        on_outcome(point, str(error))

    make = partial(make_point, folder=folder.path, sources=sources_digest(), budget=budget)
    until = None if budget is None else budget.until
    how: dict[str, Any] = {"on_result": on_outcome, "on_lost": on_lost, "until": until}
    try:
        if scheduler is None:
            run_groups([[point] for point in missing], make, jobs=jobs, **how)
        elif missing:
            run_on_cluster(missing, make, address=scheduler, **how)
    finally:
        for point in missing:
            folder.clear(point)
    return Swept(found=found, made=done - found - len(failures), failures=failures)


def _ordered(points: Iterable[SweepPoint]) -> list[SweepPoint]:
    """Return points with the first of each configuration in front.

    This way machines are built in parallel, and each only once.
    """
    seen: set[AcceleratorConfig] = set()
    leaders: list[SweepPoint] = []
    rest: list[SweepPoint] = []
    for point in points:
        (rest if point.spec.configuration in seen else leaders).append(point)
        seen.add(point.spec.configuration)
    return leaders + rest
