"""Requests of runs on simulated machines: searches and components that are measured, and points, which are recorded."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypedDict

import msgspec
import numpy as np

from cyscc.host.driver.reach import first_uncoloured
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.plan.plan import LostError
from cyscc.host.experiments.plan.request import Amount, Count, Measured, Positive, Request, graph_of
from cyscc.host.experiments.plan.store import Store
from cyscc.host.graph.csr import Graph, graph_digest
from cyscc.host.graph.formats import write_graph
from cyscc.host.graph.memory_map import default_slack
from cyscc.host.output.documents import DAMAGED, SEAL, sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress
from cyscc.host.record.document import RECORD, RECORD_SCHEMA
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES
from cyscc.host.runs.execution import SOURCE_RULE, Session
from cyscc.host.runs.results import BfsResult, Result, SccResult
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.run import RunSpec
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.coprocessor import Cause
from cyscc.sim.errors import CycleLimitError, SimulationError
from cyscc.sim.observation.causes import CAUSE_NAMES

KERNEL_CAUSES = tuple(cause.row.name for cause in reversed(Cause))
"""Causes of the kernels' cycles in the order of reports: by descending priority."""

_LEAST_REACHED = 10
"""Divisor of the number of vertices; a search that reaches fewer has missed the giant component."""


class _MachineResult(TypedDict):
    edges: Count
    clock_hz: Positive
    verified: bool
    wall: dict[str, Amount]


_Shares = msgspec.defstruct("_Shares", [(cause, Amount) for cause in KERNEL_CAUSES])


class _BfsResult(_MachineResult):
    source: Count
    cycles: Count
    gteps: Amount
    reached: Count
    duplicates: Count
    edges_read: Count
    levels: list[tuple[Count, Count, Count]]
    shares: _Shares  # type: ignore[valid-type]  # its fields are the causes


class _SccResult(_MachineResult):
    cycles: dict[str, Count]
    start_seconds: Amount
    components: Count
    trimmed: Count
    iterations: Count


@dataclass(frozen=True, kw_only=True)
class RunRequest(Request):
    """A request for a run on a simulated machine.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    spec : RunSpec
        Specification of the run; a search without a source uses `SOURCE_RULE`.
    """

    graph: GraphSpec | GraphFile
    spec: RunSpec

    def __hash__(self) -> int:
        return hash(self.digest)  # overrides of the specification have no hash

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
        asked = {"measurement": type(self).__name__, "graph": self.graph.identity(), "run": self.spec.varied()}
        return {**asked, **self.setting()}

    def setting(self) -> dict[str, Any]:
        """Return the rule of the source and the digest of the sources, as JSON values."""
        return {"rule": SOURCE_RULE, "sources": sources_digest()}


