"""Spells of cycles in which a kernel has one cause: collected by a replay, or searched for a point."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.record.tables import MODULES
from cyscc.host.replay.finding import Located, Search, causes_of, limits_of
from cyscc.host.specification.place import Place
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


_CHECK = 1024
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
    longest : (int, int)
        Cycles of the longest one that has ended, whether it is long enough or not, and its first cycle.
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
        self.longest = (0, 0)
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
        return _CHECK

    def _on_close(self) -> None:
        if self._logging and self.found is None:
            self._look(last=True)

    def _look(self, *, last: bool = False) -> None:
        """Take the spells; the event is found when no other that is under way can come before it."""
        ended = self._own(self._executor.take_spells())
        under_way = self._own(self._executor.take_spells(under_way=True))
        if last:
            ended = np.concatenate([ended, under_way])
        cycles = ended["end"] - ended["begin"]
        if (longest := int(cycles.max(initial=0))) > self.longest[0]:
            self.longest = longest, int(ended["begin"][cycles == longest].min())
        spells = np.concatenate([self._spells, ended[cycles >= self._least]])
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
