"""Spells: cycles without interruption in which a kernel has the same cause, or a FIFO holds more than a limit."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import NATIVE
from cyscc.sim.executors.native_tables import filled, structure
from cyscc.sim.executors.samples import MODULES

SPELL = structure(NATIVE / "spell_log.h", "Spell")
"""dtype of a spell: its AE; its kernel, BFS kernels first; its `Cause`, or 1 for a FIFO above its limit;
its first cycle, and the cycle after its last."""


@dataclass(frozen=True, kw_only=True)
class SpellRequest:
    """The spells to log.

    Parameters
    ----------
    least : int
        Cycles of the shortest.
    causes : collection of Cause
        Their causes; without effect if there are limits.
    limits : mapping of str to sequence of int, optional
        By module, the most entries of each FIFO, in the order of `cyscc.sim.executors.samples.fifos`: spells are then
        those in which any of a kernel's FIFOs holds more.
    """

    least: int = 1
    causes: Collection[Cause] = tuple(Cause)
    limits: Mapping[str, Sequence[int]] | None = None

    @property
    def wanted(self) -> int:
        """Bit mask of the numbers whose spells are logged."""
        return 1 << 1 if self.limits is not None else sum(1 << cause for cause in self.causes)


class SpellTracker:
    """Logs spells, given what kernels show in every cycle.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    request : SpellRequest
        The spells to log.
    """

    def __init__(self, config: AcceleratorConfig, request: SpellRequest) -> None:
        self._request = request
        self._shape = (config.engines, config.bfs_kernels + config.intersection_kernels)
        self.restart()

    def restart(self) -> None:
        """Drop everything, because a state is loaded."""
        self._shown: npt.NDArray[np.int64] = np.full(self._shape, -1)
        self._begun = np.zeros(self._shape, np.int64)
        self._spells: list[tuple[int, int, int, int, int]] = []

    def show(self, engine: int, kernel: int, cycle: int, *, cause: int, held: Sequence[int], module: str) -> None:
        """Note a kernel's cause in a cycle, and what its FIFOs hold."""
        limits = self._request.limits
        number = cause if limits is None else int(np.any(np.greater(held, limits[module])))
        if number != self._shown[engine, kernel]:
            self._end(engine, kernel, cycle)
            self._shown[engine, kernel] = number
            self._begun[engine, kernel] = cycle

    def take(self, cycle: int, *, under_way: bool) -> npt.NDArray[np.void]:
        """Return the spells since the last call, see `Executor.take_spells`."""
        if under_way:
            for engine, kernel in np.ndindex(self._shape):
                self._end(engine, kernel, cycle)
        spells, self._spells = self._spells, []
        return np.array(spells, SPELL)

    def _end(self, engine: int, kernel: int, cycle: int) -> None:
        number, begin = int(self._shown[engine, kernel]), int(self._begun[engine, kernel])
        if number >= 0 and self._request.wanted >> number & 1 and cycle - begin >= self._request.least:
            self._spells.append((engine, kernel, number, begin, cycle))


_SPELL_LOG = structure(NATIVE / "spell_log.h", "SpellLog")


class SpellBuffer:
    """The memory to which a native machine writes spells.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    request : SpellRequest
        The spells to log.
    cycles : int
        Most cycles between two calls of `drain`; the buffer has room for all their spells.
    """

    def __init__(self, config: AcceleratorConfig, request: SpellRequest, *, cycles: int) -> None:
        kernels = config.bfs_kernels + config.intersection_kernels
        # One may have begun before these cycles, and one may be under way after them.
        places = kernels * (cycles // request.least + 2)
        self._spells = np.zeros((config.engines, places), SPELL)
        self._written = np.zeros(config.engines, np.int64)
        self._drained: list[npt.NDArray[np.void]] = []
        limits = request.limits
        self._limits = (
            None if limits is None else np.concatenate([limits[module] for module in MODULES]).astype(np.int64)
        )
        self.log = filled(
            _SPELL_LOG,
            least=request.least,
            wanted=request.wanted,
            limits=0 if self._limits is None else self._limits.ctypes.data,
            places=places,
            spells=self._spells.ctypes.data,
            written=self._written.ctypes.data,
        )

    def restart(self) -> None:
        """Drop everything, because a state is loaded."""
        self._written[:] = 0
        self._drained = []

    def drain(self) -> None:
        """Make room for the spells of further cycles."""
        assert self._written.max() <= self._spells.shape[1], "the buffer has room for all spells"
        for spells, count in zip(self._spells, self._written.tolist(), strict=True):
            if count:
                self._drained.append(spells[:count].copy())
        self._written[:] = 0

    def take(self) -> npt.NDArray[np.void]:
        """Return all spells since the last call."""
        self.drain()
        drained, self._drained = self._drained, []
        return np.concatenate(drained) if drained else np.zeros(0, SPELL)
