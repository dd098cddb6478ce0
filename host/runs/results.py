"""Results of runs: answers with the arrays that the machine found."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.answer.answer import Answer, Table
from cyscc.host.driver.components import ComponentRun, Iteration
from cyscc.host.driver.search import BfsRun, Search
from cyscc.host.driver.verification import Checked
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import component_sizes
from cyscc.host.output.files import identity
from cyscc.host.output.text import count_text, graph_text, largest_text
from cyscc.host.record.reader import Record
from cyscc.host.specification.run import Setting

_FIRST_LEVELS = 24
_LAST_LEVELS = 6
"""Levels of a search that are shown, if it has more."""


@dataclass(frozen=True, kw_only=True)
class Wall:
    """Real time of a run in seconds, never mixed with simulated time.

    Parameters
    ----------
    load : float
        Reading, transposing and trimming the graph, and placing it in coprocessor memory.
    build : float
        Building the executor; almost nothing if it is cached.
    simulate : float
        Simulating, including the host's part of the iterations.
    record : float
        Writing the record after the simulation; 0 without a record.
    verify : float
        Checking the result.
    simulated_cycles : int
        Cycles simulated, including restarted attempts.
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


@dataclass(kw_only=True, eq=False, repr=False)
class Result(Answer):
    """Result of a run.

    Parameters
    ----------
    graph : Graph
        The graph as placed on the machine.
    setting : Setting
        Specification, graph size, and machine.
    wall : Wall
        Real time.
    checked : Checked or None
        The checks that the result passed; None if it was not verified.
    statistics : dict
        Counters of the hardware and the memory.
    run : BfsRun or ComponentRun
        Outcome of the algorithm, with its cycles.
    record : Record or None
        The record; None if the run was not recorded.
    """

    graph: Graph
    setting: Setting
    wall: Wall
    checked: Checked | None
    statistics: dict[str, Any]
    run: BfsRun | ComponentRun
    record: Record | None = None
    title: str = field(init=False)

    def __post_init__(self) -> None:
        setting, spec, wall, retries = self.setting, self.setting.spec, self.wall, self.run.retries
        what = "search" if spec.algorithm == "bfs" else "components"
        self.title = f"{what} of {graph_text(spec.graph, setting.vertices, setting.edges)}"
        dropped = setting.dropped_edges
        left = setting.edges - (dropped or 0)
        self.facts = {
            **({} if dropped is None else {"simplified": f"{count_text(dropped, 'edge')} dropped, {left:,} left"}),
            "machine": f"{spec.machine_text}, executor {spec.executor}, {count_text(spec.threads, 'thread')}",
            **self._facts_found(),
            "simulated": f"{_time(self.seconds)} at {setting.clock_hz / 1e6:g} MHz",
            "traversed": f"{count_text(self.run.edges_traversed, 'edge')}, {self.gteps:.3f} GTEPS",
            "verified": "yes" if self.verified else "not checked",
            **({"restarts": f"{retries}, the queues having overflowed"} if retries else {}),
            "wall time": f"load {wall.load:.1f} s, build {wall.build:.1f} s, simulate {wall.simulate:.1f} s "
            f"({wall.cycles_per_second:,.0f} cycles/s), verify {wall.verify:.1f} s",
        }

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON document, as ``--json`` writes it."""
        setting = self.setting
        return {
            **identity(),
            "graph": {
                "file": setting.spec.graph,
                "vertices": setting.vertices,
                "edges": setting.edges,
                "dropped_edges": setting.dropped_edges,
            },
            **setting.machine_document(),
            "options": setting.spec.result_options(),
            "uploaded_bytes": setting.uploaded_bytes,
            "seconds": self.seconds,
            "edges_traversed": self.run.edges_traversed,
            "gteps": self.gteps,
            "verified": True if self.verified else None,
            "checked": None if self.checked is None else asdict(self.checked),
            "wall": {**asdict(self.wall), "cycles_per_second": self.wall.cycles_per_second},
            "retries": self.run.retries,
            **self._found(),
            "statistics": self.statistics,
            **self.fields,
        }

    @property
    def counts(self) -> dict[str, int]:
        """What was found, and in how many steps, by name."""
        raise NotImplementedError

    def _found(self) -> dict[str, Any]:
        """Return the fields of the document specific to the algorithm."""
        raise NotImplementedError

    def _facts_found(self) -> dict[str, str]:
        """Return the facts specific to the algorithm."""
        raise NotImplementedError

    @property
    def cycles(self) -> int:
        """Cycles of all instructions."""
        return self.run.cycles

    @property
    def seconds(self) -> float:
        """Simulated time in seconds."""
        return self.setting.seconds(self.cycles)

    @property
    def gteps(self) -> float:
        """10**9 traversed edges per simulated second."""
        return self.setting.gteps(self.run.edges_traversed, self.cycles)

    @property
    def verified(self) -> bool:
        """Whether the result was verified."""
        return self.checked is not None


@dataclass(kw_only=True, eq=False, repr=False)
class BfsResult(Result):
    """Result of a breadth-first search. Takes the parameters of `Result`.

    Its table `level_records` has a row for each level: entries of the frontier, entries pushed, cycles, and the cycle
    of its start.
    """

    run: BfsRun

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.run.level_records)
        whole = count <= _FIRST_LEVELS + _LAST_LEVELS + 1
        levels = Table(
            title="levels",
            frame=lambda: [{"level": number, **each._asdict()} for number, each in enumerate(self.run.level_records)],
            columns=dict.fromkeys(("level", "frontier", "pushed", "cycles"), "{:,}"),
            rows=None if whole else [*range(_FIRST_LEVELS), *range(count - _LAST_LEVELS, count)],
            most=None,
        )
        self.tables = {"level_records": levels}

    @property
    def levels(self) -> npt.NDArray[np.int32]:
        """Level of each vertex, shape (vertices,), in the order of `Graph.original`; -1 if not reached."""
        return self.run.levels

    @property
    def counts(self) -> dict[str, int]:
        """Vertices reached, and levels."""
        return {"reached": self.run.reached, "levels": len(self.run.level_records)}

    def _found(self) -> dict[str, Any]:
        run = self.run
        return {
            "source": input_name(self.graph, run.source),
            "reached": run.reached,
            "levels": [level._asdict() for level in run.level_records],
            "duplicates": run.duplicates,
            "cycles": {"total": run.cycles},
        }

    def _facts_found(self) -> dict[str, str]:
        run = self.run
        whole = self.setting.spec.configuration.queues_whole_vertices
        chunks = "" if whole else ", chunks after the first included"
        return {
            "source": f"{input_name(self.graph, run.source)}",
            "reached": f"{count_text(run.reached, 'vertex')} in {count_text(int(run.levels.max()) + 1, 'level')}",
            "duplicates": f"{count_text(run.duplicates, 'vertex')} pushed again{chunks}",
            "cycles": f"{run.cycles:,}",
        }


@dataclass(kw_only=True, eq=False, repr=False)
class SccResult(Result):
    """Result of finding strongly connected components.

    Parameters
    ----------
    labels : ndarray of uint32, shape (vertices,)
        Component of each vertex: the first vertex in it.
    **others
        Parameters of `Result`.
    """

    run: ComponentRun
    labels: npt.NDArray[np.uint32]

    @cached_property
    def largest(self) -> int:
        """Vertices of the largest component."""
        return int(component_sizes(self.labels)[1].max())

    @property
    def components(self) -> int:
        """Number of components."""
        return self.run.components

    @property
    def iterations(self) -> int:
        """Iterations after trimming."""
        return self.run.iterations

    @property
    def counts(self) -> dict[str, int]:
        """Components and iterations."""
        return {"components": self.components, "iterations": self.iterations}

    def _found(self) -> dict[str, Any]:
        run = self.run
        return {
            "components": {"count": run.components, "largest": self.largest},
            "trimmed": run.trimmed,
            "iterations": run.iterations,
            "cycles": dict(self._phases()),
            "forward": asdict(run.forward),
            "backward": asdict(run.backward),
            "intersection": {"runs": run.intersections, "cycles": run.intersection_cycles},
            "longest_iteration": _iteration(run.longest, self.graph),
        }

    def _phases(self) -> list[tuple[str, int]]:
        run = self.run
        return [
            ("forward", run.forward.cycles),
            ("backward", run.backward.cycles),
            ("intersection", run.intersection_cycles),
            ("total", run.cycles),
        ]

    def _facts_found(self) -> dict[str, str]:
        run = self.run
        width = len(f"{run.cycles:,}")
        return {
            "components": largest_text(run.components, self.largest),
            "trimmed": count_text(run.trimmed, "vertex"),
            "iterations": f"{run.iterations:,}",
            **{name: f"{n:>{width},} cycles  {n / max(run.cycles, 1):>6.1%}" for name, n in self._phases()},
        }


def input_name(graph: Graph, vertex: int) -> int:
    """Return the id of a vertex in the input."""
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


def _time(seconds: float) -> str:
    """Format a simulated time in a suitable unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
