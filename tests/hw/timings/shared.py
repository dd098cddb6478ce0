"""Timing of what kernels of all modules share, and of masters and rings."""

from functools import partial

from cyscc.hw.address_generator import AddressGenerator
from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import SIZE_8, ChainOp
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.or_gate import OrGate
from cyscc.hw.queue import Queue
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.queue_reader import QueueReader
from cyscc.hw.registers import Register
from cyscc.hw.request_mux import READ, WRITE, RequestMux
from cyscc.hw.request_queue import RequestQueue
from cyscc.hw.response_decoder import ResponseDecoder
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.round_robin import RoundRobin
from tests.hw.timings.timing import END, Timing, lasting, number

_PARAMETERS = (Register.CAPACITY, Register.WORDS, Register.COLOUR)
_SOURCES = (READ, READ, READ, WRITE, WRITE)
_THREE = [{"last": number % 3 == 2} for number in range(9)]
"""Writes in groups of three."""


def _mux(interval: int) -> RequestMux:
    return RequestMux(sources=_SOURCES, issue_interval=interval)


def _from_all(count: int) -> dict[str, list[dict[str, int]]]:
    """Return as many commands from each source of a multiplexer."""
    return {f"source{number}": [{} if kind == READ else {"last": 1}] * count for number, kind in enumerate(_SOURCES)}


