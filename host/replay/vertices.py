"""Events of a vertex in a recorded run: each access to its words, colour, neighbours and queue entries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.output.errors import InputError, VertexError
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import ID_MASK, AccessWatcher, queues_of, single_ids, within
from cyscc.host.replay.finding import RESTRICTIONS, Located, MissingPointError, kernel_name
from cyscc.host.replay.neighbour_reads import ids_read
from cyscc.host.replay.replaying import Replay, replay_of
from cyscc.host.replay.search import Reached
from cyscc.host.replay.watching import watch_run
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.specification.place import Place
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.hardware import DEGREE, LEVEL, START, VISITED, chunk_words
from cyscc.sim.memory import ArrayKind, WatchedRange

if TYPE_CHECKING:
    from cyscc.sim.machine import Machine

EVENTS = {
    "id_read": "id read as a neighbour",
    "word_read": "graph word read",
    "pushed": "pushed to the next queue",
    "visited": "marked as visited",
    "reached": "entered in the reach queue",
    "entry_read": "read from the queue",
    "expanded": "ids of its neighbours read",
    "reach_read": "read from a reach queue",
    "colour_read": "colour read",
    "other_word_read": "graph word of the other direction read",
    "coloured": "coloured",
    "own_word_read": "graph word read, to clear its visited flag",
    "unvisited": "visited flag cleared",
}
"""Events of a vertex, in the order in which they happen; those from ``reach_read`` on are of intersections."""

_CAUSES = {
    "issue_1": ("entry_read", "reach_read"),
    "issue_2": ("id_read", "expanded", "colour_read", "other_word_read"),
    "issue_3": ("word_read", "own_word_read"),
    "write": ("pushed", "visited", "reached", "coloured", "unvisited"),
}
"""Events by the cause that their kernel counts."""

_DIRECTIONS = ("forward", "backward")
_BUT_VISITED = (1 << 64) - 1 - int(VISITED.put(1))
_WHOLE = (1 << 64) - 1
_LEAD = 100
"""Cycles before the first read of a vertex in which that read may have been offered."""
_MOST_ENTRIES = 16
"""Most queue entries of a vertex that are watched by their values; of one with more, all entries are."""


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
        ``kernel`` (-1 if it is not known); ``event``, one of `EVENTS`; ``of``, the vertex whose neighbour it is, if
        known; ``text``, the event in words; ``address``; ``controller`` and ``bank``, if the memory has banks.
    absent : str
        Why the vertex was never visited; empty if it was.
    """

    vertex: int
    out_degree: int
    in_degree: int
    latency: int
    events: pd.DataFrame
    absent: str = ""

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


