"""A compiled driver that plays prepared requests against a memory, window by window."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.caching.numba_code import njit
from cyscc.sim.memory import FLUSH, READ, WRITE, Memory, Profile
from cyscc.sim.memory.records import Mailbox
from tests.sim.memory.stepper import machine

REQUEST = np.dtype(
    [("after", np.int64), ("kind", np.int64), ("address", np.int64), ("size", np.int64), ("data", np.int64)]
)
"""One request: not before this cycle, kind, byte address, 4 or 8 bytes, data to write."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """Completion of requests, as arrays of shape (engines, ports, requests of a port); -1 if incomplete.

    Parameters
    ----------
    accepted : ndarray of int64
        Cycle in which each request was taken.
    seen : ndarray of int64
        Cycle of response number k of a port (not of request number k).
    tag, data : ndarray of int64
        Tag and data of that response.
    flushed : ndarray of int64
        Cycle of completed flush number k of a port.
    """

    accepted: NDArray[np.int64]
    seen: NDArray[np.int64]
    tag: NDArray[np.int64]
    data: NDArray[np.int64]
    flushed: NDArray[np.int64]


def requests(*, engines: int = 1, ports: int = 1, count: int, **fields: Any) -> NDArray[np.void]:
    """Return `count` reads of 8 bytes at address 4096 for each port, from cycle 0 on, but for the fields given."""
    plan = np.zeros((engines, ports, count), REQUEST)
    for name, value in ({"address": 4096, "size": 8} | fields).items():
        plan[name] = value
    return plan


_PLACES = [int(field[1]) // 8 for field in (Mailbox.dtype.fields or {}).values()]
_READ_READY, _WRITE_READY, _RESPONSES, _FLUSHED, _REQUESTS, *_ARRAYS = _PLACES
_TAGS, _DATA, _READ_PAYLOADS, _WRITE_PAYLOADS, _WRITE_DATA = _ARRAYS
"""Where the fields of a mailbox are among its words, signed for numba, which makes a float of signed and unsigned."""


@njit(error_model="numpy", nogil=True)
def _advance(model, box, plan, ae, start, stop, counts, accepted, seen, tag, data, flushed):  # type: ignore[no-untyped-def]
    """Run one engine from cycle `start` until before `stop`; its counts are those of (requests, responses, flushes)."""
    prepare, accept, context = model
    ports, count = plan.shape
    for cycle in range(start, stop):
        prepare(context, ae, cycle)
        for port in range(ports):
            if box[_RESPONSES] >> port & 1:
                index = counts[port, 1]
                seen[port, index] = cycle
                tag[port, index] = box[_TAGS + port]
                data[port, index] = box[_DATA + port]
                counts[port, 1] += 1
            if box[_FLUSHED] >> port & 1:
                flushed[port, counts[port, 2]] = cycle
                counts[port, 2] += 1
            index = counts[port, 0]
            if index == count:
                continue
            request = plan[port, index]
            ready = box[_READ_READY] if request.kind == 0 else box[_WRITE_READY]
            if request.after > cycle or (request.kind != FLUSH and not ready >> port & 1):
                continue
            accepted[port, index] = cycle
            box[_REQUESTS + request.kind] |= 1 << port
            payload = request.address | (request.size >> 3) << 48 | (index & 0x7FFF) << 49
            if request.kind == READ:
                box[_READ_PAYLOADS + port] = payload
            elif request.kind == WRITE:
                box[_WRITE_PAYLOADS + port] = payload
                box[_WRITE_DATA + port] = request.data
            counts[port, 0] += 1
        accept(context, ae, cycle)


Rounds = Literal["settled", "served first", "served last", "served beside"]
"""How the rounds of a game end: by `settle`; or by `seal`, with `serve` before, after or beside the engines' next."""


def play(
    memory: Memory,
    plan: NDArray[np.void],
    *,
    cycles: int,
    quantum: int = 0,
    threads: int = 1,
    rounds: Rounds = "settled",
) -> Played:
    """Play requests, in order on each port, for a number of cycles from cycle 0 on.

    Parameters
    ----------
    memory : Memory
        A fresh memory.
    plan : ndarray of REQUEST, shape (engines, ports, n)
        The requests of each port.
    cycles : int
        How long.
    quantum : int
        Cycles of a round; 0 for as many as the memory allows.
    threads : int
        Threads that the engines run on in a round.
    rounds : Rounds
        How rounds end.
    """
    model = memory.model.prepare, memory.model.accept, memory.model.context
    results = [np.full(plan.shape, -1, np.int64) for _ in range(5)]
    counts = np.zeros((*plan.shape[:2], 3), np.int64)

    def advance(ae: int, start: int, stop: int) -> None:
        own = [result[ae] for result in results]
        if rounds != "settled":
            memory.deliver(ae)
        _advance(model, boxes[ae], plan[ae], ae, start, stop, counts[ae], *own)

    boxes = memory.mailboxes.view(np.int64).reshape(memory.engines, -1)
    engines, parts = range(memory.engines), range(memory.parts)
    step = quantum or (memory.quantum if rounds == "settled" else memory.quantum // 2)
    with ThreadPoolExecutor(threads) as pool, ThreadPoolExecutor(memory.parts) as servers:
        run = pool.map if threads > 1 else map
        for start in range(0, cycles, step):
            stop = min(start + step, cycles)
            if rounds == "served first":
                for part in parts:
                    memory.serve(part)
            serving = servers.map(memory.serve, parts if rounds == "served beside" else ())
            list(run(partial(advance, start=start, stop=stop), engines))
            list(serving)
            if rounds == "served last":
                for part in parts:
                    memory.serve(part)
            if rounds != "settled":
                memory.seal(stop - 1)
            else:
                memory.settle(stop - 1)
        memory.settle(cycles - 1)
    accepted, seen, tag, data, flushed = results
    return Played(accepted=accepted, seen=seen, tag=tag, data=data, flushed=flushed)


CYCLES = 1500


def mixed(seed: int, *, engines: int, ports: int, words: int, count: int = 300) -> NDArray[np.void]:
    """Return random reads, writes and a few flushes of both sizes over `words` words."""
    rng = np.random.default_rng(seed)
    plan = requests(engines=engines, ports=ports, count=count)
    plan["kind"] = rng.choice(3, plan.shape, p=[0.7, 0.28, 0.02])
    plan["size"] = rng.choice([4, 8], plan.shape)
    plan["address"] = 4096 + 8 * rng.integers(0, words, plan.shape) + 4 * (plan["size"] == 4)
    plan["data"] = rng.integers(-(2**62), 2**62, plan.shape)
    plan["after"] = np.cumsum(rng.integers(0, 5, plan.shape), axis=-1)
    return plan


def run(
    profile: str | Profile,
    plan: NDArray[np.void],
    *,
    cycles: int = CYCLES,
    quantum: int = 0,
    threads: int = 1,
    rounds: Rounds = "settled",
) -> tuple[Memory, Played]:
    """Play requests without an error."""
    engines, ports, _ = plan.shape
    memory = machine(profile, engines=engines, ports=ports, size=1 << 19)
    played = play(memory, plan, cycles=cycles, quantum=quantum, threads=threads, rounds=rounds)
    assert memory.error() is None
    return memory, played


def assert_same(memory: Memory, played: Played, other: Memory, replayed: Played) -> None:
    for name in ("accepted", "seen", "tag", "data", "flushed"):
        assert np.array_equal(getattr(played, name), getattr(replayed, name)), name
    assert np.array_equal(memory.read(4096, np.uint64, 1 << 16), other.read(4096, np.uint64, 1 << 16))
    assert memory.statistics() == other.statistics()
