"""One measurement, in a process of its own."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from host.algorithms.reference import check_levels
from host.algorithms.search import breadth_first_search
from host.graph.generators import random_graph
from host.graph.memory_map import PlacedGraph
from host.measuring.processor import peak_memory
from host.studies.benchmark.workloads import SEED, Workload
from sim.configuration import load_config
from sim.coprocessor import Register
from sim.errors import SimulationError
from sim.executors import Executor
from sim.executors.comparison.contenders import Stopwatch, executor_maker
from sim.executors.comparison.runner import build_exported, run_exported
from sim.executors.tools import cache_directory
from sim.machine import assemble_machine
from sim.memory import Memory, parse_profile

__all__ = ["OUTCOME", "WORKLOAD", "measure", "search"]

WORKLOAD = "CYSCC_BENCH_WORKLOAD"
"""Environment variable with the workload for a bench inside of a simulator, as JSON."""

OUTCOME = "CYSCC_BENCH_OUTCOME"
"""Environment variable that names the file for its outcome."""


def search(workload: Workload, make_executor: Callable[[Memory, int], Executor]) -> dict[str, Any]:
    """Make the search of a workload on an executor.

    Parameters
    ----------
    workload : Workload
        The search.
    make_executor : callable
        Makes the executor, see `sim.machine.assemble_machine`.

    Returns
    -------
    dict
        What was found and how long it took, JSON-able: ``levels`` (cycles of each), ``cycles`` (all that were
        simulated), ``memory`` (digest of its contents), ``kernels``, ``edges``, ``seconds`` and ``user_seconds`` of
        the executor's runs, ``peak_memory_bytes`` of this process, ``build_seconds``.

    Raises
    ------
    SimulationError
        The simulation failed, or its result is wrong.
    """
    config = load_config(workload.config)
    watches: list[Stopwatch] = []

    def make(memory: Memory, watchdog: int) -> Executor:
        watches.append(Stopwatch(make_executor(memory, watchdog)))
        return watches[0]

    machine = assemble_machine(config, parse_profile(workload.memory), make)
    try:
        placed = PlacedGraph.place(machine, random_graph(workload.vertices, workload.degree, SEED))
        # Loads what is compiled at its first use.
        machine.get_registers([Register.CURRENT_COUNT])
        watches[0].reset()
        begin = machine.cycle
        run = breadth_first_search(machine, placed, 0)
        difference = check_levels(run.levels, placed.graph, 0)
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


def measure(contender: str, workload: Workload) -> dict[str, Any]:
    """Measure a contender; see `search`.

    Raises
    ------
    SimulationError
        It could not be built, failed, or its result is wrong.
    """
    if contender == "cocotb":
        return _measure_cocotb(workload)
    return search(workload, executor_maker(contender, load_config(workload.config)))


def _measure_cocotb(workload: Workload) -> dict[str, Any]:
    """Measure inside of the simulator that cocotb drives."""
    folder = cache_directory() / f"cocotb-{workload.config}"
    built = folder / "built"
    began = time.perf_counter()
    if not built.exists():
        build_exported(load_config(workload.config), folder)
        built.touch()
    build_seconds = time.perf_counter() - began
    outcome = folder / f"outcome-{os.getpid()}.json"
    variables = {WORKLOAD: json.dumps(asdict(workload)), OUTCOME: str(outcome)}
    run_exported(folder, bench="host.studies.benchmark.simulator", variables=variables)
    found: dict[str, Any] = json.loads(Path(outcome).read_text())
    outcome.unlink()
    return {**found, "build_seconds": build_seconds}
