"""Search for the exact cycle of an event, where a record gives only its interval or instruction.

The machine runs as usual, with a check at regular distances. After the first check that finds the event, a bisection
from the state at the previous check finds its cycle.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from cyscc.host.output.errors import InputError
from cyscc.host.replay.point import Point, Span
from cyscc.sim.coprocessor import Cause, Register
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.executors.factory import Stepper

if TYPE_CHECKING:
    from cyscc.sim.executors.base import Executor
    from cyscc.sim.machine import Machine
    from cyscc.sim.observation.state import MachineState

__all__ = ["Detector", "EventSearch", "Reached", "detector_of", "stop_behind"]

_LOOK = 1024
"""Cycles between checks."""


class Detector(Protocol):
    """Detector of an event; it stays set from the event to the end of the instruction."""

    def begin(self, executor: "Executor", module: str) -> None:
        """Arm the detector: ignore everything before the executor's current cycle."""

    def seen(self, executor: "Executor") -> bool:
        """Return whether the event has occurred since `begin`."""

    def kernel(self, executor: "Executor") -> str | None:
        """Return the kernel of the event that was seen, such as ``engine0.bfs3``; None if it is not known."""


class EventSearch:
    """Searches spans of cycles for an event, one after the other, and ends the run where it occurs.

    Parameters
    ----------
    machine : Machine
        The machine, before the first span.
    spans : sequence of Span
        The spans to search.
    detector : Detector
        The detector of the event.
    executor : str
        Name of the machine's executor.
    without : collection of int
        Addresses of constant arrays, which are left out of saved states.

    Attributes
    ----------
    cycle : int or None
        The cycle of the event; None if it did not occur.
    kernel : str or None
        The kernel of the event; None if it is not known.
    """

    def __init__(
        self, machine: "Machine", spans: Sequence[Span], detector: Detector, *, executor: str, without: Collection[int]
    ) -> None:
        self._machine = machine
        self._spans = list(spans)
        self._detector = detector
        self._executor = executor
        self._without = without
        self._interval = sync_interval(machine.config, machine.memory)
        self._kept: MachineState | None = None
        self.cycle: int | None = None
        self.kernel: str | None = None
        machine.on_sync = self._on_sync

    def _on_sync(self, cycle: int) -> int:
        """Check at a sync point of all AEs; return the most cycles to the next call."""
        self._look(cycle)
        if not self._spans:
            raise Reached
        span = self._spans[0]
        if cycle < span.first:
            # A run ends with the first sync point after its last cycle.
            left = span.first - cycle
            if left >= self._interval:
                return left - self._interval + 1
        if self._kept is None:
            self._detector.begin(self._machine.executor, span.module)
            self._machine.schedule(span.end, lambda: self._look(self._machine.cycle))
        self._keep()
        return min(_LOOK, max(span.end - cycle, 1))

    def _keep(self) -> None:
        """Save the machine's state, to return to it."""
        state = self._machine.save(without=self._without)
        regions = [replace(region, content=region.content.copy()) for region in state.memory.regions]
        self._kept = replace(state, memory=replace(state.memory, regions=regions))

    def _look(self, cycle: int) -> None:
        """Check for the event; leave spans that are over."""
        if self._kept is not None and self._detector.seen(self._machine.executor):
            self._close_in(self._kept, cycle)
        while self._spans and cycle >= self._spans[0].end:
            self._spans.pop(0)
            self._kept = None

    def _close_in(self, state: "MachineState", high: int) -> None:
        """Find the cycle of the event by bisection between a saved state and a later cycle `high`."""
        stepper = Stepper(self._machine.config, self._machine.memory, self._executor)
        module = self._spans[0].module

        def run_to(cycle: int) -> "Executor":
            stepper.load(state)
            self._detector.begin(stepper.executor, module)
            stepper.executor.run(cycle - stepper.executor.cycle)
            return stepper.executor

        stepper.load(state)
        low = stepper.executor.cycle
        while high - low > 1:
            middle = (low + high) // 2
            if self._detector.seen(run_to(middle)):
                high = middle
            else:
                low = middle
        self.kernel = self._detector.kernel(run_to(high))
        stepper.close()
        self.cycle = low
        raise Reached


