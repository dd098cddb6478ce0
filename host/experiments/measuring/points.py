"""Requests of recorded runs, the points of sweeps, and of the files of graphs that they read."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import msgspec

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.plan.plan import LostError
from cyscc.host.experiments.plan.request import Amount, Count, Measured, Request, graph_of
from cyscc.host.experiments.plan.store import Store
from cyscc.host.graph.csr import Graph, graph_digest
from cyscc.host.graph.formats import write_graph
from cyscc.host.output.documents import DAMAGED, SEAL, sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress
from cyscc.host.record.document import RECORD, RECORD_SCHEMA
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES
from cyscc.host.runs.execution import SOURCE_RULE, Session
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.run import RunSpec
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import CycleLimitError
from cyscc.sim.observation.causes import CAUSES

_FILE = "graph.npz"


class _FileResult(TypedDict):
    digest: str


@dataclass(frozen=True, kw_only=True)
class FileRequest(Request):
    """A request for a file of a graph that is in none, in which vertices are numbered from 0.

    Parameters
    ----------
    graph : GraphSpec or None
        The graph, if it is generated.
    given : Graph or None
        The graph, if it is in memory.
    content : str
        The digest of its arrays.
    """

    kind: ClassVar[Any] = _FileResult

    graph: GraphSpec | None = None
    given: Graph | None = field(default=None, compare=False)
    content: str = ""

    @property
    def label(self) -> str:
        """Name in messages."""
        return "graph"

    def setting(self) -> dict[str, Any]:
        """Return nothing: the file depends on the graph only."""
        return {}

    def make(self, folder: Path, store: Store, *, verify: bool, most: int | None) -> Measured:
        """Write the file, and return its digest."""
        graph = self.given if self.graph is None else self.graph.generate()
        assert graph is not None, "a graph is asked for"
        write_graph(graph, folder / _FILE)
        return {"digest": GraphFile.of(folder / _FILE).digest}

    def check_files(self, folder: Path, result: Measured) -> None:
        """Check that the file is that of the result."""
        if GraphFile.of(folder / _FILE, follow=False).digest != result["digest"]:
            raise InputError(DAMAGED, path=folder / _FILE)


def stored_graph(graph: GraphSpec | Graph, store: Store) -> GraphFile:
    """Return the file of a graph in a store, where it is written if it is missing or damaged."""
    if isinstance(graph, GraphSpec):
        request = FileRequest(graph=graph)
    else:
        request = FileRequest(given=graph, content=graph_digest(graph))
    digest = (store.find(request) or store.make(request))["digest"]
    return replace(GraphFile.of(store.folder_of(request) / _FILE, follow=False), digest=digest)


class _PointResult(TypedDict):
    record: str
    cycles: Count
    row: dict[str, Count | Amount | None]


class _Row(TypedDict):
    vertices: Count
    edges: Count
    cycles: Count
    seconds: Amount
    gteps: Amount


@dataclass(frozen=True, kw_only=True)
class PointRequest(Request):
    """A run to be recorded, whose result is verified.

    Its result has the ``row`` of numbers of a sweep's table, ``cycles``, those of the host included, and the digest of
    the ``record``, which is beside it.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    spec : RunSpec
        Specification of the run; a search without a source uses `SOURCE_RULE`.
    """

    kind: ClassVar[Any] = _PointResult

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

    @property
    def machine(self) -> AcceleratorConfig:
        """The machine that it runs on."""
        return self.spec.configuration

    def inputs(self) -> dict[str, Any]:
        """Return all inputs of the result as JSON values."""
        return {"measurement": "point", "graph": self.graph.identity(), "run": self.spec.varied(), **self.setting()}

    def setting(self) -> dict[str, Any]:
        """Return the rule of the source, the digest of the sources and the version of records, as JSON values."""
        return {"rule": SOURCE_RULE, "sources": sources_digest(), "record": RECORD_SCHEMA}

    def make(self, folder: Path, store: Store, *, verify: bool, most: int | None) -> Measured:
        """Execute and record the run, and return its numbers."""
        file = self.graph if isinstance(self.graph, GraphFile) else stored_graph(self.graph, store)
        spec = replace(self.spec, graph=str(file.path), record=str(folder / RECORD))
        own = spec.cycle_limit
        try:
            Session(spec, Progress(quiet=True), graph_of(file), most_cycles=most).execute()
        except CycleLimitError as error:
            if most is not None and (own is None or most < own):
                raise LostError("takes more cycles than it may") from error
            raise
        record = Record(folder / RECORD)
        return {"record": _digest(record), "cycles": record.cycles, "row": _row(record), "verified": True}

    def check(self, result: Measured) -> None:
        """Check that a stored result is one of a run: it has the numbers that all have."""
        super().check(result)
        msgspec.convert(result["row"], _Row)

    def check_files(self, folder: Path, result: Measured) -> None:
        """Check that the record is that of the result."""
        if _digest(Record(folder / RECORD)) != result["record"]:
            raise InputError("is the record of another point", path=folder / RECORD)

    def record(self, store: Store) -> Record:
        """Return the record of a complete point in a store."""
        return Record(store.folder_of(self) / RECORD)


def _digest(record: Record) -> str:
    """Return the digest of a record's document, which has those of its tables."""
    return str(sealed(record.document)[SEAL])


def _row(record: Record) -> dict[str, int | float | None]:
    """Return the results in a record, as numbers."""
    document = record.document
    result, run = record.result, document["run"]
    row = {
        "vertices": run["vertices"],
        "edges": run["edges"],
        "source": run["options"].get("source"),
        "cycles": result["cycles"]["total"],
        "seconds": result["seconds"],
        "gteps": result["gteps"],
        "edges_traversed": result["edges_traversed"],
        "retries": result["retries"],
        "wall_seconds": result["wall"]["simulate"],
    }
    if document["command"] == "scc":
        row |= {"components": result["components"]["count"], "iterations": result["iterations"]}
    else:
        row |= {"levels": len(result["levels"]), "reached": result["reached"], "duplicates": result["duplicates"]}
    for module in MODULES:
        cycles = document["causes"].get(module, {})
        total = sum(cycles.values())
        if total and (module != "intersection" or document["command"] == "scc"):
            row |= {f"{module}.{cause.name}": cycles[cause.name] / total for cause in CAUSES}
    return row
