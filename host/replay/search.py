"""The exact cycle of an event that a record tells by intervals or instructions only: looked for on the machine.

The machine runs as it always does, and is looked at every so many cycles. Where the event has happened since the last
look, the machine is set back to that, and the cycle is closed in on by steps of a single cycle.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from host.errors import InputError
from host.replay.point import Point, Span
from sim.coprocessor import Cause, Register
from sim.executors.base import meeting_interval
from sim.executors.making import Stepper

if TYPE_CHECKING:
    from sim.executors.base import Executor
    from sim.machine import Machine
    from sim.observation.state import MachineState

__all__ = ["Reached", "Search", "Sign", "sign_of", "stop_behind"]

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


class Reached(BaseException):
    """A run has come as far as it was to; no error, and not to be caught by what handles errors."""


def stop_behind(machine: "Machine", last: int) -> None:
    """Have the run of a machine end as soon as a cycle is over, by `Reached`."""

    def meet(cycle: int) -> int:
        if cycle > last:
            raise Reached
        return last + 1 - cycle

    machine.on_meeting = meet


_FOREVER = 1 << 40
"""An interval that does not end."""

_EMPTY = np.uint32(0xFFFF_FFFF)
"""Id that no vertex has."""


def sign_of(point: Point, machine: "Machine") -> "Sign":
    """Return how an event shows on a machine.

    Raises
    ------
    InputError
        It does not on this one.
    """
    match point.event:
        case "full":
            return _Full(point, machine)
        case "overflow":
            return _Overflow(machine)
        case "duplicate":
            return _Duplicate(machine)
        case cause:
            return _Caused(point, machine, Cause[cause.upper()])


def _kernels(point: Point, machine: "Machine") -> dict[str, npt.NDArray[np.bool_]]:
    """Return by module which of its kernels, of shape (AEs, kernels), a point is about."""
    config = machine.config
    chosen = {}
    for module, count in (("bfs", config.bfs_kernels), ("intersection", config.intersection_kernels)):
        engine, kernel = np.indices((config.engines, count))
        chosen[module] = np.full(engine.shape, point.module in (None, module))
        chosen[module] &= point.engine is None or engine == point.engine
        chosen[module] &= point.kernel is None or kernel == point.kernel
    return chosen


class _Caused:
    """Kernels have counted cycles with a cause."""

    def __init__(self, point: Point, machine: "Machine", cause: Cause) -> None:
        kernels = _kernels(point, machine)
        self._chosen = np.concatenate([kernels["bfs"], kernels["intersection"]], axis=1)
        self._cause = cause
        self._before = self._count(machine.executor)

    def _count(self, executor: "Executor") -> int:
        return int(executor.causes()[self._chosen, self._cause].sum())

    def begin(self, executor: "Executor", module: str) -> None:
        self._before = self._count(executor)

    def seen(self, executor: "Executor") -> bool:
        return self._count(executor) > self._before


class _Full:
    """A FIFO has held as many entries as it may."""

    def __init__(self, point: Point, machine: "Machine") -> None:
        self._kernels = _kernels(point, machine)
        self._depths = {
            module: np.array(
                [
                    getattr(machine.config, fifo.parameter) if point.fifo in (None, fifo.name) else _FOREVER
                    for fifo in fifos
                ]
            )
            for module, fifos in machine.fifos.items()
        }
        self._module = ""

    def begin(self, executor: "Executor", module: str) -> None:
        self._module = module
        if executor.samples is None:
            executor.record(_FOREVER, 1)
        executor.begin_instruction_marks()

    def seen(self, executor: "Executor") -> bool:
        most = executor.sample()[self._module]["instruction_most"][self._kernels[self._module]]
        return bool(np.any(most >= self._depths[self._module]))


class _Overflow:
    """A kernel says that it has dropped a vertex."""

    def __init__(self, machine: "Machine") -> None:
        config = machine.config
        self._names = [
            f"engine{engine}.bfs{kernel}.control.error"
            for engine in range(config.engines)
            for kernel in range(config.bfs_kernels)
        ]

    def begin(self, executor: "Executor", module: str) -> None:
        """Nothing is to be forgotten: kernels forget it when they begin."""

    def seen(self, executor: "Executor") -> bool:
        state = executor.save()
        return any(state.rows(name).any() for name in self._names)


class _Duplicate:
    """The reach queue has got a vertex that stood in it already."""

    def __init__(self, machine: "Machine") -> None:
        try:
            machine.config.require("keeps_reach_queue")
        except ValueError as error:
            raise InputError(f"there is no duplicate to be found in the run: {error}") from None
        self._machine = machine
        self._queue: npt.NDArray[np.uint32] | None = None
        self._before = 0

    def begin(self, executor: "Executor", module: str) -> None:
        if self._queue is None:
            self._queue = self._prepared()
        self._before = self._copies()

    def seen(self, executor: "Executor") -> bool:
        return self._copies() > self._before

    def _prepared(self) -> npt.NDArray[np.uint32]:
        """Return the reach queue, in which nothing stands behind its entries: the hardware never reads it there."""
        machine = self._machine
        state = machine.save()
        values = {
            register: state.hardware.values(f"engine0.bfs0.control.register_{register.name.lower()}")[0]
            for register in (Register.REACH_QUEUE, Register.CAPACITY)
        }
        values |= {Register(index): value for kind, index, value in state.commands if kind == 0 and index in values}
        end = values[Register.REACH_QUEUE]
        begin = max(address for address, _ in machine.memory.allocations if address <= end)
        entries, room = (end - begin) // 4, values[Register.CAPACITY]
        queue = machine.view(begin, np.uint32, entries + room)
        queue[entries:] = _EMPTY
        return queue

    def _copies(self) -> int:
        assert self._queue is not None
        entries = self._queue[self._queue != _EMPTY]
        return int(entries.size - np.unique(entries).size)
