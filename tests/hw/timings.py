"""The timing of each component, as its docstring has it: latency, rate, and what the cost of a level depends on.

How a component behaves otherwise is proven (`tests.formal`) and pinned (`tests.alone`).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cyscc.hw.address_generator import AddressGenerator
from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.axi import AxiLimits
from cyscc.hw.axi.link import AxiLink
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.lean_visitor import LeanVisitor
from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.bfs.neighbour_fetcher import NeighbourFetcher
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.pair_reader import LanePairReader, PairReader
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.slot_dispenser import SlotDispenser
from cyscc.hw.bfs.slot_gate import SlotGate
from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.convey.link import ConveyLink
from cyscc.hw.convey.memory_port import ConveyMemoryPort
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.id_merger import IdMerger
from cyscc.hw.exchange.id_router import IdRouter
from cyscc.hw.exchange.reading_barrier import ReadingBarrier
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.interfaces import ChainOp, ReadRequest
from cyscc.hw.intersection.classifier import Classifier
from cyscc.hw.intersection.colour_reader import ColourReader
from cyscc.hw.intersection.reach_reader import ReachReader
from cyscc.hw.intersection.tags import Direction
from cyscc.hw.intersection.tags import Tag as IntersectionTag
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.or_gate import OrGate
from cyscc.hw.queue import Queue
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.queue_reader import QueueReader
from cyscc.hw.registers import Register
from cyscc.hw.request_mux import READ, WRITE, RequestMux
from cyscc.hw.request_queue import RequestQueue
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.switch.flush_barrier import FlushBarrier
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from cyscc.hw.switch.request_skid import RequestSkid
from cyscc.hw.switch.skid import Skid
from tests.hw.timing import END, Given, Shown, Timing, lasting, number
from tests.words import graph_word

_SHARED = (
    Timing(
        claim="address generator, a request a cycle",
        make=partial(AddressGenerator, writes=False),
        given={"command": [{}] * 20, "request": 1},
        shown={"command": range(20), "request": range(2, 22)},
        latency=("request", AddressGenerator.LATENCY),
    ),
    Timing(
        claim="queue, an entry a cycle",
        make=partial(Queue, 8, 4),
        given={"input": [1] * 20, "output": 1},
        shown={"input": range(20), "output": range(3, 23)},
        latency=("output", Queue.LATENCY),
    ),
    Timing(
        claim="queue, full with its depth and its registers",
        make=partial(Queue, 8, 4),
        given={"input": [1] * 9, "output": [12]},
        shown={"input": [*range(4 + Queue.REGISTERS), 13]},
    ),
    Timing(
        claim="request queue",
        make=partial(RequestQueue, depth=4),
        given={"command.valid": [0], "request": [6]},
        shown={"request.valid": range(3, 7), "idle": [0, *range(7, END)]},
        latency=("request.valid", Queue.LATENCY),
    ),
    Timing(
        claim="arbitrated queues, an entry a cycle, of all writers in turn",
        make=partial(ArbitratedQueues, 8, queues=4, depth=8),
        given={"push": dict.fromkeys(range(5), 15), "output": 1},
        shown={"output": range(3, 23), "busy": range(1, 23)},
        latency=("output", ArbitratedQueues.LATENCY),
    ),
    Timing(
        claim="queue bank, an entry that is pulled",
        make=partial(QueueBank, 8, queues=2, depth=4),
        given={"push": {0: 2}, "entry1": {0: 9}, "pull": {2: 2}, "advance": 1},
        shown={"available": {1: 2, 2: 2}, "pulling": {3: 2}, "shown": {4: 9}, "busy": [1, 2, 3]},
    ),
    Timing(
        claim="queue reader, an index a cycle",
        make=partial(QueueReader, stride=2),
        given={"count": 20, "start": [1], "index": 1},
        shown={"index": range(2, 12), "finished": [0, 1, *range(12, END)]},
    ),
    Timing(
        claim="gate, at once",
        make=partial(OrGate, 2, inputs=6),
        given={f"word{number}": {number: number % 3 + 1} for number in range(6)},
        shown={"joined": {number: number % 3 + 1 for number in range(6)}},
    ),
)


_SOURCES = (READ, READ, READ, WRITE, WRITE)


def _mux(claim: str, interval: int, given: Mapping[str, Given], shown: Mapping[str, Shown]) -> Timing:
    """Return the timing of a multiplexer whose port takes everything."""
    make = partial(RequestMux, sources=_SOURCES, issue_interval=interval)
    return Timing(claim=f"multiplexer, {claim}", make=make, given={**given, "read": 1, "write": 1}, shown=shown)


_FROM_ALL = {f"source{number}": [{} if kind == READ else {"last": 1}] * 3 for number, kind in enumerate(_SOURCES)}

_MASTERS = (
    _mux(
        "a request a cycle, the latest process first",
        1,
        _FROM_ALL,
        {
            **{f"source{number}": range(12 - 3 * number, 15 - 3 * number) for number in range(5)},
            "write": range(RequestMux.LATENCY, 8),
            "read": range(8, 17),
            "busy": range(1, 17),
        },
    ),
    _mux(
        "a request every second cycle",
        2,
        _FROM_ALL,
        {"granted": range(0, 30, 2), "resting": range(1, 31, 2)},
    ),
    _mux(
        "writes of a visit back to back, then a rest",
        2,
        {"source4": [{"last": number % 3 == 2} for number in range(9)]},
        {"granted": [0, 1, 2, 4, 5, 6, 8, 9, 10]},
    ),
    Timing(
        claim="module master, from a run's begin to its end",
        make=partial(ModuleMaster, kernels=2, parameters=(Register.CAPACITY, Register.WORDS, Register.COLOUR)),
        given={
            "begin": [0],
            "engine": 3,
            "chain_in.valid": {9: 1},
            "chain_in.payload.op": {9: number(ChainOp.START)},
            "done": dict.fromkeys([*range(11), *range(30, END)], 3) | dict.fromkeys(range(12, 30), 1),
        },
        shown={"chain_out": [3, 4, 5, 6], "launch": [6], "complete": range(31, END)},
        latency=("launch", ModuleMaster.launch_cycles((Register.CAPACITY, Register.WORDS, Register.COLOUR))),
    ),
    *(
        Timing(
            claim=f"ring master, a token that leaves after {stages} cycles, comes back, and leaves again",
            make=partial(RingMaster, stages=stages, initial=77),
            given={
                "lead": 1,
                "start": [0],
                "ring_in.valid": [10, 20],
                "ring_in.payload": {10: 9 | 2 << 32, 20: 11 | 3 << 32},
            },
            shown={"ring_out": [stages, 10 + stages], "running": range(1, 21), "result": lasting({21: 11})},
        )
        for stages in (1, 4)
    ),
)

_FRONTIER = {number(Tag.FRONTIER_WORD): "response"}
_IDS = {number(Tag.NEIGHBOUR_ID): "response"}
_VISITED, _LEAF, _NEW = graph_word(0, 1, visited=True), graph_word(0, 0), graph_word(0, 3)


def _neighbours(*words: int) -> list[dict[str, int]]:
    return [{"word": word, "vertex": 9} for word in words]


def _reading(claim: str, make: Any, degrees: Mapping[int, int], cycles: list[int]) -> Timing:
    """Return when a reader asks for what vertices have, by the index of their first neighbour how many."""
    words = [graph_word(start, degree, visited=True) for start, degree in degrees.items()]
    return Timing(claim=claim, make=make, given={"words": words, "command": 1}, shown={"command": cycles})


def _slots(*numbers: int) -> list[dict[str, int]]:
    return [{"number": number, "fits": 1} for number in numbers]


_READERS = (
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
        claim="frontier reader, a cycle later as published",
        make=partial(FrontierReader, depth=4, stride=1, fetching=True),
        given={"count": 2, "start": [1], "command": 1, "words": 1},
        memory=_FRONTIER,
        shown={"command": [3, 4], "words": [9, 10], "idle": [0, 1, 2, *range(11, END)]},
    ),
    _reading(
        "neighbour reader, one cycle between vertices, and one for an empty one",
        partial(NeighbourReader, depth=64),
        {0: 3, 10: 2, 20: 0, 30: 0, 2**32 - 2: 2},
        [2, 3, 4, 6, 7, 11, 12],
    ),
    _reading(
        "neighbour reader, three cycles between vertices as published",
        partial(NeighbourReader, depth=64, fetching=True),
        {0: 3, 10: 2, 20: 0, 40: 1},
        [2, 3, 4, 8, 9, 15],
    ),
    *(
        _reading(
            f"{kind.__name__}, one cycle between vertices, and one for an empty one",
            partial(kind, depth=64),
            {0: 6, 10: 3, 20: 0, 31: 0, 41: 8},
            [2, 3, 4, 6, 7, *range(11, 16)],
        )
        for kind in (PairReader, LanePairReader)
    ),
    Timing(
        claim="pair reader, an id a cycle",
        make=partial(PairReader, depth=64),
        given={"words": [graph_word(11, 20, visited=True)], "command": 1, "ids": 1},
        memory=_IDS,
        shown={"command": range(2, 13), "ids": range(8, 28), "idle": [0, *range(28, END)]},
    ),
    Timing(
        claim="pair reader, two ids a cycle",
        make=partial(LanePairReader, depth=64),
        given={"words": [graph_word(11, 20, visited=True)], "command": 1, "low": 1, "high": 1},
        memory=_IDS,
        shown={"command": range(2, 13), "low": range(9, 19), "high": range(8, 18), "idle": [0, *range(19, END)]},
    ),
    Timing(
        claim="word reader, a read with the id, and both a queue later",
        make=partial(WordReader, depth=4),
        given={"ids": [7, 2, 3, 4, 5], "command": 1, "neighbours": 1},
        memory={number(Tag.NEIGHBOUR_WORD): "response"},
        shown={"command": [0, 1, 2, 3, 7], "neighbours": [6, 7, 8, 9, 13], "idle": [0, *range(14, END)]},
    ),
    Timing(
        claim="chunk splitter, a piece a cycle, at once",
        make=partial(ChunkSplitter, chunk=8),
        given={"neighbours": _neighbours(graph_word(0, 17), _VISITED, graph_word(0, 8), _LEAF), "pieces": 1},
        shown={"neighbours": [0, 3, 4, 5], "pieces": range(6)},
    ),
    *(
        Timing(
            claim=f"copy filter, an id a cycle, {claim}",
            make=partial(CopyFilter, depth=32),
            given={"ids": ids, "fresh": 1},
            shown={"ids": range(20), "fresh": fresh},
            latency=("fresh", CopyFilter.LATENCY),
        )
        for claim, ids, fresh in (("in turn", [1, 2] * 10, [2, 3]), ("all new", list(range(20)), range(2, 22)))
    ),
    Timing(
        claim="neighbour fetcher, every second cycle, and the end is seen late",
        make=NeighbourFetcher,
        given={"neighbours": _neighbours(1, 2, 3), "fetched": 1},
        shown={
            "neighbours": [0, 2, 4],
            "fetched": [1, 3, 5],
            "idle": [0, *range(5 + NeighbourFetcher.SETTLING + 1, END)],
        },
    ),
)

_VISITS = (
    Timing(
        claim="visitor, three writes back to back",
        make=partial(Visitor, depth=4),
        given={"neighbours": _neighbours(_NEW, _VISITED, _NEW), "slot": _slots(7), "command": 1},
        shown={
            "neighbours": [0, 1, 2],
            "demand": [0, 2],
            "command": [3, 4, 5],
            "pushed": [5],
            "waiting": range(6, END),
            "idle": [0],
        },
    ),
    Timing(
        claim="visitor of chunks, two writes of a further piece",
        make=partial(Visitor, depth=4, chunk=8),
        given={
            "neighbours": [{"word": _NEW, "vertex": 9, "more": 1}, {"word": _NEW, "vertex": 9, "further": 1}],
            "slot": _slots(7, 8),
            "command": 1,
        },
        shown={"command": [3, 4, 5, 6, 7], "command.payload.last": [5, 7], "pushed": [5, 7]},
    ),
    Timing(
        claim="marking visitor, leaves and visited vertices get past those that wait for slots, and no new one does",
        make=partial(MarkingVisitor, depth=4),
        # A queue of this depth holds six vertices: its memory and its two registers.
        given={"neighbours": _neighbours(*[_NEW] * 6, _LEAF, _VISITED, _LEAF, _NEW), "mark": 1},
        shown={"neighbours": range(9), "demand": range(6), "mark": [*range(3, 10), 11]},
    ),
    Timing(
        claim="lean visitor, two ids of an even slot and the next in one write",
        make=partial(LeanVisitor, depth=16),
        given={"neighbours": _neighbours(*[_NEW] * 4), "slot": _slots(*range(4)), "command": 1},
        shown={"command.payload.last": [4, 7, 9, 12]},
    ),
)


def _tokens(values: Mapping[int, int]) -> dict[str, Given]:
    """Return tokens of some values by cycle, with `done` set."""
    bits = {cycle: value | 1 << 32 for cycle, value in values.items()}
    return {"token_in.valid": list(values), "token_in.payload": bits}


_SLOTS = (
    *(
        Timing(
            claim=f"slot allocator, {kind}, the first slot a cycle after the token, and one more each cycle",
            make=partial(SlotAllocator, depth=4, blocking=kind == "published"),
            given={"capacity": 100, "demand": [0, 1, 2], "slot": 1, **_tokens({5: 10})},
            shown={
                "token_out.valid": [5 + SlotAllocator.LATENCY],
                "token_out.payload.value": {6: 13},
                "slot": [6, 7, 8],
                "idle": [0, *range(9, END)],
            },
        )
        for kind in ("own", "published")
    ),
    *(
        Timing(
            claim=f"slot allocator, {kind}",
            make=partial(SlotAllocator, depth=4, blocking=kind.startswith("published")),
            given={
                "capacity": 100,
                "demand": demand,
                "slot": slot,
                **_tokens({3: 10, 6: 20, 9: 30, 12: 40}),
            },
            shown={"token_out.payload.value": values},
        )
        for kind, demand, slot, values in (
            (
                "published, only when the last reservation is used up",
                [0, 1, 4],
                [7, 10, 14],
                {4: 12, 7: 20, 10: 30, 13: 41},
            ),
            ("one reservation ahead", [0, 1, 4, 7], [10, 11, 12, 14], {4: 12, 7: 21, 10: 30, 13: 41}),
        )
    ),
    Timing(
        claim="slot station, a block for each kernel",
        make=partial(SlotStation, kernels=2, depth=4),
        given={"asked": {0: 3, 1: 2}, "room": 3, **_tokens({8: 10})},
        shown={"token_out.payload.value": {9: 13}, "block0.valid": [9], "block1.valid": [9]},
    ),
    *(
        Timing(
            claim=f"slot station, a token {age} cycles after the demand",
            make=partial(SlotStation, kernels=2, depth=4),
            given={"asked": {0: 1}, "room": 3, **_tokens({1 + age: 10})},
            shown={"token_out.payload.value": {2 + age: value}},
        )
        for age, value in ((SlotStation.AGE - 1, 10), (SlotStation.AGE, 11))
    ),
    Timing(
        claim="slot dispenser, a slot a cycle from the cycle after its block",
        make=partial(SlotDispenser, depth=4),
        given={
            "demand": range(5),
            "capacity": 12,
            "block.valid": [6, 8],
            "block.payload.first": {6: 10, 8: 20},
            "block.payload.count": {6: 3, 8: 2},
            "slot": 1,
        },
        shown={"asked": range(1, 6), "slot": [7, 8, 9, 11, 12], "idle": [0, *range(13, END)]},
    ),
    Timing(
        claim="slot gate, the first slot after two cycles, but to a held vertex at once",
        make=SlotGate,
        given={"reserved.valid": [*range(4), *range(5, 9)], "held": [5]},
        shown={"slot.valid": [2, 3, 5, 6, 7, 8], "idle": [4, *range(9, END)], "moving": [0, 1, 4, 5, 9]},
    ),
)

_INTERSECTION = (
    Timing(
        claim="reach reader, the forward share, then the backward one",
        make=partial(ReachReader, depth=4, stride=2),
        given={
            "forward_count": 4,
            "backward_count": 4,
            "first": {1: 1},
            "start": [1],
            "command": 1,
            "entries": 1,
        },
        memory={number(IntersectionTag.REACH_ENTRY): "response"},
        shown={"command": range(2, 6), "entries": range(8, 12), "entries.payload.direction": [10, 11]},
    ),
    Timing(
        claim="colour reader, two reads a vertex",
        make=partial(ColourReader, depth=4),
        given={"entries": [{"vertex": vertex} for vertex in range(1, 6)], "command": 1, "candidates": 1},
        memory={number(IntersectionTag.COLOUR): "colour_response", number(IntersectionTag.OTHER_WORD): "word_response"},
        shown={
            "entries": [1, 3, 5, 7, 10],
            "command": [*range(8), 9, 10],
            "candidates": [8, 10, 12, 14, 17],
            "idle": [0, *range(18, END)],
        },
    ),
    Timing(
        claim="classifier, at once",
        make=partial(Classifier, depth=4),
        given={
            "candidates": [{}, {"met": 1}, {"coloured": 1}, {"direction": Direction.BACKWARD}],
            "command": 1,
            "paint": 1,
            "outsiders": 1,
        },
        memory={number(IntersectionTag.OWN_WORD): "response"},
        shown={
            "candidates": range(4),
            "command": [0, 3],
            "rejected": [0, 3],
            "paint": [1],
            "outsiders": [6, 9],
            "idle": [0, *range(10, END)],
        },
    ),
)

_EXCHANGE = (
    Timing(
        claim="exchange slice, an id a cycle in either plane, of all kernels in turn",
        make=partial(ExchangeSlice, kernels=2, depth=8),
        given={
            "push_even": dict.fromkeys(range(10), 3),
            "push_odd": dict.fromkeys(range(10), 3),
            "odd0": 5,
            "owned_even": 1,
            "owned_odd": 1,
        },
        shown={
            "owned_even": range(3, 23),
            "owned_odd.payload": dict.fromkeys(range(3, 23, 2), 5),
            "busy": range(1, 23),
        },
        latency=("owned_even", ExchangeSlice.LATENCY),
    ),
    *(
        Timing(
            claim=f"visited bank, an id a cycle, {claim}",
            make=partial(VisitedBank, kernels=2, vertices=1024),
            given={"ids": ids, "fresh": 1},
            shown={"ids": range(20), "fresh": fresh},
            latency=("fresh", VisitedBank.LATENCY),
        )
        for claim, ids, fresh in (("two in turn", [1, 2] * 10, [3, 4]), ("all new", list(range(20)), range(3, 23)))
    ),
    Timing(
        claim="id router, two ids a cycle of different planes",
        make=partial(IdRouter, kernels=2, lanes=2),
        given={
            "ids0": [4 * n + n % 2 for n in range(10)],
            "ids1": [4 * n + 1 - n % 2 for n in range(10)],
            "room_even": 3,
            "room_odd": 3,
        },
        shown={"ids0": range(10), "ids1": range(10), "send_even": range(2, 12), "send_odd": range(2, 12)},
        latency=("send_even", IdRouter.LATENCY),
    ),
    Timing(
        claim="id merger, an id a cycle, of both planes in turn",
        make=partial(IdMerger, kernels=4),
        given={"owner": 2, "even": [1, 2, 3, 4], "odd": [5, 6], "ids": 1},
        shown={"even": [0, 2, 4, 5], "odd": [1, 3], "ids": range(1, 7), "idle": [0, *range(7, END)]},
    ),
    Timing(
        claim="reading barrier, from the last id sent to the end of the wait",
        make=ReadingBarrier,
        given={
            "epoch": range(1, END),
            "sent": [*range(5), *range(8, END)],
            "busy": range(3, 20),
            "drained": {0: 1, 1: 1, 2: 1, **dict.fromkeys(range(15, END), 2)},
        },
        shown={"read_epoch": range(4, END), "idle": [0, *range(15, END)], "moving": range(3, 15)},
    ),
)

_READS = [{"address": 8 * (number % 2), "size": 1} for number in range(12)]

_SWITCH = (
    Timing(
        claim="skid, an entry a cycle",
        make=partial(Skid, 4),
        given={"input": [1] * 12, "output": 1},
        shown={"input": range(12), "output": range(1, 13)},
    ),
    Timing(
        claim="request skid, a request a cycle, with its link",
        make=partial(RequestSkid, ReadRequest, (3, 7)),
        given={"input": [{"address": 8}] * 6 + [{"address": 128}] * 6, "output": 1},
        shown={"input": range(12), "output": range(1, 13), "link": lasting({1: 1, 7: 2})},
    ),
    Timing(
        claim="flush barrier, from the last kernel that asks to the flush, and from the last answer to the kernels",
        make=partial(FlushBarrier, kernels=3, links=2),
        given={"working": 6, "asks": {0: 2, 3: 4}, "busy": range(10), "answers": {15: 1, 20: 2}},
        shown={"flush": [11], "flushed": {22: 6}},
    ),
    Timing(
        claim="kernel slice, a request a cycle, and its answer back",
        make=partial(KernelSlice, link_bits=(3,), places=8),
        given={"port.read": _READS, "room": 3, "arrives": {10: 2, 11: 1, 14: 1}},
        shown={
            "port.read": range(12),
            "send": {cycle: cycle % 2 + 1 for cycle in range(2, 14)},
            "port.response": [14, 15, 17],
            "busy": range(1, 14),
        },
        latency=("send", KernelSlice.LATENCY),
    ),
    Timing(
        claim="kernel slice, an answer of the next read waits for that of the first",
        make=partial(KernelSlice, link_bits=(3,), places=8),
        given={"port.read": _READS[:2], "room": 3, "arrives": {10: 2, 20: 1}},
        shown={"port.response": [23, 24]},
        latency=("port.response", 20 + KernelSlice.ANSWER_LATENCY),
    ),
    Timing(
        claim="link slice, a request a cycle, of all kernels in turn",
        make=partial(LinkSlice, kernels=2, link_bits=(3,), depth=4),
        given={"push": dict.fromkeys(range(5), 3), "port.read": 1},
        shown={"port.read": range(3, 13), "port.read.payload.tag": range(4, 13, 2), "busy": range(1, 13)},
        latency=("port.read", LinkSlice.LATENCY),
    ),
    Timing(
        claim="link slice, answers",
        make=partial(LinkSlice, kernels=2, link_bits=(3,), depth=4),
        given={"port.response.valid": [20, 21], "port.response.payload.tag": {20: 1}},
        shown={"answers": {21: 2, 22: 1}},
        latency=("answers", 20 + LinkSlice.ANSWER_LATENCY),
    ),
)

_AXI = partial(AxiMemoryPort, AxiLimits(outstanding_reads=4, outstanding_writes=8))

_BOARDS = (
    Timing(
        claim="port on AXI, a read a cycle up to the limit, and one more with each answer",
        make=_AXI,
        given={"port.read": [{}] * 12, "axi.arready": 1, "axi.rvalid": [10, 11]},
        shown={"axi.arvalid": [1, 2, 3, 4, 12, 13], "port.response": [11, 12]},
    ),
    Timing(
        claim="port on AXI, a write a cycle up to the limit, and a flush behind the last answer",
        make=_AXI,
        given={
            "port.write": [{}] * 10,
            "port.flush": [25],
            "axi.awready": 1,
            "axi.wready": 1,
            "axi.bvalid": range(15, 35, 2),
        },
        shown={"axi.awvalid": [*range(1, 9), 17, 19], "axi.wvalid": [*range(1, 9), 17, 19], "port.flushed": [35]},
    ),
    Timing(
        claim="link on AXI, a cycle each way",
        make=AxiLink,
        given={"link_out.valid": [0], "next_engine.tready": [3], "previous_engine.tvalid": [5]},
        shown={"next_engine.tvalid": [1, 2, 3], "link_in": [6]},
    ),
    Timing(
        claim="port on the HC-2, a load or a store a cycle",
        make=ConveyMemoryPort,
        given={"port.read": [{}] * 3, "port.write": [{}] * 3},
        shown={"mc.req_ld": [4, 5, 6], "mc.req_st": [1, 2, 3]},
    ),
    Timing(
        claim="link of the HC-2, two words a token",
        make=ConveyLink,
        given={"link_out.valid": [0], "ae.prvae_rx_vld": [3, 4]},
        shown={"ae.nxtae_tx_vld": [2, 3], "link_in": [5]},
    ),
)

TIMINGS: tuple[Timing, ...] = (
    *_SHARED,
    *_MASTERS,
    *_READERS,
    *_VISITS,
    *_SLOTS,
    *_INTERSECTION,
    *_EXCHANGE,
    *_SWITCH,
    *_BOARDS,
)
