"""The lives in one BFS kernel: queue entries, and the neighbours that come of them."""

import numpy as np
import numpy.typing as npt

from sim.graph_word import DEGREE, VISITED
from sim.observation.life.lives import Fate, Life, Stage, Wait
from sim.observation.life.reads import Reads, expansions, filtered, port_cycles, reads
from sim.observation.life.spans import Column, after, spans_of
from sim.observation.life.visits import checks
from sim.observation.life.window import NEVER, Cycles, KernelWindow

__all__ = ["kernel_lives", "known_words"]

_QUEUE_ENTRY = 8
"""Bytes of an entry of a frontier queue: a graph word."""

_NONE: dict[Wait, npt.NDArray[np.bool_]] = {}


def kernel_lives(window: KernelWindow) -> tuple[list[Life], list[Life]]:
    """Return the queue entries whose read is asked for in the window, and the neighbours likewise, each in order.

    A neighbour's parent is None where the queue entry was asked for before the window.
    """
    entries = reads(window, "frontier_reader", fifo="fifo", output="words")
    ids = reads(window, "neighbour_reader", fifo="fifo", output="ids")
    words = reads(window, "word_reader", fifo="word_fifo", output="neighbours")
    ports = port_cycles(window, entries.asked, ids.asked, words.asked)
    expansion = expansions(window, entries, ids.asked)

    owners = _entries(window, entries, ports[0], expansion.begun, expansion.ended)
    return owners, _neighbours(window, owners, ids, words, ports, expansion.entry, expansion.offered)


def known_words(window: KernelWindow) -> dict[tuple[int, int], int]:
    """Return the vertices whose graph words process 4 looks at, by the address of all words, and the unvisited word.

    Only words of vertices with neighbours: they begin at a place in C that no other vertex has.
    """
    checked = window.passes("visitor.neighbours")
    word = window.values("visitor.neighbours__payload.word")[checked]
    kept = DEGREE.get(word) > 0
    if window.has("visitor.marking"):
        # What was visited is a level there, not a word.
        kept &= VISITED.get(word) == 0
    graph = window.values("control.register_words")[checked[kept]].tolist()
    vertex = window.values("visitor.neighbours__payload.vertex")[checked[kept]].tolist()
    return dict(zip(zip(graph, (word[kept] & ~VISITED.mask).tolist(), strict=True), vertex, strict=True))


def _at(values: npt.NDArray[np.uint64], cycles: Cycles) -> list[int | None]:
    """Return a signal at some cycles, None where that is `NEVER`."""
    return [None if cycle == NEVER else int(values[cycle]) for cycle in cycles.tolist()]


def _entries(window: KernelWindow, entries: Reads, port: Cycles, begun: Cycles, ended: Cycles) -> list[Life]:
    """Return the queue entries."""
    starts = window.when("control.start")
    # An index is offered when its predecessor is gone, or when the run begins.
    previous = np.concatenate(([-1], entries.asked[:-1]))[: len(entries.asked)]
    run = np.searchsorted(starts, entries.asked)
    started = np.concatenate(([-1], starts))[run]
    offered = np.maximum(previous, started) + 1
    busy = {Wait.NEXT: window.high("neighbour_reader.words__valid") & ~window.high("neighbour_reader.words__ready")}
    first = window.source_waits(0, writes=False, starved="frontier_reader.starved")
    second = window.source_waits(1, writes=False, starved="neighbour_reader.starved")
    columns = [
        Column(Stage.ENTRY_OFFERED, offered, after(entries.asked), first),
        Column(Stage.ENTRY_PORT, after(entries.asked), after(port), _NONE),
        Column(Stage.ENTRY_MEMORY, after(port), after(entries.answered), _NONE),
        Column(Stage.ENTRY_KEPT, after(entries.answered), after(entries.taken), busy),
        Column(Stage.ENTRY_NEXT, after(entries.taken), after(begun), _NONE),
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
        Column(Stage.ID_PORT, after(ids.asked), after(ports[1]), _NONE),
        Column(Stage.ID_MEMORY, after(ports[1]), after(ids.answered), _NONE),
    ]
    if window.has("copy_filter.held"):
        filter_ = filtered(window, ids.taken, ids.before, words.asked)
        full = {Wait.NEXT: window.high("copy_filter.ids__valid") & ~window.high("copy_filter.ids__ready")}
        asked, rank, copy = filter_.asked, filter_.rank, filter_.copy
        columns += [
            Column(Stage.ID_KEPT, after(ids.answered), after(ids.taken), full),
            Column(Stage.FILTERED, after(ids.taken), after(filter_.decided), _NONE),
            Column(Stage.FRESH, np.where(copy == 1, NEVER, after(filter_.decided)), after(asked), third),
        ]
    else:
        asked, copy = ids.taken, np.zeros(count, np.int64)
        rank = np.where(asked == NEVER, NEVER, ids.before + np.arange(count))
        columns += [Column(Stage.ID_KEPT, after(ids.answered), after(asked), third)]

    def of_read(cycles: Cycles) -> Cycles:
        """Return what is known of each neighbour by the number of its word's read."""
        return np.append(cycles, NEVER)[np.minimum(rank, len(cycles))]

    checked = of_read(words.taken)
    full = {Wait.NEXT: window.high("visitor.neighbours__valid") & ~window.high("visitor.neighbours__ready")}
    columns += [
        Column(Stage.WORD_PORT, after(asked), after(of_read(ports[2])), _NONE),
        Column(Stage.WORD_MEMORY, after(of_read(ports[2])), after(of_read(words.answered)), _NONE),
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
    """What process 4 does with neighbours, given the number of each among those that it looks at, -1 if it does not."""

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
        # One that does not fit ends with the cycle in which that is known.
        fits = np.append(visits.fits, 1)[self._visit] == 1
        ready = of_visit(visits.ready)
        self.columns = [
            Column(Stage.BEHIND, queued, of_visit(visits.head), _NONE),
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
        """Write into a life what process 4 knows of it."""
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
