"""The runs that exported hardware and engine both make, and what a run leaves behind."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.reference import check_levels
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.registers import Counter, KernelWord, kernel_register
from cyscc.sim.executors.base import Executor
from cyscc.sim.machine import Machine
from cyscc.sim.memory import Memory, PayloadLayout, parse_profile
from tests.system.graphs import messy_graph
from tests.system.runs import check_scc, search

WATCHDOG = 20_000
"""Cycles without a request or a response after which a run counts as hung."""


class Run(NamedTuple):
    """Random graphs, one after the other on one machine: their components, or searches of them."""

    vertices: int
    edges: int
    seeds: range
    memory: str
    source: int | None = None


class Suite(NamedTuple):
    """A machine of one AE and what runs on it, each run after a reset."""

    config: AcceleratorConfig
    runs: tuple[Run, ...]


_SMALL = PRESETS["test"].replace(engines=1)

SUITES = {
    "small": Suite(
        _SMALL,
        (
            Run(8, 14, range(6), "fixed:9"),
            Run(16, 32, range(6, 13), "fixed:9", source=0),
            Run(8, 18, range(13, 16), "fixed:1"),
            Run(6, 10, range(16, 18), "hc2", source=1),
            Run(4, 8, range(18, 19), "stress:1", source=0),
            Run(8, 16, range(19, 20), "fixed:75", source=0),
        ),
    ),
    "larger graphs": Suite(
        _SMALL,
        (
            Run(30, 70, range(100, 108), "fixed:9"),
            Run(100, 300, range(108, 112), "fixed:75", source=0),
            Run(30, 90, range(112, 118), "hc2", source=0),
            Run(5, 10, range(118, 120), "stress:3"),
        ),
    ),
    "published cadence": Suite(
        _SMALL.replace(issue_interval=2, blocking_reservation=True, intersection_kernels=2),
        (
            Run(20, 45, range(200, 212), "fixed:9"),
            Run(20, 60, range(212, 220), "fixed:75", source=0),
        ),
    ),
    "searching": Suite(
        _SMALL.replace(issue_interval=2, blocking_reservation=True, bfs_only=True),
        (
            Run(20, 45, range(300, 310), "fixed:9", source=0),
            Run(20, 60, range(310, 316), "hc2", source=0),
            Run(5, 10, range(316, 320), "stress:4", source=1),
        ),
    ),
}
"""By name. Their graphs have self-loops and repeated edges."""


class _Recorder(Machine):
    """A machine that notes every result that the host gets from it."""

    def __init__(self, config: AcceleratorConfig, memory: Memory, engine: Executor) -> None:
        super().__init__(config, memory, engine, cycle_limit=100_000)
        self.results: list[Any] = []

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        answers = super().get_registers(registers)
        self.results.append(answers.tolist())
        return answers

    def wait(self) -> int:
        cycles = super().wait()
        self.results.append(cycles)
        return cycles


def outcome(run: Run, config: AcceleratorConfig, make_executor: Callable[[Memory], Executor]) -> dict[str, Any]:
    """Make a run, check what it finds, and return all that it leaves behind, as JSON gives it back.

    Parameters
    ----------
    run : Run
        The run.
    config : AcceleratorConfig
        The machine.
    make_executor : callable
        Makes the engine on a memory.
    """
    memory = Memory(parse_profile(run.memory), engines=1, ports=config.ports, payload=PayloadLayout(tag_bits=2))
    machine = _Recorder(config, memory, make_executor(memory))
    for seed in run.seeds:
        graph = messy_graph(run.vertices, run.edges, seed)
        if run.source is None:
            check_scc(machine, graph, slack=500)
        else:
            found = search(machine, graph, run.source, slack=500)
            assert check_levels(found.levels, graph, run.source) is None
    kernels = range(config.bfs_kernels + config.intersection_kernels)
    machine.get_registers([kernel_register(k, KernelWord.COUNTER_0 + counter) for k in kernels for counter in Counter])
    machine.close()
    left = {
        "cycle": machine.cycle,
        "results": machine.results,
        "memory": sha256(memory.read(4096, np.uint8, memory.allocated).tobytes()).hexdigest(),
        "traffic": memory.statistics(),
    }
    returned: dict[str, Any] = json.loads(json.dumps(left))
    return returned
