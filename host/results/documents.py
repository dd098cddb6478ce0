"""Results for programs: JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from host.algorithms.driver import Search
from host.algorithms.kosaraju import ComponentRun, Iteration
from host.algorithms.oracle import Checked
from host.algorithms.search import BfsRun
from host.graph.csr import Graph
from host.output import STANDARD_OUTPUT, open_output, show
from host.results.version import identity
from host.runs.specification import RunSpec

__all__ = ["Setting", "Wall", "bfs_document", "input_name", "publish", "scc_document", "write_json"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What ran where.

    Parameters
    ----------
    spec : RunSpec
        The run.
    vertices, edges : int
        Size of the graph, as read.
    dropped_edges : int or None
        Edges that were dropped before it was placed, None where none were to be.
    clock_hz : float
        Clock of the coprocessor in hertz.
    uploaded_bytes : int
        Bytes of the graph, in every direction needed, in coprocessor memory.
    """

    spec: RunSpec
    vertices: int
    edges: int
    dropped_edges: int | None = None
    clock_hz: float
    uploaded_bytes: int

    def machine_document(self) -> dict[str, Any]:
        """Return the machine that ran as a JSON document."""
        spec = self.spec
        return {
            "config": spec.config_name,
            "configuration": asdict(spec.configuration),
            "memory": spec.memory_name,
            "memory_profile": spec.profile.describe(),
            "set": spec.overrides.values(),
            "executor": spec.executor,
            "threads": spec.threads,
            "clock_hz": self.clock_hz,
        }

    def seconds(self, cycles: int) -> float:
        """Return the simulated time of a number of cycles."""
        return cycles / self.clock_hz

    def gteps(self, edges: int, cycles: int) -> float:
        """Return 10**9 traversed edges per simulated second, 0 when no cycle was needed."""
        return edges / self.seconds(cycles) / 1e9 if cycles else 0.0


@dataclass(frozen=True, kw_only=True)
class Wall:
    """Real time that the run took, in seconds, never mixed with simulated time.

    Parameters
    ----------
    load : float
        Reading the graph, turning and trimming it, placing it in coprocessor memory.
    build : float
        Building the executor, next to nothing when it was built before.
    simulate : float
        Simulating, the host's part of the iteration included.
    record : float
        Writing the record, what was not written while simulating; 0 where there is none.
    verify : float
        Checking the result.
    simulated_cycles : int
        Cycles simulated, those of runs that had to be restarted included.
    peak_memory_bytes : int
        Largest resident size of the process.
    """

    load: float
    build: float
    simulate: float
    record: float
    verify: float
    simulated_cycles: int
    peak_memory_bytes: int

    @property
    def cycles_per_second(self) -> float:
        """Simulated cycles per second of real time."""
        return self.simulated_cycles / self.simulate if self.simulate else 0.0


def write_json(path: str, document: dict[str, Any]) -> None:
    """Write a document as JSON.

    Raises
    ------
    InputError
        The file could not be written.
    """
    with open_output(path) as file:
        file.write(json.dumps(document, indent=2).encode() + b"\n")


def publish(document: dict[str, Any], text: str, *, path: str | None, quiet: bool) -> None:
    """Write a document as JSON if there is a file for it, and print its text unless standard output takes the former.

    Raises
    ------
    InputError
        The file could not be written.
    """
    if path is not None:
        write_json(path, document)
    if not quiet and path != STANDARD_OUTPUT:
        show(text)


def _common(run: ComponentRun | BfsRun, setting: Setting, wall: Wall, checked: Checked | None) -> dict[str, Any]:
    """Return what every document holds, the total of the cycles left out."""
    return {
        **identity(),
        "graph": {
            "file": setting.spec.graph,
            "vertices": setting.vertices,
            "edges": setting.edges,
            "dropped_edges": setting.dropped_edges,
        },
        **setting.machine_document(),
        "options": setting.spec.deciding(),
        "uploaded_bytes": setting.uploaded_bytes,
        "seconds": setting.seconds(run.cycles),
        "edges_traversed": run.edges_traversed,
        "gteps": setting.gteps(run.edges_traversed, run.cycles),
        "verified": None if checked is None else True,
        "checked": None if checked is None else asdict(checked),
        "wall": {**asdict(wall), "cycles_per_second": wall.cycles_per_second},
    }


def input_name(graph: Graph, vertex: int) -> int:
    """Return what the input calls a vertex."""
    return int(graph.original(np.array([vertex]))[0])


def _search(search: Search | None) -> dict[str, Any] | None:
    if search is None:
        return None
    return {"entries": search.pushed, "cycles": search.cycles, "levels": [level._asdict() for level in search.levels]}


def _iteration(iteration: Iteration | None, graph: Graph) -> dict[str, Any] | None:
    if iteration is None:
        return None
    return {
        "number": iteration.number,
        "start": input_name(graph, iteration.forward.source),
        "cycles": iteration.cycles,
        "forward": _search(iteration.forward),
        "backward": _search(iteration.backward),
        "intersection": iteration.intersection,
    }


def scc_document(
    run: ComponentRun,
    setting: Setting,
    wall: Wall,
    *,
    graph: Graph,
    largest: int,
    checked: Checked | None,
    statistics: dict[str, Any],
) -> dict[str, Any]:
    """Return the result of `cyscc scc` as a JSON document.

    Parameters
    ----------
    run : ComponentRun
        What was found and what it took.
    setting : Setting
        What ran where.
    wall : Wall
        Real time.
    graph : Graph
        The graph, for the ids of the input.
    largest : int
        Vertices of the largest component.
    checked : Checked or None
        What the result was checked by, and found right; None when it was not checked.
    statistics : dict
        Counters of the hardware and the memory.
    """
    return {
        **_common(run, setting, wall, checked),
        "components": {"count": run.components, "largest": largest},
        "trimmed": run.trimmed,
        "iterations": run.iterations,
        "retries": run.retries,
        "cycles": {
            "total": run.cycles,
            "forward": run.forward.cycles,
            "backward": run.backward.cycles,
            "intersection": run.intersection_cycles,
        },
        "forward": asdict(run.forward),
        "backward": asdict(run.backward),
        "intersection": {"runs": run.intersections, "cycles": run.intersection_cycles},
        "longest_iteration": _iteration(run.longest, graph),
        "statistics": statistics,
    }


def bfs_document(
    run: BfsRun,
    setting: Setting,
    wall: Wall,
    *,
    graph: Graph,
    checked: Checked | None,
    statistics: dict[str, Any],
) -> dict[str, Any]:
    """Return the result of `cyscc bfs` as a JSON document. The parameters are those of `scc_document`."""
    return {
        **_common(run, setting, wall, checked),
        "source": input_name(graph, run.source),
        "reached": run.reached,
        "levels": [level._asdict() for level in run.level_records],
        "duplicates": run.duplicates,
        "retries": run.retries,
        "cycles": {"total": run.cycles},
        "statistics": statistics,
    }
