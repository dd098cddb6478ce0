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
from cyscc.host.replay.switched import kernels_behind, processes_behind
from cyscc.sim.coprocessor import Instruction
from cyscc.sim.hardware import DEGREE, READERS, START, TAGS
from cyscc.sim.memory import ArrayKind, WatchedRange

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine
    from cyscc.sim.memory import Accesses

Ranges = Callable[["Machine", Sequence[PlacedGraph]], Sequence[WatchedRange]]
"""Function that returns the addresses to watch, given the machine and its graphs.

It is called again when further arrays have been allocated: the graphs are the first, the queues of an attempt follow.
"""

EVERYTHING = (WatchedRange(start=0, end=1 << 62),)
"""All addresses."""

ID_MASK = (1 << 32) - 1
"""The bits of an id; in the data of a write of two ids, those of the first one."""

_VISITOR, _CLASSIFIER, _UNVISITER = "visitor", "classifier", "unvisit_writer"

PROCESSES = tuple(
    dict.fromkeys([name for readers in READERS.values() for name in readers.values()] + [_VISITOR, _UNVISITER])
)
"""Processes of kernels that access the memory, named as in waveforms."""

UNKNOWN = "unknown"
"""Stands for a process that is not known, see `AccessWatcher.frame`."""

_SPAN = 1024
"""Most cycles between two readings of the log."""

_FAR = 1 << 40
"""More cycles than any run has."""


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


def single_ids(rows: pd.DataFrame, reached: Any) -> pd.DataFrame:
    """Return accesses with each write of two ids as two of one id.

    Parameters
    ----------
    rows : DataFrame
        Accesses, see `AccessWatcher.frame`.
    reached : array of bool
        Which of them write ids to a reach queue.
    """
    wide = np.asarray(reached) & (rows["size"].to_numpy() == 8)
    both = rows[wide].assign(size=4)
    data = both["data"].to_numpy()
    first = both.assign(data=data & np.uint64(ID_MASK))
    second = both.assign(data=data >> np.uint64(32), address=both["address"] + 4)
    return pd.concat([rows[~wide], first, second]).sort_index(kind="stable").reset_index(drop=True)


