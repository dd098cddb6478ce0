"""Strongly connected components, measured on a simulated machine."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from host.algorithms.components import canonical
from host.algorithms.kosaraju import strong_components
from host.algorithms.oracle import check_graphs, check_stray_writes
from host.algorithms.reach import first_uncoloured
from host.algorithms.reference import check_components
from host.graph.csr import Graph
from host.graph.memory_map import PlacedGraph
from host.graph.trim import trim
from host.measuring.requests import Measured
from host.measuring.searches import MachineRequest
from host.measuring.setting import peak_memory
from sim.configuration import PRESETS
from sim.errors import SimulationError
from sim.memory import parse_profile

__all__ = ["SccRequest"]


@dataclass(frozen=True, kw_only=True)
class SccRequest(MachineRequest):
    """Components to be found by a simulated machine. The parameters are those of `MachineRequest`."""

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about: the graph and its transpose twice, and the check."""
        return 20 * self.graph.edges + 200 * self.graph.vertices + (400 << 20)

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Find the components.

        Returns
        -------
        dict
            ``cycles`` by phase (``searches``, ``intersections``), ``start_seconds`` (the host's own searches for a
            start, processor time), ``components``, ``trimmed``, ``iterations``, ``edges``, ``clock_hz``, ``verified``
            and ``wall`` (seconds of the simulation, the process's largest size in bytes).

        Raises
        ------
        SimulationError
            The simulation failed, or its result is wrong.
        """
        from sim.machine import create_machine

        transpose = graph.transpose()
        trimmed = trim(graph, transpose)
        first_uncoloured(np.ones(1, np.uint32), 0)  # compiled before it is timed
        machine = create_machine(PRESETS[self.preset], parse_profile(self.memory), threads=1)
        try:
            forward = PlacedGraph.place(machine, graph)
            backward = PlacedGraph.place(machine, transpose, name="transpose")
            del transpose
            begin = time.perf_counter()
            run = strong_components(machine, forward, backward, trimmed)
            seconds = time.perf_counter() - begin
            check_stray_writes(machine)
            if verify:
                check_graphs(machine, (forward, backward))
            _check(run.colours, graph, verify=verify)
        finally:
            machine.close()
        return {
            "cycles": {
                "searches": run.forward.cycles + run.backward.cycles,
                "intersections": run.intersection_cycles,
            },
            "start_seconds": run.start_seconds,
            "components": run.components,
            "trimmed": run.trimmed,
            "iterations": run.iterations,
            "edges": run.edges_traversed,
            "clock_hz": machine.clock,
            "verified": verify,
            "wall": {"simulate": seconds, "peak_memory_bytes": peak_memory()},
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{sum(result['cycles'].values()):,} cycles, {result['wall']['simulate']:.1f} s"


def _check(labels: Any, graph: Graph, *, verify: bool) -> None:
    difference = check_components(canonical(labels), graph) if verify else None
    if difference is not None:
        raise SimulationError(f"wrong result: {difference}")
