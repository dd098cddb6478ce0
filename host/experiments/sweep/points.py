"""Points of a sweep: recorded runs in a folder, each named by the digest of its inputs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
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
