"""Timing of the exchange of ids."""

from functools import partial

from cyscc.hw.exchange.bank_sweeper import BankSweeper
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.id_merger import IdMerger
from cyscc.hw.exchange.id_router import IdRouter
from cyscc.hw.exchange.reading_barrier import ReadingBarrier, ReadingGatherer
from cyscc.hw.exchange.visited_bank import VisitedBank
from tests.hw.timings.timing import END, Timing, lasting

EXCHANGE = (
    Timing(
        claim="exchange slice, an id a cycle in either plane, of all kernels in turn",
        make=partial(ExchangeSlice, kernels=2, depth=8),
        given={
            "push_even": dict.fromkeys(range(10), 3),
            "push_odd": dict.fromkeys(range(10), 3),
            "even1": 4,
            "odd0": 5,
            "owned_even": 1,
            "owned_odd": 1,
        },
        shown={
            "owned_even": range(3, 23),
            "owned_odd": range(3, 23),
            "owned_even.payload": dict.fromkeys(range(4, 23, 2), 4),
            "owned_odd.payload": dict.fromkeys(range(3, 23, 2), 5),
            "busy": range(1, 23),
        },
        latency=("owned_even", ExchangeSlice.LATENCY),
    ),
    Timing(
        claim="exchange slice, busy until an id is taken",
        make=partial(ExchangeSlice, kernels=2),
        given={"push_odd": {0: 2}, "owned_odd": [9]},
        shown={"busy": range(1, 10), "owned_odd": [9], "owned_even": []},
    ),
    *(
        Timing(
            claim=f"bank sweeper, from the row of {last} on",
            make=partial(BankSweeper, kernels=2, rows=8),
            given={"clear": [0], "last": last},
            shown={"sweep": range(1, 1 + rows), "row": lasting({1 + n: (rows - 1 - n) % 8 for n in range(rows + 1)})},
        )
        for last, rows in ((0, 1), (255, 1), (256, 2), (2047, 8), ((1 << 32) - 1, 8))
    ),
    *(
        Timing(
            claim=f"visited bank, an id a cycle, {claim}",
            make=partial(VisitedBank, kernels=2, vertices=1024),
            given={"ids": ids, "fresh": 1},
            shown={"ids": range(len(ids)), "fresh": fresh},
            latency=("fresh", VisitedBank.LATENCY),
        )
        for claim, ids, fresh in (
            ("one", [1] * 20, [3]),
            ("two in turn", [1, 2] * 10, [3, 4]),
            ("three in turn, of two parts", [1, 2, 17] * 7, [3, 4, 5]),
            ("all new", list(range(20)), range(3, 23)),
            ("beyond its bits", [256] * 20, range(3, 23)),
        )
    ),
    Timing(
        claim="visited bank, no id while a row is cleared, and the row anew",
        make=partial(VisitedBank, kernels=2, vertices=1024),
        given={
            "ids.valid": [0, 1, 20, 21],
            "ids.payload": {0: 5, 1: 70, 20: 5, 21: 70},
            "sweep": [10],
            "row": 1,
            "fresh": 1,
        },
        shown={"ids.ready": [*range(10), *range(11, END)], "fresh": [3, 4, 24]},
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
        claim="id router, of two ids of a plane the first stream's first, and what has no room waits",
        make=partial(IdRouter, kernels=2, lanes=2),
        given={"ids0": [4, 8], "ids1": [2, 6], "room_even": {3: 1, **dict.fromkeys(range(6, END), 3)}},
        shown={
            "ids0": [0, 1],
            "ids1": [4, 7],
            "send_even": {4: 1, 7: 1, 8: 2, 9: 2},
            "waiting": [1, 2, 4, 5],
            "idle": [0, *range(9, END)],
            "moving": range(10),
        },
    ),
    Timing(
        claim="id merger, an id a cycle, of both planes in turn",
        make=partial(IdMerger, kernels=4),
        given={"owner": 2, "even": [1, 2, 3, 4], "odd": [5, 6], "ids": 1},
        shown={
            "even": [0, 2, 4, 5],
            "odd": [1, 3],
            "ids": range(1, 7),
            "ids.payload": {1: 12, 2: 45, 3: 20, 4: 53, 5: 28, 6: 36},
            "idle": [0, *range(7, END)],
        },
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
    Timing(
        claim="reading barrier, all ids that left the exchange, a cycle later",
        make=partial(ReadingGatherer, 2),
        given={
            "read_epoch": {4: 1, **dict.fromkeys(range(5, END), 3)},
            "exchange_busy": dict.fromkeys(range(8), 2),
        },
        shown={"drained": lasting({9: 2}), "moving": [8]},
    ),
)
