"""Lives in one BFS kernel: queue entries and their neighbours, process 4 and the token."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.sim.hardware import DEGREE, VISITED
from cyscc.sim.observation.life.lives import Fate, Life, Stage, Wait
from cyscc.sim.observation.life.reads import Reads, expansions, filtered, port_cycles, reads
from cyscc.sim.observation.life.window import NEVER, Column, Cycles, KernelWindow, after, matched, next_of, spans_of


class Visits(NamedTuple):
    """Vertices that process 4 queues in the window, in their order."""

    head: Cycles
    """First cycle at the head of the queue."""
    ready: Cycles
    """First cycle there with a slot."""
    reserved: Cycles
    """The token arrived, and the slot was reserved."""
    slot: Cycles
    """The slot, -1 if unknown."""
    fits: Cycles
    """Whether the slot is below the capacity (1 or 0); 1 if unknown."""
    writes: tuple[Cycles, ...]
    """The multiplexer took each write of the visit."""


def _visits(window: KernelWindow, queued: Cycles, *, fifo: str, writes: int) -> Visits:
    """Return the visits of all vertices queued in the window, given the cycles of queueing."""
    count = len(queued)
    older = window.initial(f"visitor.{fifo}.level")
    there = window.high(f"visitor.{fifo}.output__valid")
    granted = window.passes("visitor.command")
    overflow = window.when("visitor.overflow")
    ends = np.union1d(window.when("visitor.pushed"), overflow)
    ended = matched(ends, older, count)
    # The first vertex of the window reaches the head when the last earlier one has left.
    first = -1 if older == 0 else int(ends[older - 1]) if older <= len(ends) else NEVER
    previous = np.concatenate(([first], ended))[:count]
    head = next_of(np.flatnonzero(there), np.minimum(np.maximum(previous, queued) + 1, window.cycles))
    ready = next_of(np.flatnonzero(there & window.high("visitor.slot__valid")), np.minimum(head, window.cycles))
    known = ready != NEVER
    at = np.where(known, ready, 0)
    slot = np.where(known, window.values("visitor.slot__payload.number")[at].astype(np.int64), -1)
    fits = np.where(known, window.values("visitor.slot__payload.fits")[at].astype(np.int64), 1)
    # The writes of a visit follow each other, and nothing else goes through this stream between them.
    number = np.searchsorted(granted, np.minimum(ready, window.cycles))
    steps = np.append(granted, np.full(writes, NEVER))
    done = tuple(
        np.where((fits == 1) & known, steps[np.minimum(number + step, len(granted) + step)], NEVER)
        for step in range(writes)
    )
    # Each passing token reserves all slots in demand, oldest first.
    turns = window.when("allocator.reserve")
    taken = np.cumsum(window.values("allocator.demanded")[turns].astype(np.int64))
    order = np.arange(count) + window.initial("allocator.demanded")
    reserved = np.append(turns, NEVER)[np.searchsorted(taken, order, side="right")]
    return Visits(head=head, ready=ready, reserved=reserved, slot=slot, fits=fits, writes=done)


class Checks(NamedTuple):
    """Neighbours checked by process 4 in the window, in order."""

    checked: Cycles
    """Cycle of the check."""
    word: npt.NDArray[np.uint64]
    """Their graph words."""
    unvisited: npt.NDArray[np.bool_]
    """Whether it finds them unvisited."""
    marked: Cycles | None
    """The multiplexer took their marks; only in machines that only search."""
    queued: Cycles
    """Index of each in `visits`, -1 if not queued."""
    visits: Visits
    """Visits of the queued ones."""


def checks(window: KernelWindow) -> Checks:
    """Return the checks of process 4 in the window."""
    checked = window.passes("visitor.neighbours")
    word = window.values("visitor.neighbours__payload.word")[checked]
    unvisited = VISITED.get(word) == 0
    queued, marked = unvisited, None
    searches = window.has("visitor.marking")
    if searches:
        queued = unvisited & (DEGREE.get(word) > 0)
        marked = np.full(len(checked), NEVER, np.int64)
        older = window.initial("visitor.marks.level")
        marked[unvisited] = matched(window.passes("visitor.mark"), older, int(unvisited.sum()))
    return Checks(
        checked=checked,
        word=word,
        unvisited=unvisited,
        marked=marked,
        queued=np.where(queued, np.cumsum(queued) - 1, -1),
        visits=_visits(window, checked[queued], fifo="entries" if searches else "fifo", writes=1 if searches else 3),
    )


_QUEUE_ENTRY = 8
"""Bytes of an entry of a frontier queue: a graph word."""


def kernel_lives(window: KernelWindow) -> tuple[list[Life], list[Life]]:
    """Return the queue entries, and the neighbours, whose first read is requested in the window, in order.

    A neighbour's parent is None if the queue entry was requested before the window.
    """
    entries = reads(window, "frontier_reader", fifo="fifo", output="words")
    ids = reads(window, "neighbour_reader", fifo="fifo", output="ids")
    words = reads(window, "word_reader", fifo="word_fifo", output="neighbours")
    ports = port_cycles(window, entries.asked, ids.asked, words.asked)
    expansion = expansions(window, entries, ids.asked)

    owners = _entries(window, entries, ports[0], expansion.begun, expansion.ended)
    return owners, _neighbours(window, owners, ids, words, ports, expansion.entry, expansion.offered)


def known_words(window: KernelWindow) -> dict[tuple[int, int], int]:
    """Return the vertices of graph words checked by process 4, keyed by the base address and the unvisited word.

    Only for vertices with neighbours, whose start in C is unique.
    """
    checked = window.passes("visitor.neighbours")
    word = window.values("visitor.neighbours__payload.word")[checked]
    kept = DEGREE.get(word) > 0
    if window.has("visitor.marking"):
        # Visited words hold a level there.
        kept &= VISITED.get(word) == 0
    graph = window.values("control.register_words")[checked[kept]].tolist()
    vertex = window.values("visitor.neighbours__payload.vertex")[checked[kept]].tolist()
    return dict(zip(zip(graph, (word[kept] & ~VISITED.mask).tolist(), strict=True), vertex, strict=True))


def _at(values: npt.NDArray[np.uint64], cycles: Cycles) -> list[int | None]:
    """Return a signal at some cycles, None for `NEVER`."""
    return [None if cycle == NEVER else int(values[cycle]) for cycle in cycles.tolist()]


def _entries(window: KernelWindow, entries: Reads, port: Cycles, begun: Cycles, ended: Cycles) -> list[Life]:
    """Return the queue entries."""
    offered, run = window.offered(entries.asked)
    busy = {Wait.NEXT: window.high("neighbour_reader.words__valid") & ~window.high("neighbour_reader.words__ready")}
    first = window.source_waits(0, writes=False, starved="frontier_reader.starved")
    second = window.source_waits(1, writes=False, starved="neighbour_reader.starved")
    columns = [
        Column(Stage.ENTRY_OFFERED, offered, after(entries.asked), first),
        Column(Stage.ENTRY_PORT, after(entries.asked), after(port)),
        Column(Stage.ENTRY_MEMORY, after(port), after(entries.answered)),
        Column(Stage.ENTRY_KEPT, after(entries.answered), after(entries.taken), busy),
        Column(Stage.ENTRY_NEXT, after(entries.taken), after(begun)),
        Column(Stage.ENTRY_EXPANDED, after(begun), ended, second),
    ]
    spans = spans_of(columns, start=window.first, cycles=window.cycles)
    indices = window.values("frontier_reader.command__payload.index")[entries.asked].tolist()
    answers = _at(window.values("frontier_reader.response__payload"), entries.answered)
    graphs = window.values("control.register_words")[entries.asked].tolist()
    queues = window.values("control.register_current_queue")[entries.asked].tolist()
    lives = []
    for number, index in enumerate(indices):
        life = Life(kernel=window.name, run=int(run[number]), neighbour=False, index=index, graph=graphs[number])
        life.word, life.spans, life.address = answers[number], spans[number], queues[number] + index * _QUEUE_ENTRY
        if ended[number] != NEVER:
            life.fate = Fate.LEAF if ended[number] == begun[number] + 1 else Fate.EXPANDED
        lives.append(life)
    return lives


def _neighbours(
    window: KernelWindow,
    owners: list[Life],
    ids: Reads,
    words: Reads,
    ports: list[Cycles],
    entry: Cycles,
    offered: Cycles,
) -> list[Life]:
    """Return the neighbours."""
    count = len(ids.asked)
    second = window.source_waits(1, writes=False, starved="neighbour_reader.starved")
    third = window.source_waits(2, writes=False, starved="word_reader.starved")
    columns = [
        Column(Stage.ID_OFFERED, offered, after(ids.asked), second),
        Column(Stage.ID_PORT, after(ids.asked), after(ports[1])),
        Column(Stage.ID_MEMORY, after(ports[1]), after(ids.answered)),
    ]
    if window.has("copy_filter.held"):
        filter_ = filtered(window, ids.taken, ids.before, words.asked)
        full = {Wait.NEXT: window.high("copy_filter.ids__valid") & ~window.high("copy_filter.ids__ready")}
        asked, rank, copy = filter_.asked, filter_.rank, filter_.copy
        columns += [
            Column(Stage.ID_KEPT, after(ids.answered), after(ids.taken), full),
            Column(Stage.FILTERED, after(ids.taken), after(filter_.decided)),
            Column(Stage.FRESH, np.where(copy == 1, NEVER, after(filter_.decided)), after(asked), third),
        ]
    else:
        asked, copy = ids.taken, np.zeros(count, np.int64)
        rank = np.where(asked == NEVER, NEVER, ids.before + np.arange(count))
        columns += [Column(Stage.ID_KEPT, after(ids.answered), after(asked), third)]

    def of_read(cycles: Cycles) -> Cycles:
        """Map cycles by word read to neighbours."""
        return np.append(cycles, NEVER)[np.minimum(rank, len(cycles))]

    checked = of_read(words.taken)
    full = {Wait.NEXT: window.high("visitor.neighbours__valid") & ~window.high("visitor.neighbours__ready")}
    columns += [
        Column(Stage.WORD_PORT, after(asked), after(of_read(ports[2]))),
        Column(Stage.WORD_MEMORY, after(of_read(ports[2])), after(of_read(words.answered))),
        Column(Stage.WORD_KEPT, after(of_read(words.answered)), after(checked), full),
    ]
    end = _End(window, np.where(checked == NEVER, -1, rank + words.before))
    spans = spans_of(columns + end.columns, start=window.first, cycles=window.cycles)
    aside = spans_of(end.aside, start=window.first, cycles=window.cycles) if end.aside else [[] for _ in spans]
    vertices = _at(window.values("neighbour_reader.response__payload"), ids.answered)
    places = window.values("neighbour_reader.command__payload.index")[ids.asked].tolist()
    run = np.searchsorted(window.when("control.start"), ids.asked)
    graphs = window.values("control.register_words")[ids.asked].tolist()
    lives = []
    for number in range(count):
        life = Life(
            kernel=window.name, run=int(run[number]), neighbour=True, index=places[number], graph=graphs[number]
        )
        life.parent = owners[entry[number]] if entry[number] >= 0 else None
        life.vertex, life.spans, life.aside = vertices[number], spans[number], aside[number]
        if copy[number]:
            life.fate = Fate.COPY
        else:
            end.tell(life, number)
        lives.append(life)
    return lives


class _End:
    """Ends of neighbours in process 4, given each one's index among the checks, -1 if not checked."""

    def __init__(self, window: KernelWindow, number: Cycles) -> None:
        self._start = window.first
        self._queue = window.values("control.register_next_queue")
        self._number = number
        self._checks = checks_ = checks(window)
        self._visit = np.append(checks_.queued, -1)[number]
        visits = checks_.visits

        def of_visit(cycles: Cycles) -> Cycles:
            return np.append(cycles, NEVER)[self._visit]

        stages = [Stage.ENQUEUE, Stage.MARK, Stage.REACH][: len(visits.writes)]
        waiting = {Wait.SLOT: np.ones(window.cycles, bool)}
        fourth = window.source_waits(3, writes=True, starved=None)
        queued = np.where(self._visit >= 0, after(np.append(checks_.checked, NEVER)[number]), NEVER)
        # One that does not fit ends in the cycle in which this is known.
        fits = np.append(visits.fits, 1)[self._visit] == 1
        ready = of_visit(visits.ready)
        self.columns = [
            Column(Stage.BEHIND, queued, of_visit(visits.head)),
            Column(Stage.SLOT, of_visit(visits.head), np.where(fits, ready, after(ready)), waiting),
        ]
        first = np.where(fits, ready, NEVER)
        for stage, written in zip(stages, visits.writes, strict=True):
            end = after(of_visit(written))
            self.columns.append(Column(stage, first, end, fourth))
            first = end
        self.aside: list[Column] = []
        if checks_.marked is not None:
            marked = np.append(checks_.marked, NEVER)[number]
            unvisited = np.append(checks_.unvisited, False)[number]
            fifth = window.source_waits(4, writes=True, starved=None)
            begin = np.where(unvisited, after(np.append(checks_.checked, NEVER)[number]), NEVER)
            self.aside = [Column(Stage.LEVEL, begin, after(marked), fifth)]

    def tell(self, life: Life, row: int) -> None:
        """Complete a life with the events in process 4."""
        checks_, number, visit = self._checks, self._number[row], self._visit[row]
        if number < 0:
            return
        life.word = int(checks_.word[number])
        if not checks_.unvisited[number]:
            life.fate = Fate.VISITED
        elif visit < 0:
            if checks_.marked is not None and checks_.marked[number] != NEVER:
                life.fate = Fate.MARKED
        else:
            visits = checks_.visits
            if visits.reserved[visit] != NEVER:
                life.reserved = self._start + int(visits.reserved[visit])
            if visits.slot[visit] >= 0:
                life.slot = int(visits.slot[visit])
                life.address = int(self._queue[visits.ready[visit]]) + life.slot * _QUEUE_ENTRY
            if not visits.fits[visit]:
                life.fate = Fate.NO_ROOM
            elif visits.writes[-1][visit] != NEVER:
                life.fate = Fate.PUSHED
