"""The state of a machine, from which another one can go on."""

from dataclasses import dataclass

from sim.memory import MemoryState
from sim.named_words import NamedWords
from sim.observation.statistics import Tally

__all__ = ["MachineState"]


@dataclass(frozen=True, kw_only=True)
class MachineState:
    """The state of a machine within an instruction.

    Parameters
    ----------
    hardware : NamedWords
        Registers by name, and where the host is in its list of commands.
    memory : MemoryState
        The memory.
    commands : list of (int, int, int)
        The list: kind, index and value of each.
    began, lead : int
        The cycle in which it began, and its cycles before the dispatch.
    spent, readout : int
        Cycles of the instructions before it, and those in which event counters were read.
    attempts : int
        Attempts given up.
    attempt : Tally or None
        What had been counted when the present one began.
    """

    hardware: NamedWords
    memory: MemoryState
    commands: list[tuple[int, int, int]]
    began: int
    lead: int
    spent: int
    readout: int
    attempts: int
    attempt: Tally | None
