"""A search on one of the simulators of the hardware, measured in a process of its own; fast ones get larger graphs."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import msgspec
import numpy as np

from cyscc.host.driver.search import breadth_first_search
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.plan.request import Amount, Count, Divisor, Measured, Positive, Request
from cyscc.host.graph.available_memory import peak_memory
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.graph.reference import check_levels
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.sources import digest_beside, sources_digest
from cyscc.sim.caching.folder import code_directory
from cyscc.sim.configuration import load_config
from cyscc.sim.coprocessor import Register
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.base import Executor
from cyscc.sim.executors.comparison.contenders import CONTENDERS, Stopwatch, executor_maker, tool_versions
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import Memory, parse_profile
from cyscc.sim.processors import available_cores

_SEED = 1

ROOT = Path(__file__).resolve().parents[3]
"""Folder of the sources."""


def revision_of(root: Path) -> str | None:
    """Return the Git revision of a folder, with ``-dirty`` appended if there are uncommitted changes.

    None if the folder is not the root of a Git repository, or Git is not installed.
    """
    try:
        command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 and (root / ".git").exists() else None


def describe_environment() -> dict[str, Any]:
    """Return machine, versions of the tools and revision of the sources, as JSON values."""
    return {
        "machine": {"processor": processor_name(), "cores": available_cores(), "system": platform.platform()},
        "tools": {"python": platform.python_version(), **tool_versions()},
        "revision": revision_of(ROOT),
    }


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A breadth-first search from vertex 0 of a uniform random graph.

    Parameters
    ----------
    config, memory : str
        Configuration and memory profile.
    vertices, degree : int
        The graph: vertices, and edges per vertex.
    """

    config: str
    memory: str
    vertices: int
    degree: int

    @property
    def graph(self) -> GraphSpec:
        """The graph."""
        return GraphSpec(kind="random", degree=self.degree, vertices=self.vertices, seed=_SEED)

    @property
    def graph_text(self) -> str:
        """Name of the graph in reports."""
        return f"2^{self.vertices.bit_length() - 1} × {self.degree}"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Workloads of the contenders, and numbers of repetitions.

    Parameters
    ----------
    config, memory : str
        Configuration and memory profile.
    next_config : str
        Configuration of the contenders ``next-1`` and ``next-2``.
    graphs : dict of str to (int, int)
        Vertices and degree of the graph by contender (`CONTENDERS`), and for ``revisions``, powers of two.
    repetitions : dict of str to int
        Number of repetitions by contender, and for ``revisions``.
    """

    config: str
    memory: str
    next_config: str
    graphs: dict[str, tuple[int, int]]
    repetitions: dict[str, int]

    def workload(self, contender: str, *, beside: str | None = None) -> Workload:
        """Return the workload of a contender, on the graph of the contender `beside` which it is measured if given."""
        vertices, degree = self.graphs[beside or contender]
        config = self.next_config if contender.startswith("next") else self.config
        return Workload(config=config, memory=self.memory, vertices=vertices, degree=degree)


PRESETS = msgspec.toml.decode(Path(__file__).with_name("presets.toml").read_bytes(), type=dict[str, Preset])
"""Presets by name: the benchmark itself, and a check of less than a minute that everything works."""


def search(workload: Workload, graph: Graph, make_executor: Callable[[Memory, int], Executor]) -> Measured:
    """Run the search of a workload on an executor.

    Parameters
    ----------
    workload : Workload
        The search.
    graph : Graph
        Its graph.
    make_executor : callable
        Makes the executor, see `cyscc.sim.machine.create_machine`.

    Returns
    -------
    dict
        JSON values: ``levels`` (cycles of each), ``cycles`` (all simulated ones), ``memory`` (digest of its contents),
        ``kernels``, ``edges``, ``seconds`` and ``user_seconds`` of the executor's runs, ``peak_memory_bytes`` of this
        process, ``build_seconds``.

    Raises
    ------
    SimulationError
        The simulation failed, or its result is wrong.
    """
    config = load_config(workload.config)
    watches: list[Stopwatch] = []

    def make(memory: Memory, watchdog: int) -> Executor:
        executor = make_executor(memory, watchdog)
        watches.append(Stopwatch(executor))
        return executor

    machine = create_machine(config, parse_profile(workload.memory), executor=make)
    try:
        placed = PlacedGraph.place(machine, graph)
        # Load what is compiled at its first use before the time is taken.
        machine.get_registers([Register.CURRENT_COUNT])
        watches[0].reset()
        begin = machine.cycle
        run = breadth_first_search(machine, placed, 0)
        difference = check_levels(run.levels, graph, 0)
        if difference is not None:
            raise SimulationError(f"wrong result: {difference}")
        memory = machine.read(4096, np.uint8, machine.memory.allocated)
        return {
            "levels": [level.cycles for level in run.level_records],
            "cycles": machine.cycle - begin,
            "memory": hashlib.sha256(memory.tobytes()).hexdigest(),
            "kernels": config.engines * config.bfs_kernels,
            "edges": run.edges_traversed,
            "seconds": watches[0].seconds,
            "user_seconds": watches[0].user_seconds,
            "peak_memory_bytes": peak_memory(),
            "build_seconds": machine.build_seconds,
        }
    finally:
        machine.close()


class _SearchResult(TypedDict):
    levels: list[Count]
    cycles: Divisor
    memory: str
    kernels: Count
    edges: Count
    seconds: Positive
    user_seconds: Amount
    peak_memory_bytes: Count
    build_seconds: Amount


@dataclass(frozen=True, kw_only=True)
class ContenderRequest(Request):
    """A measurement of a contender's search.

    Parameters
    ----------
    contender : str
        Name of the contender, of `CONTENDERS`.
    workload : Workload
        The search; its graph is `graph`.
    beside : str
        The contender of whose group this measurement is part; those of a group alternate.
    repetition, repetitions : int
        Number of this repetition, from 1 on, and of all repetitions.
    cache : Path
        Folder of built executors.
    """

    alone: ClassVar[bool] = True
    kind: ClassVar[Any] = _SearchResult

    contender: str
    workload: Workload
    beside: str
    repetition: int
    repetitions: int
    cache: Path = field(compare=False)

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{CONTENDERS[self.contender]}, {self.workload.graph_text}"

    def setting(self) -> dict[str, Any]:
        """Return processor, tools and digest of the sources, as JSON values."""
        sources = [sources_digest(), digest_beside(__file__)]
        return {"processor": processor_name(), "tools": tool_versions(), "sources": sources}

    def measure(self, graph: Graph, *, verify: bool) -> Measured:
        """Measure the search, see `search`; its result is always verified.

        Raises
        ------
        SimulationError
            The simulator could not be built or failed, or its result is wrong.
        """
        # This process runs only this request. Numba's compilation shall not be measured.
        os.environ["NUMBA_CACHE_DIR"] = str(code_directory())
        os.environ["CYSCC_CACHE"] = str(self.cache)
        return search(self.workload, graph, executor_maker(self.contender, load_config(self.workload.config)))

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        speed = result["cycles"] / result["seconds"]
        return f"{self.repetition} of {self.repetitions}, {speed:,.0f} cycles/s"
