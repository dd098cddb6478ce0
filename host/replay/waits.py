"""Spells of cycles in which a kernel has one cause, collected by a replay."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.record.tables import MODULES
from cyscc.sim.coprocessor import Cause
from cyscc.sim.executors.accesses import NEVER
from cyscc.sim.executors.base import sync_interval
from cyscc.sim.executors.spells import SPELL, SpellRequest

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

RUNNING = tuple(cause for cause in Cause if cause != Cause.IDLE)
"""Causes of the cycles in which a kernel runs."""

_LOOK = 16_384
"""Cycles between two looks."""

AHEAD = 20_000
"""Cycles before a window that most spells are shorter than."""


class WaitWatcher:
    """Collects the spells of cycles in which a kernel has one cause without interruption, in all attempts of a run.

    Parameters
    ----------
    least : int
        Cycles of the shortest spell.
    windows : sequence of (int, int), optional
        First and last cycles, in order and apart: only spells that overlap one of them. All spells of the run by
        default.
    ahead : int
        Cycles before a window at which collecting starts: spells that are longer than that begin late.
    causes : collection of Cause
        Their causes.

    Attributes
    ----------
    waiting : bool
        False: spells under way are returned as they are.
    """

    def __init__(
        self,
        least: int,
        *,
        windows: Sequence[tuple[int, int]] | None = None,
        ahead: int = AHEAD,
        causes: Collection[Cause] = RUNNING,
    ) -> None:
        self._request = SpellRequest(least=least, causes=causes)
        self._windows = None if windows is None else np.array(windows, np.int64).reshape(-1, 2)
        self._ahead = ahead
        self._ended = [np.zeros(0, SPELL)]
        self._under_way = np.zeros(0, SPELL)
        self._logging = False
        self.waiting = False

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start collecting, before the machine's first cycle or the state that it goes on from."""
        self._machine = machine
        # A look may be up to an interval later than it was asked for.
        self._before = self._ahead + sync_interval(machine.config, machine.memory)

    def look(self, cycle: int) -> int:
        """Take the spells up to a cycle; return the most cycles until the next call."""
        if self._logging:
            self._ended.append(self._kept(self._machine.executor.take_spells()))
            self._under_way = self._kept(self._machine.executor.take_spells(under_way=True))
        wanted = True
        if self._windows is not None:
            ahead = self._windows[self._windows[:, 1] >= cycle]
            start = int(ahead[0, 0]) - self._before if len(ahead) else NEVER
            wanted = start <= cycle
        if wanted and not self._logging:
            self._machine.executor.log_spells(self._request)
        elif self._logging and not wanted:
            self._machine.executor.log_spells(SpellRequest(causes=()))
            self._ended.append(self._under_way)
            self._under_way = np.zeros(0, SPELL)
        self._logging = wanted
        return _LOOK if wanted else start - cycle

    def _kept(self, spells: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        if self._windows is None:
            return spells
        # The first window that does not end before the spell begins.
        place = np.searchsorted(self._windows[:, 1], spells["begin"])
        firsts = np.append(self._windows[:, 0], NEVER)
        return spells[spells["end"] > firsts[place]]

    def frame(self) -> pd.DataFrame:
        """Return the spells as a data frame, in the order of their begin.

        Returns
        -------
        pandas.DataFrame
            ``engine``, ``module``, ``kernel``, ``cause``, ``begin`` (the first cycle) and ``cycles`` (the length). The
            last cycle of the replay ends all spells.
        """
        spells = np.concatenate([*self._ended, self._under_way])
        spells = spells[np.lexsort([spells[name] for name in ("kernel", "engine", "begin")])]
        bfs_kernels = self._machine.config.bfs_kernels
        of_bfs = spells["kernel"] < bfs_kernels
        names = [cause.name.lower() for cause in Cause]
        return pd.DataFrame(
            {
                "engine": spells["engine"],
                "module": pd.Categorical(np.where(of_bfs, *MODULES), MODULES),
                "kernel": np.where(of_bfs, spells["kernel"], spells["kernel"] - bfs_kernels),
                "cause": pd.Categorical.from_codes(spells["number"], names),
                "begin": spells["begin"],
                "cycles": spells["end"] - spells["begin"],
            }
        )


class LongestWaits(WaitWatcher):
    """Collects the longest spells of each kernel in each instruction; of a long one, perhaps some shorter ones too.

    Parameters
    ----------
    causes : collection of Cause
        Their causes.
    starts : ndarray
        Cycles in which the instructions are dispatched.
    """

    def __init__(self, causes: Collection[Cause], starts: npt.NDArray[np.int64]) -> None:
        super().__init__(1, causes=causes)
        self._starts = starts

    def _kept(self, spells: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        spells = spells[spells["begin"] >= self._starts[0]]
        instruction = np.searchsorted(self._starts, spells["begin"], side="right")
        keys = [spells["kernel"], spells["engine"], instruction]
        order = np.lexsort([spells["begin"], spells["begin"] - spells["end"], *keys])
        changes = np.any([np.diff(key[order], prepend=-1) != 0 for key in keys], axis=0)
        return spells[order[changes]]
