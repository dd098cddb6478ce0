"""Memory accesses of a replayed run: who read or wrote what, when, and where in the memory."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import ARRAYS, MODULES
from cyscc.sim.executors.accesses import DROP, NEVER, READ, WRITE, AccessRequest, WatchedAccesses
from cyscc.sim.hardware import DEGREE, READS, START, WRITES
from cyscc.sim.memory import ArrayKind, WatchedRange

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

Watched = Callable[["Machine", Sequence[PlacedGraph]], Sequence[WatchedAccesses]]
"""Function that returns the accesses to watch, given the machine and its graphs.

It is called again when further arrays have been allocated: the graphs are the first, the queues of an attempt follow.
"""

ID_MASK = (1 << 32) - 1
"""The bits of an id; in data of two ids, those of the first one."""

PROCESSES = tuple(
    dict.fromkeys(
        [process for reads in READS.values() for process, _ in reads.values()]
        + [process for writes in WRITES.values() for process in writes.values()]
    )
)
"""Processes of kernels that access the memory, named as in waveforms."""

_SPAN = 1024
"""Most cycles between two readings of the memory's log, which has room for that many."""

_LONG_SPAN = 16_384
"""Cycles between two readings of that of the kernels alone."""


class Queues(NamedTuple):
    """Address and size in bytes of the queues of a machine's latest attempt at a run."""

    frontiers: list[tuple[int, int]]
    """The two frontier queues, of 8-byte words."""
    reaches: list[tuple[int, int]]
    """The reach queues, of 4-byte ids: forward and, if components are searched for, backward. None on machines that
    only search."""


def queues_of(machine: "Machine") -> Queues:
    """Return the queues of a machine on which a run has begun."""
    memory = machine.memory
    held = list(zip(memory.allocations, memory.holds, strict=True))
    directions = sum(kind is ArrayKind.WORDS for _, kind in held)
    reaches = directions if machine.config.keeps_reach_queue else 0
    queues = [place for place, kind in held if kind is ArrayKind.QUEUES][-2 - reaches :]
    return Queues(queues[:2], queues[2:])


