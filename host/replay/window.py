"""The way of a run to a window of cycles: quick up to it, with waveforms in it, and no further."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sim.executors.base import meeting_interval

if TYPE_CHECKING:
    from sim.executors.base import Executor
    from sim.machine import Machine
    from sim.memory import Memory

__all__ = ["MissedError", "Reached", "Window"]

_FAR = 1 << 62


class Reached(BaseException):
    """A run has come as far as it was to; no error, and not to be caught by what handles errors."""


class MissedError(Exception):
    """The window begins between two instructions, and the way there led past it.

    Parameters
    ----------
    meeting : int
        The last cycle before it from which another executor can go on.
    """

    def __init__(self, meeting: int) -> None:
        super().__init__(f"the last meeting was at cycle {meeting:,}")
        self.meeting = meeting


class Window:
    """Brings a machine to a window, has another executor go on there, and ends the run behind it.

    Parameters
    ----------
    machine : Machine
        The machine; it may be on its way already, but not beyond the window.
    first, last : int
        First and last cycle of the window.
    by : int
        Cycle by which the other executor goes on, `first` or before it: one within an instruction.
    make : callable
        Makes the other executor, given the memory.
    on_begin : callable
        Called when it goes on, with the cycle.
    """

    def __init__(
        self,
        machine: "Machine",
        *,
        first: int,
        last: int,
        by: int,
        make: "Callable[[Memory], Executor]",
        on_begin: Callable[[int], None],
    ) -> None:
        self._machine = machine
        self._interval = meeting_interval(machine.config, machine.memory)
        self._first = first
        self._end = last + 1
        self._by = by
        self._make = make
        self._on_begin = on_begin
        self._met = 0
        self.begun = False
        machine.on_meeting = self._meet

    def _meet(self, cycle: int) -> int:
        if self.begun:
            if cycle >= self._end:
                raise Reached
            return self._end - cycle
        if cycle > self._first:
            raise MissedError(self._met)
        self._met = cycle
        left = self._by - cycle
        if left >= self._interval:
            # A run ends with the first meeting behind its last cycle.
            return left - self._interval + 1
        self.begun = True
        self._on_begin(cycle)
        self._machine.hand_over(self._make)
        return self._end - cycle
