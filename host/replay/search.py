"""Search for the exact cycle of a wait or of a FIFO's level, where a record gives only its instruction."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cyscc.host.replay.finding import Located, Search, causes_of, limits_of
from cyscc.host.specification.place import Place
from cyscc.sim.coprocessor import Cause
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.executors.spells import SPELL, SpellRequest

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

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
        self._starts, self._ends = np.array(search.spans).T
        self._least = (point.longer or 0) + 1
        self._chosen = _chosen(point, machine)
        self._request = _request(point, machine)
        self._first = search.spans[0][0] - sync_interval(machine.config, machine.memory)
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


class Reached(BaseException):
    """Ends a run at its target cycle; not an error, so error handlers shall not catch it."""


def stop_behind(machine: "Machine", last: int) -> None:
    """Have a machine's run end by `Reached` as soon as the cycle `last` is over."""

    def check(cycle: int) -> int:
        if cycle > last:
            raise Reached
        return last + 1 - cycle

    machine.on_sync = check


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
