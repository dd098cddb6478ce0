"""Points of a sweep: runs, named by all that their results depend on, found in their folder or made side by side."""

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.formats import read_graph, write_graph
from host.measuring.graphs import GraphFile, GraphSpec
from host.measuring.measurements import OnStep
from host.measuring.schedule import EndedError, run_groups, run_on_cluster
from host.measuring.store import Store, measurement_digest
from host.progress import Progress
from host.record.reader import RECORD_SCHEMA
from host.runs.execution import SOURCE_RULE, execute
from host.runs.specification import RunSpec
from host.sources import sources_digest
from sim.configuration import AcceleratorConfig
from sim.errors import SimulationError

__all__ = ["Point", "SweepFolder", "Swept", "make_point", "sweep"]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A run to be recorded.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    spec : RunSpec
        The run; a search without a source starts by `SOURCE_RULE`.
    """

    graph: GraphSpec | GraphFile
    spec: RunSpec

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.spec.algorithm} of {self.graph.label} on {self.spec.machine_text}"

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about: the graph, for components the transpose too, and the check."""
        return 20 * self.graph.edges + 200 * self.graph.vertices + (400 << 20)

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able."""
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
        """The digest, 24 hexadecimal digits, of everything that its result depends on."""
        return measurement_digest(self.inputs())


_POINT = "point.json"
"""File of a point's folder that says what went into it."""


class SweepFolder:
    """Keeps points and graphs. Several processes, of several sweeps too, may use it at the same time.

    Parameters
    ----------
    path : Path
        The folder, made with its parents.

    Attributes
    ----------
    path : Path

    Raises
    ------
    InputError
        It cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._points, self._graphs = (Store(self.path / name, named=path) for name in ("points", "graphs"))

    def of(self, point: Point) -> Path:
        """Return the folder of a point; it is there when the point is complete."""
        return self._points.folder / point.digest

    def make(self, point: Point) -> None:
        """Make a point, unless it is there; where another process makes it, wait for that.

        Raises
        ------
        InputError, SimulationError
            Its graph cannot be read, or its run fails.
        """

        def record(made: Path) -> None:
            path = point.graph.path if isinstance(point.graph, GraphFile) else self._graph(point.graph)
            execute(replace(point.spec, graph=str(path), record=str(made)), Progress(quiet=True), graph=_read(path))
            (made / _POINT).write_text(json.dumps(point.inputs(), indent=1) + "\n")

        self._points.make(point.digest, record)

    def clear(self, point: Point) -> None:
        """Remove what is left of a point that nobody makes any more."""
        self._points.clear(point.digest)

    def _graph(self, graph: GraphSpec) -> Path:
        """Return the file of a graph, which is generated once."""
        name = f"{measurement_digest(graph.identity())}.npz"
        return self._graphs.make(name, lambda made: write_graph(graph.generate(), made))


# The points of a sweep often have the graph of the one before.
@lru_cache(maxsize=1)
def _read(path: Path) -> Graph:
    return read_graph(str(path))


_one_at_a_time = threading.Lock()
"""A worker of a cluster may have threads; a run is measured with none of them beside it."""


def make_point(point: Point, *, folder: Path, sources: str) -> str:
    """Make a point, unless it is there.

    Parameters
    ----------
    point : Point
        The point.
    folder : Path
        Folder of the sweep.
    sources : str
        Digest of the sources of the process that asks.

    Returns
    -------
    str
        Why it failed, one line; empty if it is complete.

    Raises
    ------
    SimulationError
        This process has read other sources than the one that asks.
    """
    if sources != sources_digest():
        raise SimulationError("this process and the one that works for it have different versions of the program")
    with _one_at_a_time:
        try:
            SweepFolder(folder).make(point)
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
        Points that were there, and those that were made.
    failures : dict of str to str
        Why points failed, one line each, by their digests.
    """

    found: int
    made: int
    failures: dict[str, str]


def sweep(asked: Iterable[Point], folder: SweepFolder, *, jobs: int, scheduler: str | None, on_step: OnStep) -> Swept:
    """Make the points that are not there, side by side.

    Parameters
    ----------
    asked : iterable of Point
        The points of a study.
    folder : SweepFolder
        Where points are kept.
    jobs : int
        Processes of this machine that make points side by side.
    scheduler : str or None
        Address of the scheduler of a Dask cluster, whose workers make them instead.
    on_step : callable
        Told of each point that is there.

    Raises
    ------
    InputError
        There is no such scheduler, or it has no workers.
    SimulationError
        No further point can be made. That a point fails is none of this.
    """
    points = list({point.digest: point for point in asked}.values())
    missing = _ordered([point for point in points if not folder.of(point).exists()])
    found = done = len(points) - len(missing)
    failures: dict[str, str] = {}
    on_step(found, len(points), f"{found} of them from before" if found else "")

    def on_outcome(point: Point, failure: str) -> None:
        nonlocal done
        done += 1
        if not failure and not folder.of(point).exists():
            failure = f"the process that made it does not see {folder.path}"
        if failure:
            failures[point.digest] = failure
        on_step(done, len(points), f"{point.label}: {failure or 'done'}")

    def on_lost(point: Point, error: EndedError) -> None:
        on_outcome(point, str(error))

    make = partial(make_point, folder=folder.path, sources=sources_digest())
    try:
        if scheduler is None:
            run_groups([[point] for point in missing], make, jobs=jobs, on_result=on_outcome, on_lost=on_lost)
        elif missing:
            run_on_cluster(missing, make, address=scheduler, on_result=on_outcome, on_lost=on_lost)
    finally:
        for point in missing:
            folder.clear(point)
    return Swept(found=found, made=len(missing) - len(failures), failures=failures)


def _ordered(points: Iterable[Point]) -> list[Point]:
    """Return points, the first of each configuration in front: machines are built side by side, and each once."""
    seen: set[AcceleratorConfig] = set()
    leaders: list[Point] = []
    rest: list[Point] = []
    for point in points:
        (rest if point.spec.configuration in seen else leaders).append(point)
        seen.add(point.spec.configuration)
    return leaders + rest