class Reached(BaseException):
    """Ends a run at its target cycle; not an error, so error handlers shall not catch it."""


def stop_behind(machine: "Machine", last: int) -> None:
    """Have a machine's run end by `Reached` as soon as the cycle `last` is over."""

    def check(cycle: int) -> int:
        if cycle > last:
            raise Reached
        return last + 1 - cycle

    machine.on_sync = check


_FOREVER = 1 << 40
"""An interval longer than any run."""

_EMPTY = np.uint32(0xFFFF_FFFF)
"""An id that no vertex has."""


def detector_of(point: Point, machine: "Machine") -> "Detector":
    """Return the detector of an event.

    Raises
    ------
    InputError
        This machine cannot have the event.
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
    """Return a mask of the kernels that a point is restricted to, by module; shape (AEs, kernels)."""
    config = machine.config
    chosen = {}
    for module, count in (("bfs", config.bfs_kernels), ("intersection", config.intersection_kernels)):
        engine, kernel = np.indices((config.engines, count))
        chosen[module] = np.full(engine.shape, point.module in (None, module))
        chosen[module] &= point.engine is None or engine == point.engine
        chosen[module] &= point.kernel is None or kernel == point.kernel
    return chosen


class _Caused:
    """Detects that a kernel has counted a cycle with a cause."""

    def __init__(self, point: Point, machine: "Machine", cause: Cause) -> None:
        kernels = _kernels(point, machine)
        self._chosen = np.concatenate([kernels["bfs"], kernels["intersection"]], axis=1)
        self._cause = cause
        self._names = [
            f"engine{engine}.{module}{kernel}"
            for engine in range(machine.config.engines)
            for module, mask in kernels.items()
            for kernel in range(mask.shape[1])
        ]
        self._before = self._counts(machine.executor)

    def _counts(self, executor: "Executor") -> npt.NDArray[np.int64]:
        """Return the cycles with the cause, by AE and kernel; 0 for other kernels."""
        return np.where(self._chosen, executor.causes()[:, :, self._cause], 0)

    def begin(self, executor: "Executor", module: str) -> None:
        self._before = self._counts(executor)

    def seen(self, executor: "Executor") -> bool:
        return bool((self._counts(executor) > self._before).any())

    def kernel(self, executor: "Executor") -> str:
        return self._names[int(np.argmax(self._counts(executor) > self._before))]


class _Full:
    """Detects that a FIFO has been full."""

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
        return bool(self._where(executor).any())

    def kernel(self, executor: "Executor") -> str:
        engine, kernel = np.argwhere(self._where(executor))[0]
        return f"engine{engine}.{self._module}{kernel}"

    def _where(self, executor: "Executor") -> npt.NDArray[np.bool_]:
        """Return whether a FIFO of a kernel has been full, by AE and kernel."""
        full = executor.sample()[self._module]["instruction_most"] >= self._depths[self._module]
        return self._kernels[self._module] & full.any(axis=2)


_ERROR = ".control.error"
"""Register of a kernel that reports a dropped vertex."""


class _Overflow:
    """Detects that a kernel reports a dropped vertex."""

    def __init__(self, machine: "Machine") -> None:
        config = machine.config
        self._names = [
            f"engine{engine}.bfs{kernel}{_ERROR}"
            for engine in range(config.engines)
            for kernel in range(config.bfs_kernels)
        ]

    def begin(self, executor: "Executor", module: str) -> None:
        """Do nothing: kernels clear their error flag when an instruction starts."""

    def seen(self, executor: "Executor") -> bool:
        return self.kernel(executor) is not None

    def kernel(self, executor: "Executor") -> str | None:
        state = executor.save()
        return next((name.removesuffix(_ERROR) for name in self._names if state.rows(name).any()), None)


class _Duplicate:
    """Detects a second copy of a vertex in the reach queue."""

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

    def kernel(self, executor: "Executor") -> None:
        """Return None: the queue does not tell who wrote to it."""

    def _prepared(self) -> npt.NDArray[np.uint32]:
        """Return the reach queue, with the places after its entries cleared; the hardware never reads them."""
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