def within(addresses: npt.NDArray[np.int64], places: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    """Return which addresses are in any of some arrays, each given by its address and size in bytes."""
    found = np.zeros(addresses.size, np.bool_)
    for start, size in places:
        found |= (addresses >= start) & (addresses < start + size)
    return found


class AccessWatcher:
    """Collects memory accesses of a run that is made again: those to some addresses, within some cycles.

    Parameters
    ----------
    ranges : sequence of WatchedRange, or callable
        The addresses, or see `Ranges`; by default all.
    window : (int, int), optional
        First and last cycle of the accesses' acceptance; by default the whole run.
    """

    def __init__(
        self, ranges: Sequence[WatchedRange] | Ranges = EVERYTHING, *, window: tuple[int, int] | None = None
    ) -> None:
        self._ranges = ranges
        self._window = window
        self._parts: list[tuple[str, npt.NDArray[np.void]]] = []
        self._arrays: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start logging."""
        self._machine, self._graphs = machine, graphs
        self._log: Accesses = machine.memory.log_accesses(span=_SPAN)
        self._module = ""
        self._known = 0

    def look(self, cycle: int) -> int:
        """Take the logged accesses; they are of the instruction that ran since the last call."""
        rows = self._log.take()
        if rows.size:
            self._parts.append((self._module, rows))
        instruction = self._machine.instruction
        self._module = "intersection" if instruction is Instruction.INTERSECTION else "bfs"
        memory = self._machine.memory
        if len(memory.allocations) != self._known:
            self._known = len(memory.allocations)
            self._arrays = np.array([start for start, _ in memory.allocations]), np.array(memory.holds, np.int64)
            self._choose()
        if self._window is None:
            return _SPAN
        first, last = self._window
        if cycle > last:
            return _FAR
        return first - cycle if cycle < first else _SPAN

    def _choose(self) -> None:
        ranges = self._ranges(self._machine, self._graphs) if callable(self._ranges) else self._ranges
        if self._window is None:
            self._log.choose(ranges)
        else:
            self._log.choose(ranges, first=self._window[0], end=self._window[1] + 1)

    def frame(self, record: Record | None = None) -> pd.DataFrame:
        """Return the accesses by cycle, AE and port.

        Columns: ``cycle`` (the port accepted it), ``answered`` (a read's response; a write is complete), ``engine``,
        ``module``, ``kernel``, ``process`` (one of `PROCESSES`), ``kind`` (read, write), ``array``, ``address``,
        ``size`` (bytes), ``data``, and, if the memory has banks, ``controller`` and ``bank`` of the controller.

        Behind a switch, a port is that of a link. The kernel of a write is then found by what is written, and is -1
        where that does not tell it; the process of an intersection's read of a graph word by what its kernel read
        before, and is `UNKNOWN` where that is not among the accesses.

        Parameters
        ----------
        record : Record, optional
            The record of the run: without it, nothing is found behind a switch.
        """
        rows = np.concatenate([part for _, part in self._parts]) if self._parts else self._log.take()
        modules = np.repeat(
            np.array([MODULES.index(module) for module, _ in self._parts], np.int64),
            [part.size for _, part in self._parts],
        )
        order = np.lexsort((rows["write"], rows["port"], rows["engine"], rows["cycle"]))
        rows, modules = rows[order], modules[order]
        arrays = self._arrays_at(rows["address"])
        switched = self._machine.config.link_queues > 0
        columns: dict[str, Any] = {name: rows[name] for name in ("cycle", "answered", "engine")}
        columns["module"] = pd.Categorical.from_codes(modules, list(MODULES))
        columns["kernel"] = np.where(rows["write"], -1, rows["tag"]) if switched else rows["port"]
        # The tag of a read is its kernel's number there.
        known = np.where(rows["write"], 0, -1 if switched else 1 + rows["tag"])
        columns["process"] = pd.Categorical.from_codes(_process_of()[modules, arrays, known], [*PROCESSES, UNKNOWN])
        columns["kind"] = pd.Categorical.from_codes(rows["write"].astype(np.int8), ["read", "write"])
        columns["array"] = pd.Categorical.from_codes(arrays, list(ARRAYS))
        columns |= {name: rows[name] for name in ("address", "size", "data")}
        contention = self._machine.memory.profile.contention
        if contention is not None:
            each = contention.banks // contention.controllers
            banks = contention.bank_by_word[rows["address"] >> 3 & contention.bank_by_word.size - 1]
            columns["controller"], columns["bank"] = banks // each, banks % each
        found = pd.DataFrame(columns)
        return self._behind_switch(found, record) if switched and record is not None else found

    def _behind_switch(self, rows: pd.DataFrame, record: Record) -> pd.DataFrame:
        """Return accesses with the kernels and processes that are found by what is accessed."""
        keyed = rows.assign(
            instruction=record.instructions_at(rows["cycle"])["instruction"].to_numpy(),
            vertex=self.vertices(rows, record),
        )
        process = processes_behind(keyed, self._graphs, reaches=queues_of(self._machine).reaches, unknown=UNKNOWN)
        kernel = kernels_behind(keyed.assign(process=process), self._machine.config)
        return rows.assign(kernel=kernel, process=process)

    def vertices(self, rows: pd.DataFrame, record: Record) -> npt.NDArray[np.int64]:
        """Return the vertex of each access to words, colours and queues, as the machine numbers them.

        It is -1 where it is not known. Of a write of two ids it is the first one: one kernel writes both. An entry of a
        vertex without neighbours is not known, since others have the same.

        Parameters
        ----------
        rows : DataFrame
            The accesses, see `frame`.
        record : Record
            The record of the run.
        """
        address, array = rows["address"].to_numpy(), rows["array"].astype(str).to_numpy()
        data = rows["data"].to_numpy().astype(np.uint64)
        backward = (record.instructions_at(rows["cycle"])["phase"] == "backward").to_numpy()
        memory = self._machine.memory
        found = np.full(len(rows), -1, np.int64)
        reached = within(address, queues_of(self._machine).reaches)
        found[reached] = (data & np.uint64(ID_MASK)).astype(np.int64)[reached]
        for place, kind in zip(memory.allocations, memory.holds, strict=True):
            if kind is ArrayKind.COLOURS:
                here = within(address, [place])
                found[here] = (address[here] - place[0]) // 4
        for direction, each in enumerate(self._graphs):
            here = (array == "words") & within(address, [(each.words_address, 8 * each.graph.vertices)])
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
        numbers, read = self.vertices(rows, record), (rows["array"] == "neighbours").to_numpy()
        numbers[read] = rows["data"].to_numpy()[read]
        graph = self._graphs[0].graph
        known = (numbers >= 0) & (numbers < graph.vertices)
        numbers[~known] = -1
        numbers[known] = graph.original(numbers[known])
        return rows.assign(vertex=numbers)

    def _arrays_at(self, addresses: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the kind of array at each address."""
        if self._arrays is None:
            return np.zeros(addresses.size, np.int64)
        starts, kinds = self._arrays
        return kinds[np.searchsorted(starts, addresses, side="right") - 1]


@cache
def _process_of() -> npt.NDArray[np.int64]:
    """Return the process by module, array, and what is known: 0 of a write, 1 + tag of a read, -1 if it has no tag."""
    tags = 1 + max(max(readers) for readers in READERS.values())
    found = np.full((len(MODULES), len(ARRAYS), 2 + tags), len(PROCESSES), np.int64)
    for number, module in enumerate(MODULES):
        found[number, :, 0] = PROCESSES.index(_VISITOR if module == "bfs" else _UNVISITER)
        for tag, process in READERS[module].items():
            found[number, :, 1 + tag] = PROCESSES.index(process)
        for array, tag in TAGS[module].items():
            found[number, ARRAYS.index(array), -1] = PROCESSES.index(READERS[module][tag])
    found[MODULES.index("intersection"), ARRAYS.index("colours"), 0] = PROCESSES.index(_CLASSIFIER)
    return found
