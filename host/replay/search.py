"""Search for the exact cycle of an event, where a record gives only its instruction.

Waits and FIFO levels are read from the executor's log of spells. For an overflow the machine runs as usual, with a
check at regular distances; after the first check that finds one, a bisection from the state at the previous check finds
its cycle.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cyscc.host.replay.finding import Located, Search, Span, causes_of, limits_of
from cyscc.host.specification.place import Place
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.coprocessor import Cause
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.executors.factory import Stepper
from cyscc.sim.executors.spells import SPELL, SpellRequest

if TYPE_CHECKING:
    from cyscc.sim.executors.base import Executor
    from cyscc.sim.machine import Machine
    from cyscc.sim.observation.state import MachineState

_LOOK = 1024
"""Cycles between checks."""


class SpellSearch:
    """Searches instructions for a wait, or for a FIFO above a limit, and ends the run when it is found.

    Parameters
    ----------
    machine : Machine
        The machine, before the instructions.
    search : Search
        The instructions, and which of their events is searched.
    point : Place
        The event.

    Attributes
    ----------
    found : Located or None
        The event; None if it did not occur.
    count : int
        Events found.
    """

    def __init__(self, machine: "Machine", search: Search, point: Place) -> None:
        self._machine = machine
        self._executor = machine.executor
        self._nth = search.nth
        self._starts, self._ends = (
            np.array([getattr(span, name) for span in search.spans]) for name in ("start", "end")
        )
        self._least = (point.longer or 0) + 1
        self._chosen = _chosen(point, machine)
        self._request = _request(point, machine)
        self._first = search.spans[0].start - sync_interval(machine.config, machine.memory)
        self._logging = False
        self._spells = np.zeros(0, SPELL)
        self.found: Located | None = None
        machine.on_sync = self._on_sync
        machine.on_close = self._on_close

    @property
    def count(self) -> int:
        """Events found."""
        return len(self._spells)

    def _on_sync(self, cycle: int) -> int:
        """Look at the spells of the cycles before a sync point; return the most cycles to the next call."""
        if not self._logging:
            if cycle < self._first:
                return self._first - cycle
            self._executor.log_spells(self._request)
            self._logging = True
        self._look()
        if self.found is not None or cycle >= self._ends[-1]:
            raise Reached
        return _LOOK

    def _on_close(self) -> None:
        if self._logging and self.found is None:
            self._look(last=True)

    def _look(self, *, last: bool = False) -> None:
        """Take the spells; the event is found when no other that is under way can come before it."""
        ended = self._own(self._executor.take_spells())
        under_way = self._own(self._executor.take_spells(under_way=True))
        if last:
            ended = np.concatenate([ended, under_way])
        long_enough = ended["end"] - ended["begin"] >= self._least
        spells = np.concatenate([self._spells, ended[long_enough]])
        self._spells = spells[np.lexsort([spells[name] for name in ("kernel", "engine", "begin")])]
        if self.count < self._nth:
            return
        engine, kernel, number, begin, end = self._spells[self._nth - 1].item()
        if last or not any((other[3], *other[:2]) < (begin, engine, kernel) for other in under_way.tolist()):
            bfs_kernels = self._machine.config.bfs_kernels
            name = f"bfs{kernel}" if kernel < bfs_kernels else f"intersection{kernel - bfs_kernels}"
            cause = None if self._request.limits else Cause(number).name.lower()
            self.found = Located(cycle=begin, kernel=f"engine{engine}.{name}", cause=cause, cycles=end - begin)

    def _own(self, spells: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """Return the spells of the chosen kernels that begin in the instructions."""
        spells = spells[self._chosen[spells["engine"], spells["kernel"]]]
        span = np.searchsorted(self._starts, spells["begin"], side="right") - 1
        return spells[(span >= 0) & (spells["begin"] < self._ends[span])]


class OverflowSearch:
    """Searches an instruction for a dropped vertex, which only the machine's state shows, and ends the run there.

    Parameters
    ----------
    machine : Machine
        The machine, before the instruction.
    span : Span
        The instruction.
    dropped : Dropped
        Tells whether a kernel has dropped a vertex.
    executor : str
        Name of the machine's executor.
    without : collection of int
        Addresses of constant arrays, which are left out of saved states.

    Attributes
    ----------
    found : Located or None
        The event; None if it did not occur.
    count : int
        Events found, if not that one.
    """

    def __init__(
        self, machine: "Machine", span: Span, dropped: "Dropped", *, executor: str, without: Collection[int]
    ) -> None:
        self._machine = machine
        self._span = span
        self._dropped = dropped
        self._executor = executor
        self._without = without
        self._interval = sync_interval(machine.config, machine.memory)
        self._kept: MachineState | None = None
        self.found: Located | None = None
        self.count = 0
        machine.on_sync = self._on_sync

    def _on_sync(self, cycle: int) -> int:
        """Check at a sync point of all AEs; return the most cycles to the next call."""
        span = self._span
        if cycle < span.start:
            # A run ends with the first sync point after its last cycle.
            left = span.start - cycle
            if left >= self._interval:
                return left - self._interval + 1
        if self._kept is None:
            self._machine.schedule(span.end, lambda: self._look(self._machine.cycle))
        self._look(cycle)
        self._keep()
        return min(_LOOK, max(span.end - cycle, 1))

    def _keep(self) -> None:
        """Save the machine's state, to return to it."""
        state = self._machine.save(without=self._without)
        regions = [replace(region, content=region.content.copy()) for region in state.memory.regions]
        self._kept = replace(state, memory=replace(state.memory, regions=regions))

    def _look(self, cycle: int) -> None:
        """Check for the event; end the run behind the instruction."""
        if self._kept is not None and self._dropped.kernel(self._machine.executor) is not None:
            self._close_in(self._kept, cycle)
        if cycle >= self._span.end:
            raise Reached

    def _close_in(self, state: "MachineState", high: int) -> None:
        """Find the cycle of the event by bisection between a saved state and a later cycle `high`."""
        stepper = Stepper(self._machine.config, self._machine.memory, self._executor)

        def run_to(cycle: int) -> "Executor":
            stepper.load(state)
            stepper.executor.run(cycle - stepper.executor.cycle)
            return stepper.executor

        stepper.load(state)
        low = stepper.executor.cycle
        while high - low > 1:
            middle = (low + high) // 2
            if self._dropped.kernel(run_to(middle)) is not None:
                high = middle
            else:
                low = middle
        self.found = Located(cycle=low, kernel=self._dropped.kernel(run_to(high)))
        stepper.close()
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


