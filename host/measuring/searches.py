"""Breadth-first searches on simulated machines, measured."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from host.algorithms.oracle import check_graphs, check_stray_writes
from host.algorithms.reference import check_levels
from host.algorithms.search import BfsRun, breadth_first_search
from host.graph.csr import Graph
from host.graph.memory_map import PlacedGraph, default_slack
from host.measuring.graphs import SOURCE_RULE, GraphSpec, source_vertex
from host.measuring.requests import Measured, Request
from host.measuring.setting import peak_memory
from host.sources import sources_digest
from sim.configuration import PRESETS
from sim.coprocessor import Cause
from sim.errors import SimulationError
from sim.memory import parse_profile

__all__ = ["CAUSES", "BfsRequest", "MachineRequest", "cause_shares"]

CAUSES = tuple(cause.row.name for cause in reversed(Cause))
"""Where a kernel's cycles go, in the order of reports: the one that counts before all others first."""

_LEAST_REACHED = 10
"""A search that reaches less than this part of the vertices missed the giant component."""


@dataclass(frozen=True, kw_only=True)
class MachineRequest(Request):
    """Something to be measured on a simulated machine.

    Parameters
    ----------
    graph : GraphSpec
        The graph.
    preset : str
        The machine.
    memory : str
        Its memory profile.
    """

    graph: GraphSpec
    preset: str
    memory: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.graph.label}, {self.preset}"

    @property
    def machine(self) -> tuple[str, str]:
        """Preset and memory profile of the machine that it runs on."""
        return self.preset, self.memory

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides: preset and memory profile as they are, and the sources."""
        return {
            "preset": asdict(PRESETS[self.preset]),
            "memory": parse_profile(self.memory).describe(),
            "sources": sources_digest(),
        }


@dataclass(frozen=True, kw_only=True)
class BfsRequest(MachineRequest):
    """A search to be measured. The parameters are those of `MachineRequest`."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about: generating the graph is what takes most."""
        return 12 * self.graph.edges + 100 * self.graph.vertices + (400 << 20)

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides, also where it starts."""
        return {"source": SOURCE_RULE, **super().setting()}

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Search it.

        Returns
        -------
        dict
            ``source``, ``cycles``, ``edges``, ``gteps``, ``reached``, ``duplicates``, ``levels`` (their number),
            ``level_records`` (frontier, pushed and cycles of each), ``shares``, ``clock_hz``, ``verified`` and ``wall``
            (seconds of the simulation, the process's largest size in bytes).

        Raises
        ------
        SimulationError
            The simulation failed, its result is wrong, or the search missed the giant component.
        """
        run, shares, clock, seconds = _search(graph, self, verify=verify)
        if run.reached * _LEAST_REACHED < graph.vertices:
            raise SimulationError(f"the search from vertex {run.source} reached only {run.reached} vertices")
        if verify and (difference := check_levels(run.levels, graph, run.source)) is not None:
            raise SimulationError(f"wrong result: {difference}")
        return {
            "source": run.source,
            "cycles": run.cycles,
            "edges": run.edges_traversed,
            "gteps": run.edges_traversed * clock / run.cycles / 1e9,
            "reached": run.reached,
            "duplicates": run.duplicates,
            "levels": len(run.level_records),
            "level_records": [[level.frontier, level.pushed, level.cycles] for level in run.level_records],
            "shares": shares,
            "clock_hz": clock,
            "verified": verify,
            "wall": {"simulate": seconds, "peak_memory_bytes": peak_memory()},
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{result['gteps']:.3f} GTEPS, {result['cycles']:,} cycles, {result['wall']['simulate']:.1f} s"


def cause_shares(causes: Mapping[str, int], *, kernels: int, cycles: int) -> dict[str, float]:
    """Return the share of the kernels' cycles by cause.

    Parameters
    ----------
    causes : mapping of str to int
        Kernel cycles by cause.
    kernels : int
        Kernels that were counted.
    cycles : int
        Cycles of the instructions.

    Returns
    -------
    dict of str to float
        By `CAUSES`; they add up to 1.

    Raises
    ------
    SimulationError
        The counts do not add up.
    """
    if sum(causes.values()) != kernels * cycles or min(causes.values()) < 0:
        raise SimulationError(
            f"the cycles of {kernels} kernels by cause do not add up to {cycles} each: {dict(causes)}"
        )
    return {cause: causes[cause] / (kernels * cycles) for cause in CAUSES}


def _search(graph: Graph, request: BfsRequest, *, verify: bool) -> tuple[BfsRun, dict[str, float], float, float]:
    """Search; return also shares of cycles, clock in hertz and the wall time of the simulation."""
    # Imported late: the machine is what takes long to import.
    from sim.machine import create_machine

    slack = default_slack(graph.vertices)
    source = source_vertex(graph)
    config = PRESETS[request.preset]
    while True:
        machine = create_machine(config, parse_profile(request.memory), threads=1)
        try:
            placed = PlacedGraph.place(machine, graph)
            begin = time.perf_counter()
            run = breadth_first_search(machine, placed, source, slack=slack)
            seconds = time.perf_counter() - begin
            if run.retries:
                # Its counters hold the cycles of restarted searches too: queues that are large enough from the start
                # make a clean measurement.
                slack <<= run.retries
                continue
            check_stray_writes(machine)
            if verify:
                check_graphs(machine, (placed,))
            causes = machine.statistics()["causes"]["bfs"]
            shares = cause_shares(causes, kernels=config.total_bfs_kernels, cycles=run.cycles)
            return run, shares, machine.clock, seconds
        finally:
            machine.close()
