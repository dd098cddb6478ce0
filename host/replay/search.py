"""The exact cycle of an event that a record tells by intervals or instructions only: looked for on the machine.

The machine runs as it always does, and is looked at every so many cycles. Where the event has happened since the last
look, the machine is set back to that, and the cycle is closed in on by steps of a single cycle.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from host.replay.finding import Span
from host.replay.window import Reached
from sim.executors.base import meeting_interval
from sim.executors.making import Stepper

if TYPE_CHECKING:
    from sim.executors.base import Executor
    from sim.machine import Machine
    from sim.observation.state import MachineState

__all__ = ["Search", "Sign"]

_LOOK = 1024
"""Cycles from one look to the next."""


class Sign(Protocol):
    """How an event shows once it has happened, until the end of the instruction."""

    def begin(self, executor: "Executor", module: str) -> None:
        """Forget what has happened: from now on it counts, on this executor."""

    def seen(self, executor: "Executor") -> bool:
        """Whether it has happened since."""


class Search:
    """Looks for an event in spans of cycles, one after the other, and ends the run where it was found.

    Parameters
    ----------
    machine : Machine
        The machine, before the first span.
    spans : sequence of Span
        Where to look.
    sign : Sign
        How the event shows.
    executor : str
        Name of the machine's executor.
    without : collection of int
        Addresses of arrays that never change.

    Attributes
    ----------
    cycle : int or None
        The cycle in which it happened, None if it did not.
    """

    def __init__(
        self, machine: "Machine", spans: Sequence[Span], sign: Sign, *, executor: str, without: Collection[int]
    ) -> None:
        self._machine = machine
        self._spans = list(spans)
        self._sign = sign
        self._executor = executor
        self._without = without
        self._interval = meeting_interval(machine.config, machine.memory)
        self._kept: MachineState | None = None
        self.cycle: int | None = None
        machine.on_meeting = self._meet

    def _meet(self, cycle: int) -> int:
        """Look at the machine where all AEs have met; return the most cycles until this is to be asked again."""
        self._look(cycle)
        if not self._spans:
            raise Reached
        span = self._spans[0]
        if cycle < span.first:
            # A run ends with the first meeting behind its last cycle.
            left = span.first - cycle
            if left >= self._interval:
                return left - self._interval + 1
        if self._kept is None:
            self._sign.begin(self._machine.executor, span.module)
            self._machine.at(span.end, lambda: self._look(self._machine.cycle))
        self._keep()
        return min(_LOOK, max(span.end - cycle, 1))

    def _keep(self) -> None:
        """Note where the machine is, to come back to it."""
        state = self._machine.save(without=self._without)
        regions = [replace(region, content=region.content.copy()) for region in state.memory.regions]
        self._kept = replace(state, memory=replace(state.memory, regions=regions))

    def _look(self, cycle: int) -> None:
        """Look whether it has happened; leave the span if it is over."""
        if self._kept is not None and self._sign.seen(self._machine.executor):
            self._close_in(self._kept, cycle)
        while self._spans and cycle >= self._spans[0].end:
            self._spans.pop(0)
            self._kept = None

    def _close_in(self, state: "MachineState", high: int) -> None:
        """Find the cycle between a state and a cycle in which it has happened."""
        stepper = Stepper(self._machine.config, self._machine.memory, self._executor)
        module = self._spans[0].module
        stepper.load(state)
        low = begin = stepper.executor.cycle
        while high - low > 1:
            middle = (low + high) // 2
            stepper.load(state)
            self._sign.begin(stepper.executor, module)
            stepper.executor.run(middle - begin)
            if self._sign.seen(stepper.executor):
                high = middle
            else:
                low = middle
        stepper.close()
        self.cycle = low
        raise Reached