def vertex_histories(record: Record, vertices: Sequence[int], setting: RerunSetting) -> list[VertexHistory]:
    """Make a recorded run again for each of some vertices, and return their events.

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
    replay = replay_of(record.document, record.folder, setting)
    return [vertex_history(replay, record, vertex) for vertex in vertices]


def vertex_history(replay: Replay, record: Record, vertex: int, *, first_visit: bool = False) -> VertexHistory:
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
    attempts = record.attempts
    if attempts.empty:
        raise InputError(f"there is no vertex={vertex} in the run: it ran no instruction", path=record.folder)
    try:
        replay.graph.index(vertex)
    except VertexError as error:
        raise VertexError(error.cause, path=replay.spec.graph) from None
    begin = int(attempts["start"][attempts["attempt"] == record.attempt].min())
    watcher = _VertexWatcher(vertex, begin=begin, first_visit=first_visit)
    watch_run(replay, [watcher], last=record.cycles - 1, aim=f"looking for vertex {vertex}")
    return watcher.history(record)


def locate_vertex(point: Place, replay: Replay, record: Record) -> Located:
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
    history = vertex_history(replay, record, point.vertex, first_visit=point.nth is None and anywhere)
    events = point.rows_of(history.events, RESTRICTIONS)
    if point.nth is not None:
        if point.nth > len(events):
            raise MissingPointError.few(point, record, len(events), [] if events.empty else [replace(point, nth=1)])
        event = events.iloc[point.nth - 1]
    else:
        own = history.events.loc[history.visit]["event"] if history.visit is not None else ""
        visits = events[events["event"] == own]
        if visits.empty:
            plain = Place(vertex=point.vertex, nth=None if own else 1)
            why = "it is not visited there" if own else history.absent
            raise MissingPointError(point, record, why, [plain] if len(history.events) else [])
        event = visits.iloc[0]
    return Located(
        cycle=int(event["cycle"]),
        kernel=kernel_name(event),
        cause=next(cause for cause, events in _CAUSES.items() if event["event"] in events),
        event=event["text"]
        + ("" if "neighbour of" in event["text"] or event.isna()["of"] else f" (neighbour of {event['of']})"),
    )


def _bytes(start: int, size: int, *, mask: int = _WHOLE, value: int | None = None) -> WatchedRange:
    """Return a range of addresses, with the value that the data must have, if any."""
    return WatchedRange(start=start, end=start + size, **({} if value is None else {"mask": mask, "value": value}))


class _VertexWatcher(AccessWatcher):
    """Collects the accesses to a vertex.

    Parameters
    ----------
    vertex : int
        The vertex, as named in the graph's file.
    begin : int
        First cycle of interest.
    first_visit : bool
        Whether the run ends soon after its first visit.
    """

    def __init__(self, vertex: int, *, begin: int, first_visit: bool) -> None:
        super().__init__(self._own)
        self._vertex = vertex
        self._begin = begin
        self._first_visit = first_visit

    def begin(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> None:
        """Start logging."""
        self._number = number = graphs[0].graph.index(self._vertex)
        self._words_at = [each.words_address + 8 * number for each in graphs]
        self._list_at, self._degrees, self._words = [], [], []
        for each in graphs:
            first, end = each.graph.offsets[number : number + 2].tolist()
            self._list_at.append(each.neighbours_address + 4 * first)
            self._degrees.append(end - first)
            self._words.append(int(START.put(first) | DEGREE.put(end - first)))
        super().begin(machine, graphs)

    def _own(self, machine: "Machine", graphs: Sequence[PlacedGraph]) -> list[WatchedRange]:
        """Return the ranges to watch: its words and lists of neighbours, its id in other lists, its queue entries."""
        queues, memory, config = queues_of(machine), machine.memory, machine.config
        self._entries = [chunk_words(word, config.edge_chunk) for word in self._words]
        # Two ids are read, or written, together; of each, the one that is not this vertex's may have any value.
        pairs = [(ID_MASK << shift, self._number << shift) for shift in (0, 32)]
        ranges = [_bytes(*reach, value=self._number) for reach in queues.reaches]
        if self._finds_slots(config):
            ranges = [_bytes(*reach, mask=0, value=0) for reach in queues.reaches]
        elif not config.writes_single_ids:
            ranges += [_bytes(*reach, mask=mask, value=value) for reach in queues.reaches for mask, value in pairs]
        every = config.pair_reads or sum(map(len, self._entries)) > _MOST_ENTRIES
        if every:
            ranges += [_bytes(*queue, mask=0, value=0) for queue in queues.frontiers]
        for number, each in enumerate(graphs):
            neighbours = each.neighbours_address, 4 * each.graph.edges
            ranges.append(_bytes(self._words_at[number], 8))
            if config.pair_reads:
                ranges += [_bytes(*neighbours, mask=mask, value=value) for mask, value in pairs]
            else:
                ranges.append(_bytes(*neighbours, value=self._number))
            if self._degrees[number]:
                # A pair may begin before the list.
                start = self._list_at[number] & ~7 if config.pair_reads else self._list_at[number]
                ranges.append(_bytes(start, self._list_at[number] + 4 * self._degrees[number] - start))
            if not every:
                ranges += [
                    _bytes(*queue, mask=_BUT_VISITED, value=int(word))
                    for queue in queues.frontiers
                    for word in self._entries[number]
                ]
        for (address, _), kind in zip(memory.allocations, memory.holds, strict=True):
            if kind is ArrayKind.COLOURS:
                ranges.append(_bytes(address + 4 * self._number, 4))
        return ranges

    def _finds_slots(self, config: AcceleratorConfig) -> bool:
        """Whether its pushes are told from those of others without neighbours by their slots."""
        return not min(self._degrees) and config.link_queues > 0

    def look(self, cycle: int) -> int:
        """Take the logged accesses; end the run if the visit is all that is asked for."""
        left = super().look(cycle)
        if self._first_visit and self._parts:
            _, rows = self._parts[-1]
            visits = rows["write"] & np.isin(rows["address"], self._words_at) & (rows["cycle"] >= self._begin)
            if visits.any():
                self._first_visit = False
                raise Reached
        return left

    def history(self, record: Record) -> VertexHistory:
        """Return the events."""
        rows = self.frame(record)
        rows = rows.join(
            record.instructions_at(rows["cycle"])[["instruction", "attempt", "iteration", "phase", "level"]]
        )
        rows = rows[rows["attempt"] == record.attempt]
        rows = self._with_single_ids(rows)
        rows["direction"] = (rows["phase"] == "backward").astype(int)
        told = [each for each in (*self._searched(rows), *self._intersected(rows)) if len(each)]
        joined = pd.concat(told) if told else self._named(rows.iloc[:0], "id_read", [])
        joined = self._with_parents(joined)
        order = pd.Index(list(EVENTS)).get_indexer(joined["event"])
        joined = joined.assign(order=order).sort_values(["cycle", "order"], kind="stable")
        banks = [name for name in ("controller", "bank") if name in joined]
        names = ["cycle", "answered", "iteration", "phase", "level", "engine", "module", "kernel"]
        events = joined[[*names, "event", "of", "text", "address", *banks]].reset_index(drop=True)
        events.index = pd.RangeIndex(1, len(events) + 1, name="number")
        graph = self._graphs[0].graph
        found = VertexHistory(
            vertex=self._vertex,
            out_degree=self._degrees[0],
            in_degree=int(np.count_nonzero(graph.targets == self._number)),
            latency=self._machine.memory.profile.unloaded_latency,
            events=events,
        )
        if found.visit is not None:
            return found
        return replace(found, absent=self._absence(record))

    def _with_single_ids(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return accesses with the ids of the reach queues one by one, and with a level's slot of each that is written.

        Other vertices' ids are left out.
        """
        address = rows["address"].to_numpy()
        reaches = queues_of(self._machine).reaches
        here = within(address, reaches)
        if not reaches:
            return rows.assign(slot=-1)
        writes = (rows["kind"] == "write").to_numpy()
        others = rows[~here]
        ids = single_ids(rows[here], writes[here])
        begins = ids[ids["kind"] == "write"].groupby("instruction")["address"].min()
        slots = (ids["address"] - ids["instruction"].map(begins)) // 4
        own = ids.assign(slot=slots)[ids["data"] == self._number]
        order = ["cycle", "engine", "kernel", "kind"]
        return pd.concat([others.assign(slot=-1), own]).sort_values(order, kind="stable").reset_index(drop=True)

    def _named(self, rows: pd.DataFrame, event: str, texts: Any) -> pd.DataFrame:
        """Return accesses as events."""
        return rows.assign(event=event, text=texts)

    def _searched(self, rows: pd.DataFrame) -> "list[pd.DataFrame]":
        """Return the events of searches."""
        rows = rows[rows["module"] == "bfs"]
        config = self._machine.config
        address, direction = rows["address"].to_numpy(), rows["direction"].to_numpy()
        process = rows["process"].to_numpy()
        writes, queued = process == "visitor", rows["array"].to_numpy() == "queues"
        reached = within(address, queues_of(self._machine).reaches)
        bare = rows["data"].to_numpy() & np.uint64(_BUT_VISITED)
        own_word = np.zeros(len(rows), bool)
        for number, entries in enumerate(self._entries):
            own_word |= (direction == number) & np.isin(bare, entries)
        frontier = rows[process == "frontier_reader"]
        found = ids_read(rows[process == "neighbour_reader"], frontier, self._graphs, config.edge_chunk)
        ids = found[found["id"] == self._number]
        words = rows[process == "word_reader"]
        visited = VISITED.get(words["data"].to_numpy()).astype(bool)
        pushes = rows[writes & queued & ~reached & own_word]
        marks = rows[writes & ~queued]
        levels = LEVEL.get(marks["data"].to_numpy())
        only_searches = not config.keeps_reach_queue
        entries = rows[(process == "frontier_reader") & own_word]
        if not min(self._degrees):
            # Other vertices without neighbours may have the same word.
            if self._finds_slots(config):
                pushes = _in_slots(pushes, rows[writes & reached], self._slots(pushes))
            else:
                pushes = _latest_before(pushes, marks)
            pushed = pushes[["instruction", "address"]].assign(instruction=pushes["instruction"] + 1)
            known = entries.merge(pushed.drop_duplicates(), on=["instruction", "address"])
            entries = known if len(pushes) else entries
        return [
            self._named(ids, "id_read", "id read"),
            self._named(words, "word_read", np.where(visited, "graph word read: visited already", _UNVISITED)),
            self._named(
                pushes, "pushed", [f"pushed to slot {slot:,} of the next queue" for slot in self._slots(pushes)]
            ),
            self._named(
                marks, "visited", [f"marked with level {each}" for each in levels] if only_searches else _MARKED
            ),
            self._named(rows[writes & reached], "reached", "entered in the reach queue"),
            self._named(
                entries, "entry_read", [f"read from slot {slot:,} of the queue" for slot in self._slots(entries)]
            ),
            self._expansions(found[found["source"] == self._number]),
        ]

    def _expansions(self, ids: pd.DataFrame) -> pd.DataFrame:
        """Return an event for the reads of all of its neighbours' ids, or of those of a chunk."""
        keys = ["instruction", "engine", "kernel", "direction", "first", "turn"]
        if ids.empty:
            return self._named(ids, "expanded", [])
        groups = ids.groupby(keys, sort=False)
        begins = ids.loc[groups["cycle"].idxmin()]
        index = pd.MultiIndex.from_frame(begins[keys])
        counts = groups.size().reindex(index).to_numpy()
        answered = groups["answered"].max().reindex(index).to_numpy()
        texts = [
            ("id of its neighbour read" if degree == 1 else f"ids of its {count:,} neighbours read")
            if degree == count or not self._machine.config.edge_chunk
            else f"ids of {count:,} of its {degree:,} neighbours read"
            for count, degree in zip(
                counts.tolist(), np.array(self._degrees)[begins["direction"].to_numpy()].tolist(), strict=True
            )
        ]
        return self._named(begins.assign(answered=answered), "expanded", texts)

    def _intersected(self, rows: pd.DataFrame) -> "list[pd.DataFrame]":
        """Return the events of intersections."""
        rows = rows[rows["module"] == "intersection"]
        process, array, address = (rows[name].to_numpy() for name in ("process", "array", "address"))
        writes, data = rows["kind"].to_numpy() == "write", rows["data"].to_numpy()
        directions = np.array(_DIRECTIONS, object)
        queues = [start for start, _ in queues_of(self._machine).reaches]
        queue = directions[np.searchsorted(queues, address, side="right") - 1]
        word = directions[(address == self._words_at[-1]).astype(int)]
        state = np.where(VISITED.get(data) != 0, "visited", "not visited").astype(object)
        colour = np.where(data == 0, "none", "coloured already").astype(object)
        reads_colours = process == "colour_reader"
        told = (
            ("reach_read", process == "reach_reader", "read from the " + queue + " reach queue"),
            ("colour_read", reads_colours & (array == "colours"), "colour read: " + colour),
            ("other_word_read", reads_colours & (array == "words"), word + " graph word read: " + state),
            ("own_word_read", (process == "classifier") & ~writes, word + _CLEARED),
            ("unvisited", process == "unvisit_writer", word + " visited flag cleared"),
            ("coloured", (process == "classifier") & writes, np.full(len(rows), "coloured")),
        )
        return [self._named(rows[chosen], event, texts[chosen]) for event, chosen, texts in told]

    def _slots(self, rows: pd.DataFrame) -> list[int]:
        """Return the places of entries in their frontier queue."""
        starts = np.array([address for address, _ in queues_of(self._machine).frontiers])
        addresses = rows["address"].to_numpy()
        slots: list[int] = ((addresses - starts[np.searchsorted(starts, addresses, side="right") - 1]) // 8).tolist()
        return slots

    def _with_parents(self, events: pd.DataFrame) -> pd.DataFrame:
        """Add the vertex as whose neighbour it was read: a kernel reads the words in the order of the ids."""
        events = events.assign(of=pd.Series(pd.NA, events.index, "Int64")).reset_index(drop=True)
        ids = events[events["event"] == "id_read"]
        parents = np.zeros(len(ids), np.int64)
        for number, each in enumerate(self._graphs):
            own = (ids["direction"] == number).to_numpy()
            places = (ids["address"].to_numpy()[own] - each.neighbours_address) // 4
            sources = np.searchsorted(each.graph.offsets, places, side="right") - 1
            parents[own] = each.graph.original(sources)
        events.loc[ids.index, "of"] = parents
        events.loc[ids.index, "text"] = [f"id read, as a neighbour of {parent}" for parent in parents]
        kernel = ["instruction", "engine", "kernel"]
        ids = events.loc[ids.index].sort_values([*kernel, "cycle"], kind="stable")
        words = events[events["event"] == "word_read"].sort_values([*kernel, "cycle"], kind="stable")
        if self._machine.config.remembered_ids:
            # A filter drops copies, so that only a kernel that read as many words as ids has read them in this order.
            some = words.groupby(kernel).size()
            same = some.index[ids.groupby(kernel).size().reindex(some.index) == some]
            ids, words = (rows[pd.MultiIndex.from_frame(rows[kernel]).isin(same)] for rows in (ids, words))
        words = _sure(words, ids) if self._machine.config.visited_filter else _matched(words, ids, kernel)
        events.loc[words.index, "of"] = words["of"]
        visits = words[words["text"] == _UNVISITED]
        chunks = np.array([entries.size for entries in self._entries])
        for event in ("pushed", "visited", "reached"):
            own = events[events["event"] == event].sort_values([*kernel, "cycle"], kind="stable")
            # A visit is pushed in chunks, and its id written beside each.
            times = 1 if event == "visited" else chunks[own["direction"].to_numpy()]
            own = _matched(own, visits, kernel, times=times)
            events.loc[own.index, "of"] = own["of"]
        return events

    def _absence(self, record: Record) -> str:
        """Return why the vertex has no visit."""
        if record.interrupted is not None:
            return f"it is not visited before cycle {record.interrupted:,}, at which the record ends"
        if record.document["command"] == "bfs":
            return f"it is not reached from {record.document['run']['options']['source']}"
        return "it is trimmed"


_UNVISITED = "graph word read: not visited"
_MARKED = "marked as visited"
_CLEARED = " graph word read, to clear its visited flag"


def _latest_before(pushes: pd.DataFrame, marks: pd.DataFrame) -> pd.DataFrame:
    """Return of some writes the latest of a kernel before each of others of that kernel."""
    chosen = []
    for (instruction, engine, kernel), own in marks.groupby(["instruction", "engine", "kernel"]):
        here = pushes[
            (pushes["instruction"] == instruction) & (pushes["engine"] == engine) & (pushes["kernel"] == kernel)
        ].sort_values("cycle")
        before = np.searchsorted(here["cycle"].to_numpy(), own["cycle"].to_numpy()) - 1
        chosen += here.index[before[before >= 0]].tolist()
    return pushes.loc[chosen]


def _in_slots(pushes: pd.DataFrame, reached: pd.DataFrame, slots: list[int]) -> pd.DataFrame:
    """Return of some pushes those whose slots, in their instruction, a vertex was reached with; by its kernels."""
    own = reached[["instruction", "slot", "kernel"]].drop_duplicates(["instruction", "slot"])
    found = pushes.drop(columns=["slot", "kernel"]).assign(slot=slots).reset_index()
    return found.merge(own, on=["instruction", "slot"]).set_index("index")[list(pushes.columns)]


def _sure(words: pd.DataFrame, ids: pd.DataFrame) -> pd.DataFrame:
    """Return reads of words with the column ``of`` of the reads of ids before, in the same AE, if all agree.

    Of the ids that kernels of an AE read at about the same time, it is not known which one came first to its owner.
    """
    keys = ["instruction", "engine"]
    pairs = words[[*keys, "cycle"]].reset_index().merge(ids[[*keys, "answered", "of"]], on=keys)
    parents = pairs[pairs["answered"] <= pairs["cycle"]].groupby("index")["of"].agg(["min", "max"])
    parents = parents[parents["min"] == parents["max"]]
    return words.assign(of=parents["min"].reindex(words.index).astype("Int64"))


def _matched(
    rows: pd.DataFrame, others: pd.DataFrame, keys: list[str], *, times: int | npt.NDArray[np.int64] = 1
) -> pd.DataFrame:
    """Return rows with the column ``of`` of the row of the same number among the others with the same keys.

    Each of the others is for so many rows.
    """
    number = [*keys, "number"]
    left = rows.drop(columns="of").assign(number=rows.groupby(keys).cumcount() // times)
    right = others[[*keys, "of"]].assign(number=others.groupby(keys).cumcount())
    return left.reset_index().merge(right, on=number, how="left").set_index("index")
