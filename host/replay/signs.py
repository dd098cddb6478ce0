"""How events show on a machine."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from host.errors import InputError
from host.replay.point import Point
from sim.coprocessor import Cause, Register

if TYPE_CHECKING:
    from host.replay.search import Sign
    from sim.executors.base import Executor
    from sim.machine import Machine

__all__ = ["sign_of"]

_FOREVER = 1 << 40
"""An interval that does not end."""

_EMPTY = np.uint32(0xFFFF_FFFF)
"""What no vertex is called."""


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
