"""Timing of the intersection kernel's processes."""

from functools import partial

from cyscc.hw.intersection.classifier import Classifier
from cyscc.hw.intersection.colour_reader import ColourReader
from cyscc.hw.intersection.reach_reader import ReachReader
from cyscc.hw.intersection.start_finder import StartFinder
from cyscc.hw.intersection.tags import Direction, Tag
from cyscc.hw.intersection.unvisit_writer import UnvisitWriter
from cyscc.hw.registers import NO_START
from tests.hw.timings.timing import END, Timing, lasting, number

_COLOURS, _WORDS, _TRANSPOSED, _FORWARD, _BACKWARD = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000
"""Addresses of arrays."""
_ARRAYS = {"colours": _COLOURS, "words": _WORDS, "transposed_words": _TRANSPOSED}

INTERSECTION = (
    Timing(
        claim="reach reader, the forward share, then the backward one",
        make=partial(ReachReader, depth=4, stride=2),
        given={
            "forward_count": 4,
            "backward_count": 4,
            "forward_queue": _FORWARD,
            "backward_queue": _BACKWARD,
            "first": {1: 1},
            "start": [1],
            "command": 1,
            "entries": 1,
        },
        memory={number(Tag.REACH_ENTRY): "response"},
        shown={
            "command": range(2, 6),
            "command.payload.base": {2: _FORWARD, 3: _FORWARD, 4: _BACKWARD, 5: _BACKWARD},
            "command.payload.index": {2: 1, 3: 3, 4: 1, 5: 3},
            "command.payload.size": [],
            "command.payload.tag": [],
            "entries": range(8, 12),
            "entries.payload.direction": [10, 11],
            "idle": [0, 1, *range(12, END)],
        },
    ),
    Timing(
        claim="colour reader, two reads a vertex",
        make=partial(ColourReader, depth=4),
        given={
            "entries": [{"vertex": vertex, "direction": Direction(vertex % 2)} for vertex in range(1, 6)],
            **_ARRAYS,
            "command": 1,
            "candidates": 1,
        },
        memory={number(Tag.COLOUR): "colour_response", number(Tag.OTHER_WORD): "word_response"},
        shown={
            "entries": [1, 3, 5, 7, 10],
            "command": [*range(8), 9, 10],
            "command.payload.base": {
                **dict.fromkeys((0, 2, 4, 6, 9), _COLOURS),
                **dict.fromkeys((1, 5, 10), _WORDS),
                **dict.fromkeys((3, 7), _TRANSPOSED),
            },
            "command.payload.index": {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4, 9: 5, 10: 5},
            "command.payload.size": [1, 3, 5, 7, 10],
            "command.payload.tag": {cycle: cycle % 2 + 1 for cycle in range(8)} | {9: 1, 10: 2},
            "candidates": [8, 10, 12, 14, 17],
            "candidates.payload.vertex": {8: 1, 10: 2, 12: 3, 14: 4, 17: 5},
            "candidates.payload.direction": [8, 12, 17],
            "idle": [0, *range(18, END)],
        },
    ),
    Timing(
        claim="colour reader, no more reads than places",
        make=partial(ColourReader, depth=4),
        given={"entries": [{}] * 6, "command": 1},
        memory={number(Tag.COLOUR): "colour_response", number(Tag.OTHER_WORD): "word_response"},
        shown={"command": range(8), "credits": {0: 4, 1: 3, 2: 3, 3: 2, 4: 2, 5: 1, 6: 1}},
    ),
    Timing(
        claim="classifier, at once",
        make=partial(Classifier, depth=4),
        given={
            "candidates": [
                {"vertex": 1},
                {"vertex": 2, "met": 1},
                {"vertex": 3, "coloured": 1},
                {"vertex": 4, "direction": Direction.BACKWARD},
            ],
            **_ARRAYS,
            "colour": 9,
            "command": 1,
            "paint": 1,
            "outsiders": 1,
        },
        memory={number(Tag.OWN_WORD): "response"},
        shown={
            "candidates": range(4),
            "command": [0, 3],
            "command.payload.base": {0: _WORDS, 3: _TRANSPOSED},
            "command.payload.index": {0: 1, 3: 4},
            "command.payload.size": [0, 3],
            "command.payload.tag": {0: number(Tag.OWN_WORD), 3: number(Tag.OWN_WORD)},
            "rejected": [0, 3],
            "rejected_vertex": lasting({0: 1, 1: 2, 2: 3, 3: 4}),
            "paint": [1],
            "paint.payload.base": {1: _COLOURS},
            "paint.payload.index": {1: 2},
            "paint.payload.data": {1: 9},
            "paint.payload.size": [],
            "painted": [1],
            "outsiders": [6, 9],
            "outsiders.payload.vertex": {6: 1, 9: 4},
            "outsiders.payload.direction": [9],
            "idle": [0, *range(10, END)],
        },
    ),
    Timing(
        claim="start finder, a token that passes in a cycle, with the first vertex found",
        make=StartFinder,
        given={
            "rejected": [2, 3],
            "rejected_vertex": {2: 6, 3: 8},
            "start": [10],
            "token_in.valid": [1, 5, 7, 12],
            "token_in.payload.value": {1: NO_START, 5: NO_START, 7: 3, 12: NO_START},
        },
        shown={"token_out": [2, 6, 8, 13], "token_out.payload.value": {2: NO_START, 6: 6, 8: 3, 13: NO_START}},
    ),
    *(
        Timing(
            claim=f"start finder, the token keeps its done where the kernel's is {done}, of run {epoch}",
            make=StartFinder,
            given={"token_in.valid": [1], "token_in.payload.done": 1, "done": done, "epoch": epoch},
            shown={"token_out.payload.done": [2] if done and not epoch else []},
        )
        for done in (0, 1)
        for epoch in (0, 1)
    ),
    Timing(
        claim="unvisit writer, at once",
        make=UnvisitWriter,
        given={
            "outsiders": [{"vertex": 5, "word": 3}, {"vertex": 6, "word": 1, "direction": Direction.BACKWARD}],
            "words": _WORDS,
            "transposed_words": _TRANSPOSED,
            "command": [1, 2],
        },
        shown={
            "command": [1, 2],
            "command.payload.base": {1: _WORDS, 2: _TRANSPOSED},
            "command.payload.index": {1: 5, 2: 6},
            "command.payload.data": {1: 2},
            "command.payload.size": [1, 2],
            "command.payload.last": [1, 2],
        },
    ),
)
