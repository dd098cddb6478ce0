"""Timing of the BFS kernel's processes."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.lean_visitor import LeanVisitor
from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.bfs.neighbour_fetcher import NeighbourFetcher
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.pair_reader import LanePairReader, PairReader
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from tests.hw.timings.timing import END, Given, Shown, Timing, lasting, number
from tests.words import graph_word

_BASE = 0x1000
"""Address of the array that is read."""
_NEXT, _REACH = 0x2000, 0x3000
_QUEUES = {"next_queue": _NEXT, "words": _BASE, "reach_queue": _REACH}
_FRONTIER = {number(Tag.FRONTIER_WORD): "response"}
_IDS = {number(Tag.NEIGHBOUR_ID): "response"}
_WORDS = {number(Tag.NEIGHBOUR_WORD): "response"}
_VISITED, _LEAF, _NEW, _LONG = graph_word(0, 1, visited=True), graph_word(0, 0), graph_word(0, 3), graph_word(0, 11)
ROOM = 6
"""Vertices that a queue of depth 4 holds: its memory and its two registers."""


def _vertices(*words: tuple[int, int]) -> list[int]:
    """Return visited vertices, given as (start, degree)."""
    return [graph_word(*word, visited=True) for word in words]


def _neighbours(*words: int) -> list[dict[str, int]]:
    return [{"word": word, "vertex": 9} for word in words]


def _commands(tag: Any, size: int, indices: Mapping[int, int]) -> dict[str, Shown]:
    """Return the reads of an array by their indices, by the cycle in which they are taken."""
    return {
        "command.payload.index": {cycle: index for cycle, index in indices.items() if index},
        "command.payload.base": dict.fromkeys(indices, _BASE),
        "command.payload.size": list(indices) if size == SIZE_8 else [],
        "command.payload.tag": dict.fromkeys(indices, number(tag)) if number(tag) else {},
    }


def _slots(*numbers: int, fitting: int = 1000) -> list[dict[str, int]]:
    """Return slots, of which those below a number fit."""
    return [{"number": number, "fits": int(number < fitting)} for number in numbers]


def _reading(claim: str, make: Any, words: list[int], size: int, indices: Mapping[int, int]) -> Timing:
    """Return which elements of C, by the cycle, a reader asks for that has more places than it needs."""
    return Timing(
        claim=claim,
        make=make,
        given={"words": words, "neighbours": _BASE, "command": 1},
        shown={"command": list(indices), **_commands(Tag.NEIGHBOUR_ID, size, indices)},
    )


def _lean(claim: str, slots: list[dict[str, int]], shown: Mapping[str, Shown], **given: Given) -> Timing:
    """Return what a lean visitor writes of as many vertices as there are slots."""
    inputs: dict[str, Given] = {"neighbours": _neighbours(*[_NEW] * len(slots)), "slot": slots, "command": 1}
    inputs |= given
    return Timing(claim=f"lean visitor, {claim}", make=partial(LeanVisitor, depth=16), given=inputs, shown=shown)


BFS = (
    Timing(
        claim="frontier reader, no more reads than places",
        make=partial(FrontierReader, depth=4, stride=1, instrument=True),
        given={"count": 6, "start": [1], "command": 1, "words": [25, *range(30, END)]},
        memory=_FRONTIER,
        answered=10,
        shown={
            "command": [2, 3, 4, 5, 26, 31],
            "starved": [*range(6, 26), *range(27, 31)],
            "fill": lasting({13: 1, 14: 2, 15: 3, 16: 4, 26: 3, 31: 2, 32: 1, 33: 0, 37: 1}),
            "words": [25, 30, 31, 32, 39],
            "idle": [0, 1],
        },
    ),
    Timing(
        claim="frontier reader, a command that is not taken",
        make=partial(FrontierReader, depth=4, stride=1),
        given={"count": 1, "start": [1]},
        shown={"command.valid": range(2, END), "idle": [0, 1], "credits": dict.fromkeys(range(END), 4)},
    ),
    Timing(
        claim="frontier reader, its share of the queue",
        make=partial(FrontierReader, depth=4, stride=3),
        given={"count": 9, "start": [1], "first": {1: 2}, "current_queue": _BASE, "command": 1, "words": 1},
        memory=_FRONTIER,
        shown={"command": [2, 3, 4], **_commands(Tag.FRONTIER_WORD, SIZE_8, {2: 2, 3: 5, 4: 8})},
    ),
    Timing(
        claim="frontier reader, a cycle later as published",
        make=partial(FrontierReader, depth=4, stride=1, fetching=True),
        given={"count": 2, "start": [1], "command": 1, "words": 1},
        memory=_FRONTIER,
        shown={"command": [3, 4], "words": [9, 10], "idle": [0, 1, 2, *range(11, END)]},
    ),
    _reading(
        "neighbour reader, one cycle between vertices, and one for an empty one",
        partial(NeighbourReader, depth=64),
        _vertices((0, 3), (10, 2), (20, 0), (30, 0), (2**32 - 2, 2), (0, 1)),
        SIZE_4,
        {2: 0, 3: 1, 4: 2, 6: 10, 7: 11, 11: 2**32 - 2, 12: 2**32 - 1, 14: 0},
    ),
    _reading(
        "neighbour reader, three cycles between vertices as published",
        partial(NeighbourReader, depth=64, fetching=True),
        _vertices((0, 3), (10, 2), (20, 0), (40, 1)),
        SIZE_4,
        {2: 0, 3: 1, 4: 2, 8: 10, 9: 11, 15: 40},
    ),
    *(
        _reading(
            f"{kind.__name__}, one cycle between vertices, and one for an empty one",
            partial(kind, depth=64),
            _vertices((0, 6), (10, 3), (20, 0), (31, 0), (41, 8)),
            SIZE_8,
            {2: 0, 3: 1, 4: 2, 6: 5, 7: 6, 11: 20, 12: 21, 13: 22, 14: 23, 15: 24},
        )
        for kind in (PairReader, LanePairReader)
    ),
    Timing(
        claim="pair reader, an id a cycle",
        make=partial(PairReader, depth=64),
        given={"words": _vertices((11, 20)), "command": 1, "ids": 1},
        memory=_IDS,
        shown={"command": range(2, 13), "ids": range(8, 28), "idle": [0, *range(28, END)]},
    ),
    Timing(
        claim="pair reader, two ids a cycle",
        make=partial(LanePairReader, depth=64),
        given={"words": _vertices((11, 20)), "command": 1, "low": 1, "high": 1},
        memory=_IDS,
        shown={"command": range(2, 13), "low": range(9, 19), "high": range(8, 18), "idle": [0, *range(19, END)]},
    ),
    Timing(
        claim="pair reader, not idle before the last id is taken",
        make=partial(PairReader, depth=4),
        given={"words": _vertices((6, 2)), "command": 1, "ids": [20, 30]},
        memory=_IDS,
        shown={"ids": [20, 30], "idle": [0, *range(31, END)]},
    ),
    Timing(
        claim="word reader, a read with the id, and both a queue later",
        make=partial(WordReader, depth=4),
        given={"ids": [7, 2, 3, 4, 5], "words": _BASE, "command": 1, "neighbours": 1},
        memory=_WORDS,
        shown={
            "command": [0, 1, 2, 3, 7],
            **_commands(Tag.NEIGHBOUR_WORD, SIZE_8, {0: 7, 1: 2, 2: 3, 3: 4, 7: 5}),
            "neighbours.payload.vertex": {6: 7, 7: 2, 8: 3, 9: 4, 13: 5},
            "neighbours": [6, 7, 8, 9, 13],
            "idle": [0, *range(14, END)],
        },
    ),
    Timing(
        claim="chunk splitter, a piece a cycle, at once",
        make=partial(ChunkSplitter, chunk=8),
        given={"neighbours": _neighbours(graph_word(0, 17), _VISITED, graph_word(0, 8), _LEAF), "pieces": 1},
        shown={
            "neighbours": [0, 3, 4, 5],
            "pieces": range(6),
            "pieces.payload.more": [0, 1],
            "pieces.payload.further": [1, 2],
        },
    ),
    *(
        Timing(
            claim=f"copy filter, an id a cycle, {claim}",
            make=partial(CopyFilter, depth=32),
            given={"ids": ids, "fresh": 1},
            shown={"ids": range(len(ids)), "fresh": fresh},
            latency=("fresh", CopyFilter.LATENCY),
        )
        for claim, ids, fresh in (
            ("copies", [5] * 20, [2]),
            ("in turn", [1, 2] * 10, [2, 3]),
            ("all new", list(range(20)), range(2, 22)),
        )
    ),
    Timing(
        claim="copy filter, closed while it forgets, which begins anew",
        make=partial(CopyFilter, depth=32),
        given={"start": [2, 6], "ids.valid": [0, 15], "ids.payload": 3, "fresh": 1},
        shown={"ids.ready": [0, 1, 2, *range(15, END)], "fresh": [2, 17], "moving": [0, 1, *range(3, 17)]},
    ),
    Timing(
        claim="visitor, three writes back to back",
        make=partial(Visitor, depth=4),
        given={
            "neighbours": _neighbours(_NEW, _VISITED, _NEW),
            "slot": _slots(7, 8, fitting=8),
            **_QUEUES,
            "command": 1,
        },
        shown={
            "neighbours": [0, 1, 2],
            "demand": [0, 2],
            "command": [3, 4, 5],
            "command.payload.base": {3: _NEXT, 4: _BASE, 5: _REACH},
            "command.payload.index": {3: 7, 4: 9, 5: 7},
            "command.payload.data": {3: _NEW, 4: _NEW | 1, 5: 9},
            "command.payload.size": [3, 4],
            "command.payload.last": [5],
            "pushed": [5],
            "overflow": [6],
            "idle": [0, *range(7, END)],
        },
    ),
    Timing(
        claim="visitor, a vertex that waits for its slot",
        make=partial(Visitor, depth=4),
        given={"neighbours": _neighbours(_NEW), "command": 1},
        shown={"waiting": range(3, END), "command": [], "idle": [0]},
    ),
    Timing(
        claim="visitor of chunks, two writes of a further piece",
        make=partial(Visitor, depth=4, chunk=8),
        given={
            "neighbours": [{"word": _LONG, "vertex": 9, "more": 1}, {"word": _NEW, "vertex": 9, "further": 1}],
            "slot": _slots(7, 8),
            **_QUEUES,
            "command": 1,
        },
        shown={
            "command": [3, 4, 5, 6, 7],
            "command.payload.base": {3: _NEXT, 4: _BASE, 5: _REACH, 6: _NEXT, 7: _REACH},
            "command.payload.index": {3: 7, 4: 9, 5: 7, 6: 8, 7: 8},
            "command.payload.data": {3: graph_word(0, 8), 4: _LONG | 1, 5: 9, 6: _NEW, 7: 9},
            "command.payload.last": [5, 7],
            "pushed": [5, 7],
        },
    ),
    Timing(
        claim="visitor, full: it drops visited neighbours, and takes no new one",
        make=partial(Visitor, depth=4),
        given={"neighbours": _neighbours(*[_NEW] * ROOM, _VISITED, _NEW)},
        shown={"neighbours": range(7), "demand": range(6)},
    ),
    Timing(
        claim="marking visitor, marks that wait for no slot",
        make=partial(MarkingVisitor, depth=4),
        given={"neighbours": _neighbours(_NEW, _LEAF, _VISITED, _NEW), "mark": 1, "command": 1},
        shown={
            "demand": [0, 3],
            "mark": [3, 4, 6],
            "command": [],
            "waiting": range(3, END),
            "marking": [3, 4, 6],
            "idle": [0],
        },
    ),
    Timing(
        claim="marking visitor, entries that wait for no mark",
        make=partial(MarkingVisitor, depth=4),
        given={"neighbours": _neighbours(_NEW, _NEW), "slot": _slots(0, 1, fitting=1), "command": 1},
        shown={"mark": [], "command": [3], "pushed": [3], "overflow": [4], "marking": range(3, END), "idle": [0]},
    ),
    Timing(
        claim="marking visitor, leaves and visited vertices get past those that wait for slots",
        make=partial(MarkingVisitor, depth=4),
        given={"neighbours": _neighbours(*[_NEW] * ROOM, _LEAF, _VISITED, _LEAF, _NEW), "mark": 1},
        shown={"neighbours": range(9), "demand": range(6), "mark": [*range(3, 10), 11]},
    ),
    *(
        Timing(
            claim=f"marking visitor, only visited vertices pass while {claim} would need a mark",
            make=partial(MarkingVisitor, depth=4),
            given={"neighbours": _neighbours(*[_LEAF] * ROOM, _VISITED, word)},
            shown={"neighbours": range(7), "demand": [], "level": []},
        )
        for claim, word in (("a leaf", _LEAF), ("a new one", _NEW))
    ),
    Timing(
        claim="neighbour fetcher, every second cycle, and the end is seen late",
        make=NeighbourFetcher,
        given={"neighbours": _neighbours(1, 2, 3), "fetched": 1},
        shown={
            "neighbours": [0, 2, 4],
            "fetched": [1, 3, 5],
            "idle": [0, *range(5 + NeighbourFetcher.SETTLING + 1, END)],
            "moving": range(11),
        },
        latency=("fetched", NeighbourFetcher.SETTLING - 4),
    ),
    _lean(
        "two ids of an even slot and the next in one write", _slots(*range(4)), {"command.payload.last": [4, 7, 9, 12]}
    ),
    _lean("an odd slot first", _slots(1, 2, 3), {"command.payload.last": [5, 7, 10]}),
    _lean("an id that is kept until the next visit", _slots(0, 8, 9), {"command.payload.last": [4, 7, 10]}),
    _lean(
        "a reach queue in the middle of 8 bytes",
        _slots(*range(4)),
        {"command.payload.last": [5, 7, 10, 12, 14]},
        reach_queue=4,
    ),
    _lean(
        "an id that is kept is not idle, and not forgotten where the next slot does not fit",
        _slots(0, 1, fitting=1),
        {
            "command.payload.last": [4, 6],
            "command.payload.size": [3, 4],
            "overflow": [7],
            "idle": [0, *range(8, END)],
        },
    ),
    Timing(
        claim="lean visitor, an id that is kept until it is taken",
        make=partial(LeanVisitor, depth=4),
        given={"neighbours": _neighbours(_NEW), "slot": _slots(4), "command": [5, 6, 30]},
        shown={"command": [5, 6, 30], "level": range(1, 7), "idle": [0, *range(31, END)]},
    ),
)
