"""Events of a vertex in a recorded run: each access to its words, colour, neighbours and queue entries."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.output.errors import InputError, VertexError
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import ID_MASK, AccessWatcher, queues_of, single_ids, within
from cyscc.host.replay.finding import RESTRICTIONS, Located, MissingPointError, kernel_name
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.replay.spells import WaitWatcher
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.specification.place import KERNEL, Place
from cyscc.sim.executors.accesses import READ, WRITE, WatchedAccesses
from cyscc.sim.hardware import DEGREE, LEVEL, START, VISITED, list_reads
from cyscc.sim.memory import ArrayKind

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine


EVENTS = {
    "id_read": "issue_2",
    "id_dropped": "issue_2",
    "word_read": "issue_3",
    "pushed": "write",
    "visited": "write",
    "reached": "write",
    "entry_read": "issue_1",
    "expanded": "issue_2",
    "reach_read": "issue_1",
    "colour_read": "issue_2",
    "other_word_read": "issue_2",
    "coloured": "write",
    "own_word_read": "issue_3",
    "unvisited": "write",
}
"""Events of a vertex, in the order in which they happen, with the cause that their kernel counts; those from
``reach_read`` on are of intersections."""

_DIRECTIONS = ("forward", "backward")
_KERNEL = ["instruction", "engine", "kernel"]
_LOOK = 1024
"""Cycles between two looks for the first visit."""
_LEAD = 100
"""Cycles before the first read of a vertex in which that read may have been offered."""


@dataclass(frozen=True, kw_only=True)
class VertexHistory:
    """The events of a vertex in a run.

    Parameters
    ----------
    vertex : int
        The vertex, as named in the graph's file.
    out_degree, in_degree : int
        Edges from it and to it, in the graph as placed in the machine.
    latency : int
        Least cycles of a memory access.
    events : DataFrame
        The events of the last attempt in the order of their cycles, numbered from 1. ``cycle`` and ``answered`` are as
        of `AccessWatcher.frame`; ``iteration``, ``phase`` and ``level`` of the instruction; ``engine``, ``module``,
        ``kernel``; ``event``, one of `EVENTS`; ``of``, the vertex whose neighbour it is, if known; ``text``, the event
        in words; ``accesses``, of which it consists; ``address``; ``controller`` and ``bank``, if the memory has banks.
    absent : str
        Why the vertex was never visited; empty if it was.
    spells : DataFrame
        What its kernels did and waited for before events since the one before, if that was asked for: the event's
        ``number``, ``engine``, ``module``, ``kernel``, ``cause``, ``begin``, ``cycles``.
    """

    vertex: int
    out_degree: int
    in_degree: int
    latency: int
    events: pd.DataFrame
    absent: str = ""
    spells: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"number": [], "cause": [], "cycles": []}))

    @property
    def visit(self) -> int | None:
        """Number of the first visit: the first write of its graph word with the visited flag set; None without one.

        The host marks the source of a search. Its first visit is the read of its queue entry.
        """
        for event in ("visited", "entry_read"):
            found = self.events.index[self.events["event"] == event]
            if len(found):
                return int(found[0])
        return None

    @property
    def repeated(self) -> "pd.Series":
        """Which events are reads of its id or word after the first visit, of which a hub has thousands."""
        reads = self.events["event"].isin(["id_read", "id_dropped", "word_read"])
        return reads & (self.events.index > (self.visit or 0))

    @property
    def lead(self) -> int:
        """Cycles before the first visit in which its kernel can have begun with the vertex: by a read of its id."""
        if self.visit is None:
            return 0
        visit = self.events.loc[self.visit]
        same = ["engine", "module", "kernel", "iteration", "phase", "level"]
        own = self.events[(self.events[same] == visit[same]).all(axis=1)]
        reads = own[own["event"] == ("id_read" if visit["event"] == "visited" else "entry_read")]["cycle"]
        # Where kernels exchange ids, another one has read the id.
        first = visit["cycle"] if reads.empty else reads.min()
        return int(visit["cycle"] - max(first - _LEAD, 0))


def vertex_history(replay: RecordReplay, vertex: int, *, first_visit: bool = False) -> VertexHistory:
    """Make a recorded run again, and return the events of a vertex.

    Parameters
    ----------
    replay : Replay
        The run.
    record : Record
        Its record.
    vertex : int
        The vertex, as named in the graph's file.
    first_visit : bool
        Whether to end soon after its first visit.

    Raises
    ------
    InputError
        The graph has no such vertex, or the run no instruction; or see `Replay.make`.
    SimulationError
        See `Replay.make`.
    """
    record, attempts = replay.record, replay.record.attempts
    if attempts.empty:
        raise InputError(f"there is no vertex={vertex} in the run: it ran no instruction", path=record.folder)
    try:
        replay.graph.index(vertex)
    except VertexError as error:
        raise VertexError(error.cause, path=replay.spec.graph) from None
    begin = int(attempts["start"][attempts["attempt"] == record.attempt].min())
    watcher = _VertexWatcher(vertex, begin=begin, first_visit=first_visit)
    replay.watch([watcher], last=record.cycles - 1, aim=f"looking for vertex {vertex}")
    return watcher.history(record)


def locate_vertex(point: Place, replay: RecordReplay) -> Located:
    """Find the first visit of a vertex, or one of its events by number.

    Raises
    ------
    MissingPointError
        The vertex has no such event.
    InputError, SimulationError
        See `vertex_history`.
    """
    assert point.vertex is not None
    anywhere = not set(RESTRICTIONS).intersection(point.given)
    history = vertex_history(replay, point.vertex, first_visit=point.nth is None and anywhere)
    events = point.rows_of(history.events, RESTRICTIONS)
    if point.nth is not None:
        if point.nth > len(events):
            raise MissingPointError.few(point, replay.record, len(events))
        event = events.iloc[point.nth - 1]
    else:
        own = history.events.loc[history.visit]["event"] if history.visit is not None else ""
        visits = events[events["event"] == own]
        if visits.empty:
            raise MissingPointError(point, replay.record, "it is not visited there" if own else history.absent)
        event = visits.iloc[0]
    return Located(
        cycle=int(event["cycle"]),
        kernel=kernel_name(event),
        cause=EVENTS[event["event"]],
        event=event["text"]
        + ("" if "neighbour of" in event["text"] or event.isna()["of"] else f" (neighbour of {event['of']})"),
    )


def _bytes(start: int, size: int, *kinds: int, mask: int = 0, low: int = 0, high: int | None = None) -> WatchedAccesses:
    """Return accesses of some kinds, or both, whose data, masked, has a value, or one within limits."""
    return WatchedAccesses(
        start=start,
        end=start + size,
        kinds=kinds or (READ, WRITE),
        mask=mask,
        low=low,
        high=low if high is None else high,
    )


class _VertexWatcher(AccessWatcher):
    """Collects the accesses to a vertex.

    Parameters
    ----------
    vertex : int
        The vertex, as named in the graph's file.
    begin : int
        First cycle of interest.
    first_visit : bool
        Whether the run ends soon after its first visit; the completion of writes is then not told.
    """

    def __init__(self, vertex: int, *, begin: int, first_visit: bool) -> None:
        super().__init__(self._own, completions=not first_visit)
        self._vertex = vertex
        self._begin = begin
        self._first_visit = first_visit

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start logging."""
        self._number = number = graphs[0].graph.index(self._vertex)
        self._words_at = [each.words_address + 8 * number for each in graphs]
        self._lists = [tuple(each.graph.offsets[number : number + 2].tolist()) for each in graphs]
        super().begin(machine, graphs)

    def _own(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> list[WatchedAccesses]:
        """Return what to watch: its words and lists of neighbours, its id in other lists, its queue entries.

        All reads of entries are among it: they tell for which list the ids of neighbours are read.
        """
        queues, memory, config = queues_of(machine), machine.memory, machine.config
        # Two ids may be read or written together; of each, the one that is not this vertex's may have any value.
        halves = [{"mask": ID_MASK << shift, "low": self._number << shift} for shift in (0, 32)]
        watched = [_bytes(*queue, READ) for queue in queues.frontiers]
        watched += [
            _bytes(*queue, **half) for queue in queues.reaches for half in halves[: 2 - config.writes_single_ids]
        ]
        whole = int(START.mask << START.shift)
        for word, (first, end), each in zip(self._words_at, self._lists, graphs, strict=True):
            neighbours = each.neighbours_address, 4 * each.graph.edges
            watched.append(_bytes(word, 8))
            watched += [_bytes(*neighbours, READ, **half) for half in halves[: 1 + config.pair_reads]]
            # A pair may begin before the list.
            start = each.neighbours_address + 4 * first & ~7
            watched.append(_bytes(start, each.neighbours_address + 4 * end - start, READ))
            # Entries of its list, or of chunks of it, begin there.
            places = {"mask": whole, "low": first << int(START.shift), "high": max(end - 1, first) << int(START.shift)}
            watched += [_bytes(*queue, WRITE, **places) for queue in queues.frontiers]
        for (address, _), kind in zip(memory.allocations, memory.holds, strict=True):
            if kind is ArrayKind.COLOURS:
                watched.append(_bytes(address + 4 * self._number, 4))
        return watched

    def look(self, cycle: int) -> int:
        """Take the logged accesses; done with the visit if that is all that is asked for."""
        left = super().look(cycle)
        if self._first_visit and self._parts:
            rows = self._parts[-1]
            visits = (rows["kind"] == WRITE) & np.isin(rows["address"], self._words_at)
            self.done = bool((visits & (rows["cycle"] >= self._begin)).any())
        return min(left, _LOOK) if self._first_visit else left

    def history(self, record: Record) -> VertexHistory:
        """Return the events."""
        rows = self.frame(record)
        rows = rows[rows["attempt"] == record.attempt]
        rows = rows.assign(direction=(rows["phase"] == "backward").astype(int), accesses=1)
        bfs = rows["module"] == "bfs"
        told = [*self._searched(rows[bfs], record), *self._intersected(rows[~bfs])]
        joined = self._with_parents(pd.concat(told))
        order = pd.Index(list(EVENTS)).get_indexer(joined["event"])
        joined = joined.assign(order=order).sort_values(["cycle", "order", "engine", "kernel"])
        banks = [name for name in ("controller", "bank") if name in joined]
        names = ["cycle", "answered", "iteration", "phase", "level", "engine", "module", "kernel"]
        events = joined[[*names, "event", "of", "text", "accesses", "address", *banks]].reset_index(drop=True)
        events.index = pd.RangeIndex(1, len(events) + 1, name="number")
        graph = self._graphs[0].graph
        found = VertexHistory(
            vertex=self._vertex,
            out_degree=self._lists[0][1] - self._lists[0][0],
            in_degree=int(np.count_nonzero(graph.targets == self._number)),
            latency=self._machine.memory.profile.unloaded_latency,
            events=events,
        )
        if found.visit is not None:
            return found
        return replace(found, absent=self._absence(record))

    def _searched(self, rows: pd.DataFrame, record: Record) -> "list[pd.DataFrame]":
        """Return the events of searches."""
        process = rows["process"].to_numpy()
        writes, queued = process == "visitor", rows["array"].to_numpy() == "queues"
        reach = within(rows["address"].to_numpy(), queues_of(self._machine).reaches)
        entries = rows[process == "frontier_reader"]
        ids = _ids_read(rows[process == "neighbour_reader"], entries, self._graphs, self._machine.config.pair_reads)
        words, marks = rows[process == "word_reader"], rows[writes & ~queued]
        visited = VISITED.get(words["data"].to_numpy()).astype(bool)
        reached = single_ids(rows[writes & reach])
        reached = reached[reached["data"] == self._number]
        pushes, entries = self._in_slots(rows[writes & queued & ~reach], entries, reached, record)
        marked = [f"marked with level {each}" for each in LEVEL.get(marks["data"].to_numpy())]
        of_it = ids["id"] == self._number
        return [
            _named(ids[of_it & ids["listed"]], "id_read", "id read"),
            _named(ids[of_it & ~ids["listed"]], "id_dropped", "id read beside one of another list, and dropped"),
            _named(words, "word_read", np.where(visited, "graph word read: visited already", _UNVISITED)),
            _named(pushes, "pushed", [f"pushed to slot {slot:,} of the next queue" for slot in self._slots(pushes)]),
            _named(marks, "visited", "marked as visited" if self._machine.config.keeps_reach_queue else marked),
            _named(reached, "reached", "entered in the reach queue"),
            _named(entries, "entry_read", [f"read from slot {slot:,} of the queue" for slot in self._slots(entries)]),
            self._expansions(ids[ids["listed"] & (ids["source"] == self._number)]),
        ]

    def _in_slots(
        self, pushes: pd.DataFrame, entries: pd.DataFrame, reached: pd.DataFrame, record: Record
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return those of some pushes, and of reads of entries, that are of the vertex.

        An entry's place in the queue of the next level is that of its id in this level's part of the reach queue. On
        machines without one, a vertex without neighbours has no entry, and those of the others tell whose they are.
        """
        if not self._machine.config.keeps_reach_queue:
            return tuple(rows[self.vertices(rows) == self._number] for rows in (pushes, entries))
        every = record.attempts
        search = every.groupby(["attempt", "iteration", "phase"])["pushed"]
        before = 1 + search.cumsum() - every["pushed"]  # the source is the first
        starts = [start for start, _ in queues_of(self._machine).reaches]
        place = (reached["address"] - np.array(starts)[reached["direction"]]) // 4
        slots = place - reached["instruction"].map(before).to_numpy()
        own = pd.MultiIndex.from_arrays([reached["instruction"], slots])

        def found(rows: pd.DataFrame, levels: int) -> npt.NDArray[np.bool_]:
            keys = pd.MultiIndex.from_arrays([rows["instruction"] - levels, self._slots(rows)])
            return keys.isin(own)

        sources = (entries["level"] == 0) & (entries["source"] == self._number)
        return pushes[found(pushes, 0)], entries[sources | ((entries["level"] > 0) & found(entries, 1))]

    def _expansions(self, ids: pd.DataFrame) -> pd.DataFrame:
        """Return an event for the reads of all of its neighbours' ids, or of those of a chunk."""
        keys = [*_KERNEL, "direction", "entry"]
        groups = ids.groupby(keys, sort=False)
        begins = ids.loc[groups["cycle"].idxmin()]
        index = pd.MultiIndex.from_frame(begins[keys])
        counts, answered = (each.reindex(index).to_numpy() for each in (groups.size(), groups["answered"].max()))
        accesses = groups["cycle"].nunique().reindex(index).to_numpy()
        degrees = np.diff(np.array(self._lists)).ravel()[begins["direction"]]
        texts = [
            ("id of its neighbour read" if degree == 1 else f"ids of its {count:,} neighbours read")
            if degree == count
            else f"ids of {count:,} of its {degree:,} neighbours read"
            for count, degree in zip(counts.tolist(), degrees.tolist(), strict=True)
        ]
        return _named(begins.assign(answered=answered, accesses=accesses), "expanded", texts)

    def _intersected(self, rows: pd.DataFrame) -> "list[pd.DataFrame]":
        """Return the events of intersections."""
        process, array, address = (rows[name].to_numpy() for name in ("process", "array", "address"))
        writes, data = rows["kind"].to_numpy() == "write", rows["data"].to_numpy()
        directions = np.array(_DIRECTIONS, object)
        queues = [start for start, _ in queues_of(self._machine).reaches]
        queue = directions[np.searchsorted(queues, address, side="right") - 1] if queues else ""
        word = directions[(address == self._words_at[-1]).astype(int)]
        state = np.where(VISITED.get(data) != 0, "visited", "not visited").astype(object)
        colour = np.where(data == 0, "none", "coloured already").astype(object)
        reads_colours = process == "colour_reader"
        told = (
            (
                "reach_read",
                (process == "reach_reader") & (data == self._number),
                "read from the " + queue + " reach queue",
            ),
            ("colour_read", reads_colours & (array == "colours"), "colour read: " + colour),
            ("other_word_read", reads_colours & (array == "words"), word + " graph word read: " + state),
            ("own_word_read", (process == "classifier") & ~writes, word + _CLEARED),
            ("unvisited", process == "unvisit_writer", word + " visited flag cleared"),
            ("coloured", (process == "classifier") & writes, np.full(len(rows), "coloured")),
        )
        return [_named(rows[chosen], event, texts[chosen]) for event, chosen, texts in told if chosen.any()]

    def _slots(self, rows: pd.DataFrame) -> list[int]:
        """Return the places of entries in their frontier queue."""
        starts = np.array([address for address, _ in queues_of(self._machine).frontiers])
        addresses = rows["address"].to_numpy()
        slots: list[int] = ((addresses - starts[np.searchsorted(starts, addresses, side="right") - 1]) // 8).tolist()
        return slots

    def _with_parents(self, events: pd.DataFrame) -> pd.DataFrame:
        """Add the vertex as whose neighbour it was read, as far as that is sure."""
        events = events.assign(of=pd.Series(pd.NA, events.index, "Int64")).reset_index(drop=True)
        ids = events[events["event"] == "id_read"]
        parents = self._graphs[0].graph.original(ids["source"].to_numpy(np.int64))
        events.loc[ids.index, "of"] = parents
        events.loc[ids.index, "text"] = [f"id read, as a neighbour of {parent}" for parent in parents]
        # Kernels that exchange ids read the words of those that others of their AE have read.
        known, keys = events.loc[ids.index], _KERNEL[: 2 if self._machine.config.exchange_kernels else 3]
        for names, text in ((["word_read"], _UNVISITED), (["pushed", "visited", "reached"], None)):
            own = events[events["event"].isin(names)]
            events.loc[own.index, "of"] = _sure(own, known, keys)
            known, keys = events[events["text"] == text], _KERNEL
        return events

    def _absence(self, record: Record) -> str:
        """Return why the vertex has no visit."""
        if record.interrupted is not None:
            return f"it is not visited before cycle {record.interrupted:,}, at which the record ends"
        if record.document["command"] == "bfs":
            return f"it is not reached from {record.document['run']['options']['source']}"
        return "it is trimmed"


_UNVISITED = "graph word read: not visited"
_CLEARED = " graph word read, to clear its visited flag"


def _ids_read(reads: pd.DataFrame, entries: pd.DataFrame, graphs: Sequence[PlacedGraph], pairs: bool) -> pd.DataFrame:
    """Return a row for each id that reads of neighbours bring, with what is known of its place.

    A kernel reads the lists in the order of its entries, each with as many reads as it takes. A pair at the end of a
    list, or of a chunk of it, has an id of another one besides, which the kernel drops.

    Parameters
    ----------
    reads : DataFrame
        The reads, with ``instruction`` and ``direction``, the number of their graph.
    entries : DataFrame
        All reads of queue entries in these instructions, likewise.
    graphs : sequence of PlacedGraph
        The machine's graphs.
    pairs : bool
        Field `pair_reads` of the configuration.

    Returns
    -------
    pandas.DataFrame
        The rows, with the ``address`` of the id itself, and ``id``; ``source``, the vertex in whose list it stands;
        ``entry``, the number of the entry that was read, among those of its kernel; and ``listed``, whether the id
        belongs to that entry.
    """
    words = entries["data"].to_numpy()
    first, count = START.get(words).astype(np.int64), list_reads(words, pairs=pairs)
    made = entries[_KERNEL].assign(
        entry=entries["number"], first=first, end=first + DEGREE.get(words).astype(np.int64), reads=count
    )
    made = made.sort_values("entry", kind="stable")
    made["begin"] = made.groupby(_KERNEL)["reads"].cumsum() - made["reads"]
    made = made[made["reads"] > 0].sort_values("begin", kind="stable").drop(columns="reads")
    found = pd.merge_asof(
        reads.sort_values("number", kind="stable"), made, left_on="number", right_on="begin", by=_KERNEL
    )
    wide = found[found["size"] == 8]
    high = wide.assign(address=wide["address"] + 4, id=wide["data"] >> np.uint64(32))
    ids = pd.concat([found.assign(id=found["data"] & np.uint64(ID_MASK)), high], ignore_index=True)
    lists = np.array([each.neighbours_address for each in graphs])
    place = (ids["address"].to_numpy() - lists[ids["direction"]]) // 4
    source = np.zeros(len(ids), np.int64)
    for direction, each in enumerate(graphs):
        own = (ids["direction"] == direction).to_numpy()
        source[own] = np.searchsorted(each.graph.offsets, place[own], side="right") - 1
    ids = ids.assign(source=source, listed=(place >= ids["first"]) & (place < ids["end"]))
    # The last pair may end behind the lists.
    return ids[place < np.array([each.graph.edges for each in graphs])[ids["direction"]]]


def _named(rows: pd.DataFrame, event: str, texts: Any) -> pd.DataFrame:
    """Return accesses as events."""
    return rows.assign(event=event, text=texts)


def _sure(events: pd.DataFrame, known: pd.DataFrame, keys: list[str]) -> "pd.Series":
    """Return the parents of events: where all that is known before, in the same place, is of the same one."""
    pairs = events[[*keys, "cycle"]].reset_index().merge(known[[*keys, "answered", "of"]], on=keys)
    parents = pairs[pairs["answered"] <= pairs["cycle"]].groupby("index")["of"].agg(["min", "max"])
    sure = parents["min"][parents["min"] == parents["max"]]
    return sure.reindex(events.index).astype("Int64")


_LONGEST = 2500
"""Most cycles between two events of a kernel that are told; after more, it is about something else."""


def vertex_lives(record: Record, vertices: Sequence[int], setting: RerunSetting) -> list[VertexHistory]:
    """Make a recorded run again for each of some vertices, and return their events, and the spells between them.

    Parameters
    ----------
    record : Record
        The record.
    vertices : sequence of int
        The vertices, as named in the graph's file.
    setting : RerunSetting
        How the run is made again.

    Raises
    ------
    InputError
        The record or the graph cannot be used, or the graph has no such vertex.
    SimulationError
        The machine could not be built, or the run failed.
    """
    replay = RecordReplay(record, setting)
    histories = [vertex_history(replay, vertex) for vertex in vertices]
    gaps = [_gaps(history) for history in histories]
    windows = _merged(pd.concat(gaps))
    if not windows:
        return histories
    waits, last = WaitWatcher(1, windows=windows, ahead=0), windows[-1][1]
    replay.watch([waits], last=last, aim=f"to cycle {last:,}")
    spells = waits.frame().assign(end=lambda rows: rows["begin"] + rows["cycles"])
    return [replace(history, spells=_between(own, spells)) for history, own in zip(histories, gaps, strict=True)]


def _gaps(history: VertexHistory) -> pd.DataFrame:
    """Return the cycles between events and those before of the same kernel and instruction, with the event's number."""
    events = history.events
    same = [*KERNEL, "iteration", "phase", "level"]
    before = events.groupby(same, observed=True)["cycle"].shift()
    gaps = events[[*KERNEL]].assign(first=before, end=events["cycle"]).reset_index()
    length = gaps["end"] - gaps["first"]
    gaps = gaps[(length > 0) & (length <= _LONGEST) & ~history.repeated.to_numpy()]
    return gaps.astype({"first": np.int64})


def _merged(gaps: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the cycles of gaps as windows in order and apart."""
    windows: list[tuple[int, int]] = []
    for first, end in sorted(zip(gaps["first"].tolist(), gaps["end"].tolist(), strict=True)):
        if windows and first <= windows[-1][1] + 1:
            windows[-1] = windows[-1][0], max(windows[-1][1], end - 1)
        else:
            windows.append((first, end - 1))
    return windows


def _between(gaps: pd.DataFrame, spells: pd.DataFrame) -> pd.DataFrame:
    """Return the parts of spells that lie in gaps: the gap's `number`, the kernel, its cause, `begin` and `cycles`."""
    parts = gaps.merge(spells.astype({"module": str}), on=[*KERNEL])
    begin, end = parts[["begin", "first"]].max(axis=1), parts[["end_x", "end_y"]].min(axis=1)
    parts = parts.assign(begin=begin, cycles=end - begin)[end > begin]
    return parts[["number", *KERNEL, "cause", "begin", "cycles"]].reset_index(drop=True)