def search_of(
    point: Place, wanted: Search, machine: "Machine", *, executor: str, without: Collection[int]
) -> "SpellSearch | OverflowSearch":
    """Have a machine's run search for an event.

    Parameters
    ----------
    point : Place
        The event.
    wanted : Search
        The instructions, and which of their events is searched.
    machine, executor, without
        See `OverflowSearch`.
    """
    if point.event == "overflow":
        return OverflowSearch(machine, wanted.spans[0], Dropped(machine.config), executor=executor, without=without)
    return SpellSearch(machine, wanted, point)


def _chosen(point: Place, machine: "Machine") -> npt.NDArray[np.bool_]:
    """Return a mask of the kernels that a point is restricted to; shape (AEs, kernels), BFS kernels first."""
    config = machine.config
    chosen = []
    for module, count in (("bfs", config.bfs_kernels), ("intersection", config.intersection_kernels)):
        engine, kernel = np.indices((config.engines, count))
        own = np.full(engine.shape, point.module in (None, module))
        own &= point.engine is None or engine == point.engine
        own &= point.kernel is None or kernel == point.kernel
        chosen.append(own)
    return np.concatenate(chosen, axis=1)


def _request(point: Place, machine: "Machine") -> SpellRequest:
    """Return the spells in which a kernel is as a point says, of any length: one under way may yet become long."""
    if causes := causes_of(point):
        return SpellRequest(causes=[Cause[name.upper()] for name in causes])
    limits = {
        module: limits_of(point, [(fifo.name, getattr(machine.config, fifo.parameter)) for fifo in fifos])
        for module, fifos in machine.fifos.items()
    }
    return SpellRequest(limits=limits)


_ERROR = ".control.error"
"""Register of a kernel that reports a dropped vertex."""


class Dropped:
    """Tells whether a kernel has dropped a vertex; it keeps saying so to the end of the instruction.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._names = [
            f"engine{engine}.bfs{kernel}{_ERROR}"
            for engine in range(config.engines)
            for kernel in range(config.bfs_kernels)
        ]

    def kernel(self, executor: "Executor") -> str | None:
        """Return the first kernel that has, such as ``engine0.bfs3``; None if none has."""
        state = executor.save()
        return next((name.removesuffix(_ERROR) for name in self._names if state.rows(name).any()), None)