def shares_of(causes: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each cause in the cycles of kernels; nothing of none."""
    total = sum(causes.values())
    return {name: cycles / total for name, cycles in causes.items() if total}


class MachineRequest(RunRequest):
    """A run to measure."""

    @classmethod
    def of(cls, graph: GraphSpec | GraphFile, preset: str, memory: str, *, source: int | None = None) -> Self:
        """Return the run on a preset with a memory profile; by default a search must reach the giant component."""
        spec = RunSpec(
            algorithm=cls.algorithm, graph=graph.label, config=preset, memory=memory, source=source, threads=1
        )
        return cls(graph=graph, spec=spec)

    algorithm: ClassVar[str]
    """Algorithm of the run."""

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.graph.label}, {self.spec.config_name}"

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Execute the run and return its measurements.

        Returns
        -------
        dict
            The result of `measured`, and ``edges``, ``clock_hz``, ``verified`` and ``wall`` (seconds of the simulation,
            peak memory of the process in bytes).

        Raises
        ------
        SimulationError
            The simulation failed, or its result is wrong.
        """
        result = self._executed(replace(self.spec, verify=verify), graph)
        return {
            **self.measured(result),
            "edges": result.run.edges_traversed,
            "clock_hz": result.setting.clock_hz,
            "verified": result.verified,
            "wall": {"simulate": result.wall.simulate, "peak_memory_bytes": result.wall.peak_memory_bytes},
        }

    def _executed(self, spec: RunSpec, graph: Graph) -> Result:
        return Session(spec, Progress(quiet=True), graph).execute()

    @abstractmethod
    def measured(self, result: Any) -> Measured:
        """Return the measurements of a result."""


class BfsRequest(MachineRequest):
    """A search to measure on a simulated machine."""

    algorithm: ClassVar[str] = "bfs"
    kind: ClassVar[Any] = _BfsResult

    @property
    def label(self) -> str:
        """Name in messages; the memories of searches from a given vertex differ."""
        return super().label if self.spec.source is None else f"{super().label}, {self.spec.memory_name}"

    @property
    def bytes(self) -> int:
        """Approximate peak memory; making the graph takes the most."""
        return 12 * self.graph.edges + 100 * self.graph.vertices + (400 << 20)

    def _executed(self, spec: RunSpec, graph: Graph) -> Result:
        # A run's counters include the cycles of restarted searches: queues that are large enough from the start keep
        # the measurement clean.
        while (result := super()._executed(spec, graph)).run.retries:
            slack = default_slack(graph.vertices) if spec.queue_slack is None else spec.queue_slack
            spec = replace(spec, queue_slack=slack << result.run.retries)
        return result

    def measured(self, result: BfsResult) -> Measured:
        """Return the measurements of a search.

        Returns
        -------
        dict
            ``source``, ``cycles``, ``gteps``, ``reached``, ``duplicates``, ``edges_read`` (those of vertices that were
            pushed twice count twice), ``shares``, and ``levels``: for each its cycles, the vertices at its distance,
            and the edges that leave them.

        Raises
        ------
        SimulationError
            The search missed the giant component.
        """
        run = result.run
        if self.spec.source is None and run.reached * _LEAST_REACHED < result.graph.vertices:
            raise SimulationError(f"the search from vertex {run.source} reached only {run.reached} vertices")
        reached, degrees = run.levels >= 0, result.graph.out_degrees()
        levels = len(run.level_records)  # the last one may have nothing but vertices that were pushed twice
        vertices = np.bincount(run.levels[reached], minlength=levels)
        edges = np.bincount(run.levels[reached], degrees[reached], minlength=levels)
        shares = shares_of(result.statistics["causes"]["bfs"])
        return {
            "source": run.source,
            "cycles": run.cycles,
            "gteps": result.gteps,
            "reached": run.reached,
            "duplicates": run.duplicates,
            "edges_read": result.statistics["counters"]["bfs"]["items"],
            "levels": [
                [level.cycles, int(found), int(leaving)]
                for level, found, leaving in zip(run.level_records, vertices, edges, strict=False)  # if not verified
            ],
            "shares": {cause: shares[cause] for cause in KERNEL_CAUSES},
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['gteps']:.3f} GTEPS, {result['cycles']:,} cycles, {result['wall']['simulate']:.1f} s"


class SccRequest(MachineRequest):
    """A run to measure that finds components on a simulated machine."""

    algorithm: ClassVar[str] = "scc"
    kind: ClassVar[Any] = _SccResult

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Find the components and return the measurements."""
        first_uncoloured(np.ones(1, np.uint32), 0)  # compile it before it is timed
        return super().measure(graph, verify=verify)

    def measured(self, result: SccResult) -> Measured:
        """Return the measurements of a run that finds components.

        Returns
        -------
        dict
            ``cycles`` by phase (``searches``, ``intersections``), ``start_seconds`` (processor time of the host's
            searches for starting vertices), ``components``, ``trimmed`` and ``iterations``.
        """
        run = result.run
        return {
            "cycles": {
                "searches": run.forward.cycles + run.backward.cycles,
                "intersections": run.intersection_cycles,
            },
            "start_seconds": run.start_seconds,
            "components": run.components,
            "trimmed": run.trimmed,
            "iterations": run.iterations,
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{sum(result['cycles'].values()):,} cycles, {result['wall']['simulate']:.1f} s"


_FILE = "graph.npz"


class _FileResult(TypedDict):
    digest: str


@dataclass(frozen=True, kw_only=True)
class FileRequest(Request):
    """A request for a file of a graph that is in none, in which vertices are numbered from 0.

    Parameters
    ----------
    given : Graph
        The graph.
    content : str
        The digest of its arrays.
    """

    kind: ClassVar[Any] = _FileResult

    given: Graph = field(compare=False)
    content: str

    @property
    def label(self) -> str:
        """Name in messages."""
        return "graph"

    def setting(self) -> dict[str, Any]:
        """Return nothing: the file depends on the graph only."""
        return {}

    def make(self, folder: Path, store: Store, *, verify: bool, most: int | None) -> Measured:
        """Write the file, and return its digest."""
        write_graph(self.given, folder / _FILE)
        return {"digest": GraphFile.of(folder / _FILE).digest}

    def check_files(self, folder: Path, result: Measured) -> None:
        """Check that the file is that of the result."""
        if GraphFile.of(folder / _FILE, follow=False).digest != result["digest"]:
            raise InputError(DAMAGED, path=folder / _FILE)


def stored_graph(graph: Graph, store: Store) -> GraphFile:
    """Return the file of a graph in a store, where it is written if it is missing or damaged."""
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


class PointRequest(RunRequest):
    """A run to be recorded, whose result is verified.

    Its result has the ``row`` of numbers of a sweep's table, ``cycles``, those of the host included, and the digest of
    the ``record``, which is beside it.
    """

    kind: ClassVar[Any] = _PointResult

    def setting(self) -> dict[str, Any]:
        """Return also the version of records."""
        return {**super().setting(), "record": RECORD_SCHEMA}

    def make(self, folder: Path, store: Store, *, verify: bool, most: int | None) -> Measured:
        """Execute and record the run, and return its numbers."""
        graph = graph_of(self.graph)
        file = self.graph if isinstance(self.graph, GraphFile) else stored_graph(graph, store)
        spec = replace(self.spec, graph=str(file.path), record=str(folder / RECORD))
        own = spec.cycle_limit
        try:
            Session(spec, Progress(quiet=True), graph, most_cycles=most).execute()
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
        if module != "intersection" or document["command"] == "scc":
            shares = shares_of(document["causes"].get(module, {}))
            row |= {f"{module}.{cause}": shares[cause] for cause in CAUSE_NAMES if shares}
    return row
