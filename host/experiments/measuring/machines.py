"""Requests to measure runs on simulated machines: searches and components."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypedDict

import msgspec
import numpy as np

from cyscc.host.driver.reach import first_uncoloured
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.plan.request import Amount, Count, Measured, Positive, Request
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.memory_map import default_slack
from cyscc.host.output.progress import Progress
from cyscc.host.runs.execution import SOURCE_RULE, Session
from cyscc.host.runs.results import BfsResult, Result, SccResult
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.run import RunSpec
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.coprocessor import Cause
from cyscc.sim.errors import SimulationError

CAUSES = tuple(cause.row.name for cause in reversed(Cause))
"""Causes of the kernels' cycles in the order of reports: by descending priority."""

_LEAST_REACHED = 10
"""Divisor of the number of vertices; a search that reaches fewer has missed the giant component."""


class _Wall(TypedDict):
    simulate: Amount
    peak_memory_bytes: Count


class _MachineResult(TypedDict):
    edges: Count
    clock_hz: Positive
    verified: bool
    wall: _Wall


_Shares = msgspec.defstruct("_Shares", [(cause, Amount) for cause in CAUSES])


class _BfsResult(_MachineResult):
    source: Count
    cycles: Count
    gteps: Amount
    reached: Count
    duplicates: Count
    edges_read: Count
    levels: list[tuple[Count, Count, Count]]
    shares: _Shares  # type: ignore[valid-type]  # its fields are the causes


class _PhaseCycles(TypedDict):
    searches: Count
    intersections: Count


class _SccResult(_MachineResult):
    cycles: _PhaseCycles
    start_seconds: Amount
    components: Count
    trimmed: Count
    iterations: Count


@dataclass(frozen=True, kw_only=True)
class MachineRequest(Request):
    """A run to measure on a simulated machine.

    Parameters
    ----------
    graph : GraphSpec or GraphFile
        The graph.
    preset : str
        Preset of the machine.
    memory : str
        Its memory profile.
    """

    algorithm: ClassVar[str]
    """Algorithm of the run."""

    graph: GraphSpec | GraphFile
    preset: str
    memory: str

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.graph.label}, {self.preset}"

    @property
    def spec(self) -> RunSpec:
        """Specification of the run."""
        return RunSpec(
            algorithm=self.algorithm, graph=self.graph.label, config=self.preset, memory=self.memory, threads=1
        )

    @property
    def machine(self) -> AcceleratorConfig:
        """The machine that it runs on."""
        return self.spec.configuration

    def setting(self) -> dict[str, Any]:
        """Return the run, the resolved configuration and memory, and the digest of the sources, as JSON values."""
        return {"rule": SOURCE_RULE, "run": self.spec.varied(), "sources": sources_digest()}

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


@dataclass(frozen=True, kw_only=True)
class BfsRequest(MachineRequest):
    """A search to measure on a simulated machine. The other parameters are those of `MachineRequest`.

    Parameters
    ----------
    source : int, optional
        Where it starts; by default where `SOURCE_RULE` says, and it must reach the giant component.
    """

    algorithm: ClassVar[str] = "bfs"
    kind: ClassVar[Any] = _BfsResult

    source: int | None = None

    @property
    def label(self) -> str:
        """Name in messages; the memories of searches from a given vertex differ."""
        return super().label if self.source is None else f"{super().label}, {self.memory}"

    @property
    def spec(self) -> RunSpec:
        """Specification of the run."""
        return replace(super().spec, source=self.source)

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
        run, config = result.run, result.setting.spec.configuration
        if self.source is None and run.reached * _LEAST_REACHED < result.graph.vertices:
            raise SimulationError(f"the search from vertex {run.source} reached only {run.reached} vertices")
        reached, degrees = run.levels >= 0, result.graph.out_degrees()
        levels = len(run.level_records)  # the last one may have nothing but vertices that were pushed twice
        vertices = np.bincount(run.levels[reached], minlength=levels)
        edges = np.bincount(run.levels[reached], degrees[reached], minlength=levels)
        causes = result.statistics["causes"]["bfs"]
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
            "shares": cause_shares(causes, kernels=config.total_bfs_kernels, cycles=run.cycles),
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['gteps']:.3f} GTEPS, {result['cycles']:,} cycles, {result['wall']['simulate']:.1f} s"


@dataclass(frozen=True, kw_only=True)
class SccRequest(MachineRequest):
    """A run to measure that finds components on a simulated machine. The parameters are those of `MachineRequest`."""

    algorithm: ClassVar[str] = "scc"
    kind: ClassVar[Any] = _SccResult

    @property
    def bytes(self) -> int:
        """Approximate peak memory: graph and transpose, twice each, and the verification."""
        return 20 * self.graph.edges + 200 * self.graph.vertices + (400 << 20)

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


def cause_shares(causes: Mapping[str, int], *, kernels: int, cycles: int) -> dict[str, float]:
    """Return the share of each cause in the kernels' cycles.

    Parameters
    ----------
    causes : mapping of str to int
        Kernel cycles by cause.
    kernels : int
        Number of kernels.
    cycles : int
        Cycles of the instructions, per kernel.

    Returns
    -------
    dict of str to float
        Shares in the order of `CAUSES`; they add up to 1.

    Raises
    ------
    SimulationError
        The counts do not add up to the kernels' cycles.
    """
    if sum(causes.values()) != kernels * cycles or min(causes.values()) < 0:
        raise SimulationError(
            f"the cycles of {kernels} kernels by cause do not add up to {cycles} each: {dict(causes)}"
        )
    return {cause: causes[cause] / (kernels * cycles) for cause in CAUSES}