def single_ids(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accesses to ids, each one of two ids as two of one id; see `AccessWatcher.frame`."""
    wide = rows[rows["size"] == 8].assign(size=4)
    first = wide.assign(data=wide["data"] & np.uint64(ID_MASK))
    second = wide.assign(data=wide["data"] >> np.uint64(32), address=wide["address"] + 4)
    return pd.concat([rows[rows["size"] == 4], first, second]).sort_index(kind="stable").reset_index(drop=True)


def within(addresses: npt.NDArray[np.int64], places: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    """Return which addresses are in any of some arrays, each given by its address and size in bytes."""
    found = np.zeros(addresses.size, np.bool_)
    for start, size in places:
        found |= (addresses >= start) & (addresses < start + size)
    return found


def _everything(machine: "Machine", graphs: Sequence[PlacedGraph]) -> list[WatchedAccesses]:
    """Return all accesses."""
    return [WatchedAccesses(start=0, end=NEVER)]


class AccessWatcher:
    """Collects memory accesses of a run that is made again, as seen at the ports of the kernels.

    Parameters
    ----------
    watched : callable
        The accesses, see `Watched`; by default all.
    window : (int, int), optional
        First and last cycle in which ports take them; by default the whole run.
    completions : bool
        Whether it is told when writes are complete, which only the memory knows.

    Attributes
    ----------
    waiting, done : bool
        See `cyscc.host.replay.replaying.Watcher`.
    """

    def __init__(
        self, watched: Watched = _everything, *, window: tuple[int, int] | None = None, completions: bool = False
    ) -> None:
        self._watched = watched
        self._window = window
        self._completions = completions
        self._parts: list[npt.NDArray[np.void]] = []
        self._completed: list[npt.NDArray[np.void]] = []
        self.waiting = self.done = False

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start logging."""
        self._machine, self._graphs = machine, graphs
        self._log = machine.memory.log_accesses(span=_SPAN) if self._completions else None
        self._known = 0

    def look(self, cycle: int) -> int:
        """Take the logged accesses; return the most cycles until the next call."""
        if self._known:
            self._parts.append(self._machine.executor.take_accesses())
        if self._log is not None:
            rows = self._log.take()
            self._completed.append(rows[rows["write"]])
        memory = self._machine.memory
        if len(memory.allocations) != self._known:
            self._known = len(memory.allocations)
            self._choose()
        first, last = self._window or (0, NEVER)
        self.waiting = cycle > last and self._machine.executor.open_reads() > 0
        if self.waiting or first <= cycle <= last:
            return _SPAN if self._completions else _LONG_SPAN
        return first - cycle if cycle < first else NEVER

    def _choose(self) -> None:
        watched = self._watched(self._machine, self._graphs)
        first, last = self._window or (0, NEVER - 1)
        self._machine.executor.log_accesses(AccessRequest(watched=watched, first=first, end=last + 1))
        if self._log is not None:
            ranges = [WatchedRange(start=each.start, end=each.end) for each in watched if WRITE in each.kinds]
            self._log.choose(ranges, first=first)

    def frame(self, record: Record) -> pd.DataFrame:
        """Return the accesses by cycle, AE and kernel.

        Columns: ``cycle`` (the kernel's port took it), ``answered`` (a read's response; a write is complete, or its
        port took it if completions are not told), ``engine``, ``module``, ``kernel``, ``process`` (one of
        `PROCESSES`), ``kind`` (read, write), ``number`` (of a read, among those of its tag in the instruction),
        ``array``, ``address``, ``size`` (bytes), ``data``; if the memory has banks, ``controller`` and ``bank`` of the
        controller; and of the record's `attempts`, ``instruction``, ``attempt``, ``iteration``, ``source``, ``phase``
        and ``level``.
        """
        rows = np.concatenate(self._parts)
        rows = rows[np.isin(rows["kind"], (READ, WRITE))]
        rows = rows[np.lexsort((rows["kind"], rows["kernel"], rows["engine"], rows["cycle"]))]
        arrays, modules = self._arrays_at(rows["address"]), rows["module"].astype(np.int64)
        columns: dict[str, Any] = {name: rows[name].astype(np.int64) for name in ("cycle", "answered", "engine")}
        columns["module"] = pd.Categorical.from_codes(modules, list(MODULES))
        columns["kernel"] = rows["kernel"].astype(np.int64)
        reads = rows["kind"] == READ
        process = _processes()[modules, rows["kind"], np.where(reads, rows["tag"], arrays)]
        columns["process"] = pd.Categorical.from_codes(process, list(PROCESSES))
        columns["kind"] = pd.Categorical.from_codes(rows["kind"].astype(np.int8), ["read", "write"])
        columns["array"] = pd.Categorical.from_codes(arrays, list(ARRAYS))
        columns |= {name: rows[name] for name in ("number", "address", "data")}
        columns["size"] = rows["size"].astype(np.int64)
        contention = self._machine.memory.profile.contention
        if contention is not None:
            each = contention.banks // contention.controllers
            banks = contention.bank_by_word[rows["address"] >> 3 & contention.bank_by_word.size - 1]
            columns["controller"], columns["bank"] = banks // each, banks % each
        its = record.instructions_at(rows["cycle"])
        found = pd.DataFrame(columns)
        found = found.join(its[["instruction", "attempt", "iteration", "source", "phase", "level"]])
        return self._complete(found) if self._completed else found

    def drops(self) -> pd.DataFrame:
        """Return cycle and kernel (``engine``, ``module``, ``kernel``) of the first vertex that each dropped."""
        rows = np.concatenate(self._parts)
        names = ["cycle", "engine", "kernel"]
        return pd.DataFrame(np.sort(rows[rows["kind"] == DROP], order=names))[names].assign(module="bfs")

    def _complete(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return accesses with the cycles in which the writes are complete: of equal ones, the next in the memory."""
        same = ["engine", "address", "size", "data"]
        known = pd.DataFrame(np.concatenate(self._completed))[[*same, "cycle", "answered"]]
        known = known.rename(columns={"cycle": "performed", "answered": "complete"}).sort_values("performed")
        writes = rows[rows["kind"] == "write"]
        told = pd.merge_asof(writes, known, left_on="cycle", right_on="performed", by=same, direction="forward")
        answered = rows["answered"].to_numpy().copy()
        answered[writes.index] = told["complete"].fillna(told["answered"]).to_numpy(np.int64)
        return rows.assign(answered=answered)

    def vertices(self, rows: pd.DataFrame) -> npt.NDArray[np.int64]:
        """Return the vertex of each access to words, colours and queues, as the machine numbers them.

        It is -1 where it is not known. Of a write of two ids it is the first one. An entry of a vertex without
        neighbours is not known, since others have the same.

        Parameters
        ----------
        rows : DataFrame
            The accesses, see `frame`.
        """
        address, array = rows["address"].to_numpy(), rows["array"].astype(str).to_numpy()
        data = rows["data"].to_numpy().astype(np.uint64)
        backward = (rows["phase"] == "backward").to_numpy()
        memory = self._machine.memory
        found = np.full(len(rows), -1, np.int64)
        reached = within(address, queues_of(self._machine).reaches)
        found[reached] = (data & np.uint64(ID_MASK)).astype(np.int64)[reached]
        for place, kind in zip(memory.allocations, memory.holds, strict=True):
            if kind is ArrayKind.COLOURS:
                here = within(address, [place])
                found[here] = (address[here] - place[0]) // 4
        for direction, each in enumerate(self._graphs):
            here = within(address, [(each.words_address, 8 * each.graph.vertices)])
            found[here] = (address[here] - each.words_address) // 8
            entries = (array == "queues") & ~reached & (DEGREE.get(data) > 0) & (backward == bool(direction))
            # The neighbours of no two vertices begin at one place, unless one has none.
            starts = START.get(data).astype(np.int64)[entries]
            found[entries] = np.searchsorted(each.graph.offsets, starts, side="right") - 1
        return found

    def named(self, record: Record) -> pd.DataFrame:
        """Return the accesses with `vertex`, as named in the graph's file; -1 where none is known.

        Of the id of a neighbour it is the neighbour; else see `vertices`.
        """
        rows = self.frame(record)
        numbers, read = self.vertices(rows), (rows["array"] == "neighbours").to_numpy()
        numbers[read] = rows["data"].to_numpy()[read]
        graph = self._graphs[0].graph
        known = (numbers >= 0) & (numbers < graph.vertices)
        numbers[~known] = -1
        numbers[known] = graph.original(numbers[known])
        return rows.assign(vertex=numbers)

    def _arrays_at(self, addresses: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the kind of array at each address."""
        memory = self._machine.memory
        starts, kinds = np.array([start for start, _ in memory.allocations]), np.array(memory.holds, np.int64)
        return kinds[np.searchsorted(starts, addresses, side="right") - 1]


@cache
def _processes() -> npt.NDArray[np.int64]:
    """Return the number of a process by module, kind of access, and the tag of a read or the array of a write."""
    found = np.full((len(MODULES), 2, max(len(ARRAYS), *(1 + max(reads) for reads in READS.values()))), -1, np.int64)
    for number, module in enumerate(MODULES):
        for tag, (process, _) in READS[module].items():
            found[number, READ, tag] = PROCESSES.index(process)
        for array, process in WRITES[module].items():
            found[number, WRITE, ARRAYS.index(array)] = PROCESSES.index(process)
    return found
