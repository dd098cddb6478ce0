"""What a recording hands out: counts of intervals and of instructions, and who takes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.memory import RecordedIntervals, RecordedSums

__all__ = ["InstructionCounts", "Intervals", "RanInstruction", "Sink"]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """What was counted in some intervals, one after the other.

    Parameters
    ----------
    first : int
        Number of the first one, which begins at so many times the interval.
    causes : ndarray of int64, shape (intervals, AEs, kernels, len(CAUSES))
        Cycles by recorded cause, BFS kernels first.
    fills : ndarray of int64, shape (intervals, AEs, kernels, FIFOs)
        Entries held, summed over the cycles.
    marks : ndarray of int64, shape (intervals, AEs, kernels, FIFOs)
        Most entries held in a cycle.
    turns : ndarray of int64, shape (intervals, AEs, 2)
        Tokens that reached the first kernel of each module.
    memory : RecordedIntervals
        What the memory counted.
    """

    first: int
    causes: Counts
    fills: Counts
    marks: Counts
    turns: Counts
    memory: RecordedIntervals


@dataclass(frozen=True, kw_only=True)
class RanInstruction:
    """When an instruction ran.

    Parameters
    ----------
    attempt : int
        Attempts given up before.
    start, cycles, working : int
        Cycle of the dispatch; cycles from there until the last AE was idle, and until the last kernel was done.
    """

    attempt: int
    start: int
    cycles: int
    working: int


@dataclass(frozen=True, kw_only=True)
class InstructionCounts:
    """What was counted in some instructions of a module, by its kernels.

    Parameters
    ----------
    module : str
        The module.
    which : ndarray of int, shape (instructions,)
        Which of the instructions that are handed over together these are, ascending.
    begun, done : ndarray of int64, shape (instructions, AEs, kernels)
        Cycles from the dispatch until a kernel began and was done.
    causes : ndarray of int64, shape (instructions, AEs, kernels, len(CAUSES))
        Cycles by recorded cause.
    fills, marks : ndarray of int64, shape (instructions, AEs, kernels, FIFOs)
        Entries held, summed over the cycles; most entries held in a cycle.
    """

    module: str
    which: npt.NDArray[np.intp]
    begun: Counts
    done: Counts
    causes: Counts
    fills: Counts
    marks: Counts


class Sink(Protocol):
    """Who takes what was recorded."""

    def take_intervals(self, make: Callable[[], Intervals], count: int) -> None:
        """Take so many intervals, which follow those before; to make them takes time, and may be done at any time."""

    def take_instruction(self, ran: RanInstruction) -> None:
        """Take an instruction that is complete; what was counted in it comes later."""

    def take_counts(self, counts: Sequence[InstructionCounts], memory: Sequence[RecordedSums]) -> None:
        """Take what was counted, by modules, and what the memory counted, in all instructions that wait for it."""

    def take_restart(self, cycle: int, readouts: list[tuple[int, int]]) -> None:
        """Learn that all before a cycle, but for the cycles of some readouts, was an attempt that was given up."""
