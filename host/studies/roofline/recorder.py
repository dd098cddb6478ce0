"""A coprocessor that is listened to: what each level of a search asked of it, without a simulated cycle more."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from host.algorithms.keeper import Keeper
from host.graph.memory_map import PlacedGraph
from host.studies.roofline.limits import Bounds
from host.studies.roofline.traffic import LevelTraffic
from sim.coprocessor import Coprocessor, Instruction, Register

if TYPE_CHECKING:
    from sim.machine import Machine

__all__ = ["LevelUse", "Recorder"]


class LevelUse(NamedTuple):
    """What a level used, and the least that it could have."""

    requests: int
    """Reads and writes."""
    pushed: int
    """Vertices pushed."""
    cycles: int
    """Cycles from the dispatch to its completion."""
    limits: tuple[int, ...]
    """Least cycles for each limit's sake, in the order of `Bounds.names`."""
    crossbar: int | None = None
    """Cycles in which a saturated crossbar passes them; None without links."""


def _passed_on(name: str) -> Any:
    """Return what makes an attribute that of the machine, be it a value or a method."""
    return property(attrgetter(f"_machine.{name}"))


@dataclass(kw_only=True)
class _State:
    """What was recorded, and what the next level is recorded from."""

    issued: npt.NDArray[np.int64]
    opened: npt.NDArray[np.int64] | None
    registers: dict[Register, int] = field(default_factory=dict)
    instruction: Instruction | None = None
    levels: list[LevelUse] = field(default_factory=list)


class Recorder(Coprocessor):
    """Passes everything on to a machine, and looks after each BFS level at its queues and at its kernels' requests.

    Both are read without the machine's registers, so a search takes the same cycles as without a recorder.

    Parameters
    ----------
    machine : Machine
        The machine.
    graph : PlacedGraph
        The graph that is searched.
    bounds : Bounds
        What the machine can do at most.
    keeper : Keeper, optional
        Keeps what was recorded.

    Attributes
    ----------
    bounds : Bounds
        As given.
    levels : list of LevelUse
        The levels that have run, those of restarted searches included.

    Raises
    ------
    ValueError
        The machine keeps no reach queue.
    """

    cycle = _passed_on("cycle")
    allocate = _passed_on("allocate")
    view = _passed_on("view")
    get_registers = _passed_on("get_registers")
    statistics = _passed_on("statistics")
    close = _passed_on("close")

    def __init__(self, machine: "Machine", graph: PlacedGraph, bounds: Bounds, *, keeper: Keeper | None = None) -> None:
        machine.config.require("keeps_reach_queue")
        self.config = machine.config
        self._machine = machine
        self._graph = graph
        self.bounds = bounds
        keeper = keeper or Keeper()
        self._state = keeper.kept("roofline", _State) or _State(issued=machine.issued_requests(), opened=self._opened())
        keeper.keep("roofline", self._state)
        self.levels = self._state.levels

    def set_registers(self, values: Mapping[Register, int]) -> None:
        """Write AEG registers of every AE, and remember them."""
        self._state.registers.update(values)
        self._machine.set_registers(values)

    def begin_attempt(self) -> None:
        """Begin anew, as the machine does, whose statistics begin anew too."""
        self._machine.begin_attempt()
        self._state.opened = self._opened()

    def dispatch(self, instruction: Instruction) -> int:
        """Start an instruction on every AE; return the cycle of it."""
        self._state.instruction = instruction
        return self._machine.dispatch(instruction)

    def wait(self) -> int:
        """Run until every AE is idle; return the cycles from the dispatch on, and record the level.

        Raises
        ------
        sim.errors.SimulationError
            As of the machine.
        """
        cycles = self._machine.wait()
        state = self._state
        before, state.issued = state.issued, self._machine.issued_requests()
        opened, state.opened = state.opened, self._opened()
        openings = None if opened is None or state.opened is None else state.opened - opened
        if state.instruction == Instruction.BFS_LEVEL:
            self._record(cycles, issued=state.issued - before, openings=openings)
        return cycles

    def _opened(self) -> npt.NDArray[np.int64] | None:
        """Return the rows that each bank has opened so far; None where banks have none."""
        if self.bounds.contention is None or self.bounds.contention.rows is None:
            return None
        return np.array(self._machine.memory.statistics()["rows"]["openings"], np.int64)

    def _record(self, cycles: int, *, issued: npt.NDArray[np.int64], openings: npt.NDArray[np.int64] | None) -> None:
        """Add the level that has just run. Nothing that it read has changed since but visited flags."""
        registers = self._state.registers
        traffic = LevelTraffic.count(
            queue=self.view(registers[Register.CURRENT_QUEUE], np.uint64, registers[Register.CURRENT_COUNT]),
            targets=self._graph.graph.targets,
            reach=self.view(registers[Register.REACH_QUEUE], np.uint32, registers[Register.CAPACITY]),
            issued=issued,
            registers=registers,
            contention=self.bounds.contention,
            openings=openings,
        )
        bounds = self.bounds
        use = LevelUse(
            traffic.requests, int(traffic.pushes.sum()), cycles, bounds.limits(traffic), bounds.crossbar(traffic)
        )
        self.levels.append(use)