SHARED = (
    Timing(
        claim="address generator, a request a cycle",
        make=partial(AddressGenerator, writes=False),
        given={"command": [{}] * 20, "request": 1},
        shown={"command": range(20), "request": range(2, 22)},
        latency=("request", AddressGenerator.LATENCY),
    ),
    Timing(
        claim="address generator, an address that wraps",
        make=partial(AddressGenerator, writes=False),
        given={"command": [{"base": 2**48 - 8, "index": 2, "size": SIZE_8}], "request": 1},
        shown={"request.valid": [2], "request.payload.address": {2: 8}},
    ),
    Timing(
        claim="address generator, a request that waits",
        make=partial(AddressGenerator, writes=True),
        given={"command": [{}], "request": [6]},
        shown={"busy": range(1, 7), "moving": [1, 6], "request": [6]},
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
        shown={
            "input": [0, 1, 2, 3, 4, 5, 13],
            "level": lasting({1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 13: 5, 14: 6}),
        },
        latency=("level", 4 + Queue.REGISTERS - 5),
    ),
    Timing(
        claim="request queue",
        make=partial(RequestQueue, depth=4),
        given={"command.valid": [0], "command.payload.index": {0: 7}, "command.payload.base": 64, "request": [6]},
        shown={"request.valid": range(3, 7), "request.payload.index": {6: 7}, "idle": [0, *range(7, END)]},
        latency=("request.valid", Queue.LATENCY),
    ),
    Timing(
        claim="credits, the last one",
        make=partial(Credits, 2),
        given={"take": [0, 1], "give": [3]},
        shown={"available": [0, 1, *range(4, END)], "home": [0], "count": lasting({0: 2, 1: 1, 2: 0, 4: 1})},
    ),
    Timing(
        claim="credits, the last one, from a register",
        make=partial(Credits, 2, registered=True),
        given={"take": [0, 1], "give": [3]},
        shown={"available": [0, 1, *range(5, END)], "moving": [1, 4], "home": [0]},
    ),
    Timing(
        claim="arbitrated queues, all writers in turn",
        make=partial(ArbitratedQueues, 8, queues=4, depth=8),
        given={"push": dict.fromkeys(range(5), 15), "output": 1},
        shown={
            "output": range(3, 23),
            "source": {cycle: (cycle - 3) % 4 for cycle in range(3, 23) if (cycle - 3) % 4},
            "busy": range(1, 23),
        },
        latency=("output", ArbitratedQueues.LATENCY),
    ),
    Timing(
        claim="queue bank, an entry that is pulled",
        make=partial(QueueBank, 8, queues=2, depth=4),
        given={"push": {0: 2}, "entry1": {0: 9}, "pull": {2: 2}, "advance": 1},
        shown={"available": {1: 2, 2: 2}, "pulling": {3: 2}, "shown": {4: 9}, "busy": [1, 2, 3]},
    ),
    Timing(
        claim="queue bank, room but for the slack",
        make=partial(QueueBank, 8, queues=1, depth=4),
        given={"push": range(7)},
        shown={"room": range(6)},
        latency=("room", 5 + QueueBank.SLACK - 7),
    ),
    Timing(
        claim="round robin, in turn from the last one granted",
        make=partial(RoundRobin, 5),
        given={"requests": {0: 31, 1: 31, 2: 17, 3: 31, 4: 31, 5: 4}, "advance": [0, 2, 3, 4]},
        shown={"grant": {0: 1, 1: 2, 2: 16, 3: 1, 4: 2, 5: 4}},
    ),
    Timing(
        claim="queue reader, an index a cycle",
        make=partial(QueueReader, stride=2),
        given={"count": 20, "start": [1], "index": 1},
        shown={"index": range(2, 12), "finished": [0, 1, *range(12, END)]},
    ),
    Timing(
        claim="decoder, at once",
        make=partial(ResponseDecoder, 4),
        given={"response.valid": [1, 2], "response.payload.tag": {1: 3}},
        shown={"process3": [1], "process0": [2], "process1": []},
    ),
    Timing(
        claim="gate, at once",
        make=partial(OrGate, 2, inputs=6),
        given={f"word{number}": {number: number % 3 + 1} for number in range(6)},
        shown={"joined": {number: number % 3 + 1 for number in range(6)}},
    ),
    Timing(
        claim="multiplexer, a request a cycle, the latest process first",
        make=partial(_mux, 1),
        given={**_from_all(3), "read": 1, "write": 1},
        shown={
            **{f"source{number}": range(12 - 3 * number, 15 - 3 * number) for number in range(5)},
            "granted": range(15),
            "write": range(2, 8),
            "read": range(8, 17),
            "resting": [],
        },
        latency=("write", RequestMux.LATENCY),
    ),
    Timing(
        claim="multiplexer, a request every second cycle, the latest process first",
        make=partial(_mux, 2),
        given={**_from_all(3), "read": 1, "write": 1},
        shown={
            **{f"source{number}": range(24 - 6 * number, 30 - 6 * number, 2) for number in range(5)},
            "granted": range(0, 30, 2),
            "resting": range(1, 31, 2),
        },
    ),
    *(
        Timing(
            claim=f"multiplexer, only source {number} asks, every {interval}",
            make=partial(_mux, interval),
            given={f"source{number}": [{"last": 1} if number > 2 else {}] * 12, "read": 1, "write": 1},
            shown={"granted": range(0, 12 * interval, interval)},
        )
        for number in (0, 4)
        for interval in (1, 2)
    ),
    Timing(
        claim="multiplexer, writes of a visit back to back",
        make=partial(_mux, 1),
        given={"source4": _THREE, "write": 1},
        shown={"granted": range(9), "resting": []},
    ),
    Timing(
        claim="multiplexer, writes of a visit back to back, then a rest",
        make=partial(_mux, 2),
        given={"source4": _THREE, "write": 1},
        shown={"granted": [0, 1, 2, 4, 5, 6, 8, 9, 10], "resting": [3, 7, 11]},
    ),
    Timing(
        claim="multiplexer, writes while reads are stalled",
        make=partial(_mux, 1),
        given={**_from_all(4), "write": 1},
        shown={"write": range(2, 10), "read": [], "source2": [8, 9], "blocked": range(10, END)},
    ),
    Timing(
        claim="multiplexer, reads while writes are stalled",
        make=partial(_mux, 1),
        given={**_from_all(4), "read": 1},
        shown={"source4": [0, 1], "source2": range(2, 6), "read": range(4, 16), "write": [], "blocked": range(2, END)},
    ),
    Timing(
        claim="multiplexer, nothing while it is held",
        make=partial(_mux, 1),
        given={**_from_all(1), "read": 1, "write": 1, "hold": range(10)},
        shown={"granted": range(10, 15), "busy": range(11, 17)},
    ),
    Timing(
        claim="multiplexer, busy until the port took the request",
        make=partial(_mux, 1),
        given={"source0": [{}], "read": [6]},
        shown={"busy": range(1, 7), "moving": [1, 6]},
    ),
    Timing(
        claim="module master, from a run's begin to its end",
        make=partial(ModuleMaster, kernels=2, parameters=_PARAMETERS),
        given={
            "begin": [0],
            "engine": 3,
            "chain_in.valid": {9: 1},
            "chain_in.payload.op": {9: number(ChainOp.START)},
            "done": dict.fromkeys([*range(11), *range(30, END)], 3) | dict.fromkeys(range(12, 30), 1),
        },
        shown={"chain_out": [3, 4, 5, 6], "launch": [6], "complete": range(31, END)},
        latency=("launch", ModuleMaster.launch_cycles(_PARAMETERS)),
    ),
    Timing(
        claim="module master, a question between runs, and one as a run begins",
        make=partial(ModuleMaster, kernels=2, parameters=_PARAMETERS),
        given={
            "question": [5, 7],
            "begin": [0],
            "chain_in.valid": [9],
            "chain_in.payload.op": {9: number(ChainOp.START)},
        },
        shown={"question": [0, 13], "chain_out": [1, 3, 4, 5, 6, 14]},
    ),
    Timing(
        claim="module master, an error of any kernel",
        make=partial(ModuleMaster, kernels=3, parameters=_PARAMETERS),
        given={"error": {1: 1, 2: 4, 4: 7}},
        shown={"failed": [2, 3, 5]},
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
            shown={
                "ring_out": [stages, 10 + stages],
                "running": range(1, 21),
                "result": lasting({21: 11}),
            },
        )
        for stages in (1, 4)
    ),
    Timing(
        claim="ring master, the next run of another epoch",
        make=partial(RingMaster, stages=1, initial=77),
        given={"lead": 1, "start": [0, 20], "ring_in.valid": [10], "ring_in.payload": {10: 9 | 3 << 32}},
        shown={
            "ring_out": [1, 21],
            "ring_out.payload.value": {1: 77, 21: 77},
            "ring_out.payload.done": [1, 21],
            "ring_out.payload.epoch": [1],
            "running": [*range(1, 11), *range(21, END)],
        },
    ),
    Timing(
        claim="ring master, a token that passes",
        make=partial(RingMaster, stages=3, initial=77),
        given={"start": [0], "ring_in.valid": [4, 5]},
        shown={"ring_out": [7, 8], "running": []},
    ),
)
