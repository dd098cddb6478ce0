"""Spells of cycles in which a kernel has one cause: collected by a replay, or searched for a point."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES
from cyscc.host.replay.finding import Search, causes_of, limits_of
from cyscc.host.specification.place import KERNEL, Place
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
    limits : mapping, optional
        Entries that FIFOs exceed instead, see `SpellRequest`.

    Attributes
    ----------
    waiting : bool
        False: spells under way are returned as they are.
    done : bool
        See `cyscc.host.replay.replaying.Watcher`.
    """

    def __init__(
        self,
        least: int,
        *,
        windows: Sequence[tuple[int, int]] | None = None,
        ahead: int = AHEAD,
        causes: Collection[Cause] = RUNNING,
        limits: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self._request = SpellRequest(least=least, causes=causes, limits=limits)
        self._windows = None if windows is None else np.array(windows, np.int64).reshape(-1, 2)
        self._ahead = ahead
        self._ended = [np.zeros(0, SPELL)]
        self._under_way = np.zeros(0, SPELL)
        self._logging = False
        self.waiting = self.done = False

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
        return self._frame_of(np.concatenate([*self._ended, self._under_way]))

    def _frame_of(self, spells: npt.NDArray[np.void]) -> pd.DataFrame:
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


_ORDER = ["begin", "engine", "module", "kernel"]


class SpellSearch(WaitWatcher):
    """Searches instructions for a wait, or for a FIFO above a limit; done when it is found.

    Parameters
    ----------
    search : Search
        The instructions, and which of their events is searched.
    point : Place
        The event.
    record : Record
        The record of the run.

    Attributes
    ----------
    longest : pandas.DataFrame
        The longest event that has ended, whether it is long enough or not; see `frame`.
    """

    def __init__(self, search: Search, point: Place, record: Record) -> None:
        causes = [Cause[name.upper()] for name in causes_of(point)]
        limits = None if causes else {module: [*its.values()] for module, its in limits_of(point, record).items()}
        window = search.spans[0][0], search.spans[-1][1] - 1
        # Of any length: one under way may yet become long.
        super().__init__(1, windows=[window], ahead=0, causes=causes, limits=limits)
        self._point, self._nth, self._least = point, search.nth, (point.longer or 0) + 1
        self._starts, self._ends = np.array(search.spans).T

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start collecting."""
        super().begin(machine, graphs)
        self.longest = self._found = self.frame()

    def look(self, cycle: int) -> int:
        """Take the spells up to a cycle; the event is found when no other that is under way can come before it."""
        left = super().look(cycle)
        self._take(np.concatenate(self._ended))
        self._ended = [np.zeros(0, SPELL)]
        if len(self._found) >= self._nth:
            under_way = self._own(self._under_way)[_ORDER].itertuples(index=False)
            event = next(self._found[self._nth - 1 :][_ORDER].itertuples(index=False))
            self.done = all(event <= other for other in under_way)
        return left

    def events(self) -> pd.DataFrame:
        """Return the events that are long enough, in their order, after the run, with which all end; see `frame`."""
        self._take(self._under_way)
        return self._found

    def _take(self, spells: npt.NDArray[np.void]) -> None:
        """Take spells that have ended."""
        own = self._own(spells)
        self.longest = pd.concat([self.longest, own]).nlargest(1, "cycles")
        found = pd.concat([self._found, own[own["cycles"] >= self._least]])
        self._found = found.sort_values(_ORDER, kind="stable")

    def _own(self, spells: npt.NDArray[np.void]) -> pd.DataFrame:
        """Return the spells of the kernels of the point that begin in the instructions."""
        frame = self._frame_of(spells)
        span = np.searchsorted(self._starts, frame["begin"], side="right") - 1
        return self._point.rows_of(frame[(span >= 0) & (frame["begin"] < self._ends[span])], KERNEL)


class Reached(BaseException):
    """Ends a run at its target cycle; not an error, so error handlers shall not catch it."""
