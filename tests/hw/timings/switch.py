"""Timing of the switch's parts; that of the whole is in `tests.hw.test_switch`."""

from functools import partial

from cyscc.hw.interfaces import ReadRequest
from cyscc.hw.switch.credit_bank import CreditBank
from cyscc.hw.switch.flush_barrier import FlushBarrier
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from cyscc.hw.switch.request_skid import RequestSkid
from cyscc.hw.switch.skid import Skid
from tests.hw.timings.timing import END, Timing, lasting

_READS = [{"address": 8 * (number % 2), "size": 1, "tag": 3} for number in range(12)]

SWITCH = (
    Timing(
        claim="skid, an entry a cycle",
        make=partial(Skid, 4),
        given={"input": [1] * 12, "output": 1},
        shown={"input": range(12), "output": range(1, 13)},
    ),
    Timing(
        claim="skid, two entries",
        make=partial(Skid, 4),
        given={"input": [1, 2, 3], "output": [6, 7, 8]},
        shown={"input": [0, 1, 7], "output": [6, 7, 8], "output.payload": {6: 1, 7: 2, 8: 3}},
    ),
    Timing(
        claim="request skid, a request a cycle, with its link",
        make=partial(RequestSkid, ReadRequest, (3, 7)),
        given={"input": [{"address": 8}] * 6 + [{"address": 128}] * 6, "output": 1},
        shown={"input": range(12), "output": range(1, 13), "link": lasting({1: 1, 7: 2}), "first": range(2, 13, 2)},
    ),
    Timing(
        claim="request skid, two requests",
        make=partial(RequestSkid, ReadRequest, (3,)),
        given={"input": [{}] * 3, "output": [6, 7, 8]},
        shown={"input": [0, 1, 7], "output": [6, 7, 8], "first": [7, *range(9, END)]},
    ),
    Timing(
        claim="credit bank, all places but one in a row",
        make=partial(CreditBank, fifos=2, depth=3),
        given={"take": {0: 2, 1: 2}, "give": {5: 2}},
        shown={"available": lasting({0: 3, 3: 1, 7: 3})},
    ),
    Timing(
        claim="flush barrier, from the last kernel that asks to the flush, and from the last answer to the kernels",
        make=partial(FlushBarrier, kernels=3, links=2),
        given={"working": 6, "asks": {0: 2, 3: 4}, "busy": range(10), "answers": {15: 1, 20: 2}},
        shown={"flush": [11], "flushed": {22: 6}, "moving": [0, *range(3, 12), 15, 20, 21, 22]},
    ),
    Timing(
        claim="flush barrier, nothing in the switch",
        make=partial(FlushBarrier, kernels=2, links=2),
        given={"working": 3, "asks": {0: 3}, "answers": {5: 3}},
        shown={"flush": [2], "flushed": {7: 3}},
    ),
    Timing(
        claim="kernel slice, a request a cycle, and its answer back",
        make=partial(KernelSlice, link_bits=(3,), places=8),
        given={"port.read": _READS, "room": 3, "arrives": {10: 2, 11: 1, 14: 1}, "answer0": 6, "answer1": 7},
        shown={
            "port.read": range(12),
            "send": {cycle: cycle % 2 + 1 for cycle in range(2, 14)},
            "port.response": [14, 15, 17],
            "port.response.payload.data": {14: 6, 15: 7, 17: 6},
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
        claim="kernel slice, no more reads of a link than it has places for",
        make=partial(KernelSlice, link_bits=(3,), places=4),
        given={"port.read": [{"address": 8}] * 12, "room": 3},
        shown={"send": dict.fromkeys(range(2, 9), 2), "busy": range(1, END)},
    ),
    Timing(
        claim="kernel slice, a write before a read",
        make=partial(KernelSlice, link_bits=(3,), places=4),
        given={"port.read": [{}] * 2, "port.write": [{"address": 8}] * 2, "room": 3},
        shown={"send": {2: 2, 3: 2, 4: 1, 5: 1}, "request.write": [2, 3]},
    ),
    Timing(
        claim="link slice, a request a cycle, of all kernels in turn",
        make=partial(LinkSlice, kernels=2, link_bits=(3,), depth=4),
        given={
            "push": dict.fromkeys(range(5), 3),
            "port.read": 1,
        },
        shown={
            "port.read": range(3, 13),
            "port.read.payload.tag": range(4, 13, 2),
            "busy": range(1, 13),
        },
        latency=("port.read", LinkSlice.LATENCY),
    ),
    Timing(
        claim="link slice, answers",
        make=partial(LinkSlice, kernels=2, link_bits=(3,), depth=4),
        given={
            "port.response.valid": [20, 21],
            "port.response.payload.tag": {20: 1},
            "port.response.payload.data": {20: 5, 21: 6},
        },
        shown={"answers": {21: 2, 22: 1}, "answer": lasting({21: 5, 22: 6})},
        latency=("answers", 20 + LinkSlice.ANSWER_LATENCY),
    ),
)
