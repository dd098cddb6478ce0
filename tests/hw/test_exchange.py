"""Exchange of ids: none lost or repeated, each at its owner, the banks like a set, and an id a cycle everywhere."""

import random
from itertools import count
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.bank_sweeper import BankSweeper
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.id_merger import IdMerger
from cyscc.hw.exchange.id_router import IdRouter
from cyscc.hw.exchange.reading_barrier import ReadingBarrier
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.interfaces import drive
from tests.hw.streams import Bench, collect, cycles_of, pulse, simulate, stream_get, stream_put, wait

STALLS = [(0.0, 0.0), (0.0, 0.7), (0.7, 0.0), (0.5, 0.5)]


def owner_of(vertex: int, kernels: int) -> int:
    """Return the number of the kernel that owns an id."""
    return vertex // 2 % kernels


def send(push: Any, entry: Any, room: Any, entries: list[int], *, chance: random.Random) -> Bench:
    """Return a bench of a kernel that looks at the room, and pushes an entry in the next cycle."""

    async def bench(ctx: Any) -> None:
        left = list(entries)
        while left or ctx.get(push):
            go = bool(left) and ctx.get(room) and chance.random() < 0.7
            await ctx.tick()
            ctx.set(push, go)
            if go:
                ctx.set(entry, left.pop(0))

    return bench


@pytest.mark.parametrize("stall", [0.0, 0.8])
@pytest.mark.parametrize(("kernels", "depth"), [(1, 4), (2, 4), (4, 8)])
def test_a_slice_gathers_the_ids_of_its_kernel(kernels: int, depth: int, stall: float) -> None:
    chance = random.Random(kernels)
    dut = ExchangeSlice(kernels=kernels, depth=depth)
    benches, steady = [], []
    for plane, name in enumerate(PLANES):
        numbers = iter(chance.sample(range(1 << 27), 30 * kernels))
        sent = [[next(numbers) for _ in range(30)] for _ in range(kernels)]
        push, room = getattr(dut, f"push_{name}"), getattr(dut, f"room_{name}")
        for kernel, ids in enumerate(sent):
            entry = getattr(dut, f"{name}{kernel}")
            benches.append(send(push[kernel], entry, room[kernel], ids, chance=random.Random(kernel)))

        async def get(ctx: Any, name: str = name, sent: list[list[int]] = sent, seed: int = plane) -> None:
            got = await stream_get(ctx, getattr(dut, f"owned_{name}"), 30 * kernels, seed=seed, stall=stall)
            assert sorted(got) == sorted(rest for ids in sent for rest in ids)
            # Those of one kernel stay in order.
            for ids in sent:
                own = set(ids)
                assert [rest for rest in got if rest in own] == ids

        benches.append(get)
        steady.append(getattr(dut, f"owned_{name}"))

    async def end(ctx: Any) -> None:
        # Long enough for the slowest of the others.
        await wait(ctx, 1500)
        assert not ctx.get(dut.busy)
        assert not ctx.get(dut.owned_even.valid)
        assert not ctx.get(dut.owned_odd.valid)

    simulate(dut, *benches, end, steady=steady)


def test_a_slice_is_busy_from_the_arrival_of_an_id_until_it_is_taken() -> None:
    dut = ExchangeSlice(kernels=2)

    async def bench(ctx: Any) -> None:
        assert not ctx.get(dut.busy)
        await pulse(ctx, dut.push_odd[1])
        for cycle in range(5):
            assert ctx.get(dut.busy)
            assert ctx.get(dut.owned_odd.valid) == (cycle >= ExchangeSlice.LATENCY - 1)
            await ctx.tick()
        await pulse(ctx, dut.owned_odd.ready)
        assert not ctx.get(dut.busy)

    simulate(dut, bench)


def test_a_slice_passes_on_an_id_a_cycle_and_serves_all_kernels_alike() -> None:
    dut = ExchangeSlice(kernels=4)
    cycles: list[int] = []
    got: list[int] = []
    benches = [
        send(
            dut.push_even[kernel],
            getattr(dut, f"even{kernel}"),
            dut.room_even[kernel],
            [kernel + 4 * place for place in range(30)],
            chance=Steady(),
        )
        for kernel in range(4)
    ]

    async def end(ctx: Any) -> None:
        ctx.set(dut.owned_even.ready, 1)
        while len(got) < 120:
            await ctx.tick()

    taken = dut.owned_even.valid & dut.owned_even.ready
    simulate(dut, *benches, end, background=[collect(dut.owned_even, got), cycles_of(taken, cycles)])
    assert cycles == list(range(cycles[0], cycles[0] + 120))
    assert [rest % 4 for rest in got] == [0, 1, 2, 3] * 30


class Steady(random.Random):
    """No pauses."""

    def random(self) -> float:
        """Return the least of all numbers."""
        return 0.0


class Banked(wiring.Component):
    """A bank of even ids with its sweeper, which takes and gives whole ids.

    Parameters
    ----------
    kernels, vertices : int
        As of the bank.
    """

    def __init__(self, *, kernels: int, vertices: int) -> None:
        self.bank = VisitedBank(kernels=kernels, vertices=vertices)
        self.sweeper = BankSweeper(kernels=kernels, rows=self.bank.rows)
        ids = stream.Signature(32)
        super().__init__({"clear": In(1), "last": In(32), "ids": In(ids), "fresh": Out(ids), "idle": Out(1)})

    def elaborate(self, platform: Any) -> Module:
        """Connect both, and leave out the bits of plane and owner on the way through the bank."""
        m = Module()
        m.submodules.bank, m.submodules.sweeper = bank, sweeper = self.bank, self.sweeper
        left_out = 32 - len(bank.ids.payload)
        m.d.comb += [
            *drive(sweeper, clear=self.clear, last=self.last),
            *drive(bank, sweep=sweeper.sweep, row=sweeper.row),
            *drive(bank.ids, valid=self.ids.valid, payload=self.ids.payload[left_out:]),
            self.ids.ready.eq(bank.ids.ready),
            *drive(self.fresh, valid=bank.fresh.valid, payload=bank.fresh.payload << left_out),
            bank.fresh.ready.eq(self.fresh.ready),
            self.idle.eq(bank.idle),
        ]
        return m


def fresh_of(ids: list[int], vertices: int, known: set[int]) -> list[int]:
    """Return the ids that a bank passes on, and add them to those that it knows."""
    passed = []
    for vertex in ids:
        if vertex not in known:
            passed.append(vertex)
            if vertex < vertices:
                known.add(vertex)
    return passed


@pytest.mark.parametrize("stalls", STALLS)
@pytest.mark.parametrize(("kernels", "vertices", "most"), [(2, 64, 90), (1, 1024, 1100), (4, 1024, 700), (16, 64, 200)])
def test_a_bank_passes_on_each_id_once_in_a_search(
    kernels: int, vertices: int, most: int, stalls: tuple[float, float]
) -> None:
    chance = random.Random(vertices + most)
    own = [vertex for vertex in range(0, most, 2) if owner_of(vertex, kernels) == 0]
    dut = Banked(kernels=kernels, vertices=vertices)
    wanted: list[int] = []
    searches: list[list[int]] = []
    for _ in range(3):
        known: set[int] = set()
        # Runs of few ids, whose rows are read while they are written.
        ids = [chance.choice(chance.choice([own, own[:3]])) for _ in range(200)]
        searches.append(ids)
        wanted += fresh_of(ids, vertices, known)
    assert len(wanted) < 500

    async def put(ctx: Any) -> None:
        for seed, ids in enumerate(searches):
            ctx.set(dut.last, most - 1)
            await pulse(ctx, dut.clear)
            assert not ctx.get(dut.ids.ready)
            await stream_put(ctx, dut.ids, ids, seed=seed, stall=stalls[0])
            await ctx.tick()
            while not ctx.get(dut.idle):
                await ctx.tick()

    async def get(ctx: Any) -> None:
        assert await stream_get(ctx, dut.fresh, len(wanted), seed=7, stall=stalls[1]) == wanted

    simulate(dut, put, get, steady=[dut.fresh])


@pytest.mark.parametrize(("last", "rows"), [(0, 1), (255, 1), (256, 2), (2047, 8), ((1 << 32) - 1, 8)])
def test_a_bank_clears_a_row_a_cycle_of_those_that_may_be_used(last: int, rows: int) -> None:
    dut = Banked(kernels=2, vertices=2048)
    closed: list[int] = []
    got: list[int] = []
    # An id in each row, the last one first and twice.
    ids = [row * 256 for row in reversed(range(8))]

    async def bench(ctx: Any) -> None:
        ctx.set(dut.fresh.ready, 1)
        ctx.set(dut.last, 2047)
        await pulse(ctx, dut.clear)
        await stream_put(ctx, dut.ids, ids + ids, seed=1, stall=0)
        await wait(ctx, 4)
        assert got == ids
        got.clear()
        closed.clear()
        ctx.set(dut.last, last)
        await pulse(ctx, dut.clear)
        await stream_put(ctx, dut.ids, ids, seed=1, stall=0)
        await wait(ctx, 4)
        assert len(closed) == rows
        assert got == ids[8 - rows :]

    simulate(dut, bench, background=[collect(dut.fresh, got), cycles_of(~dut.ids.ready, closed)])


@pytest.mark.parametrize(
    "ids",
    [[4] * 40, [4, 8] * 20, [4, 8, 68] * 13, [4 * place for place in range(40)]],
    ids=["one", "two", "three", "new"],
)
def test_a_bank_takes_an_id_a_cycle(ids: list[int]) -> None:
    dut = Banked(kernels=2, vertices=1024)
    cycles: list[int] = []
    got: list[int] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.fresh.ready, 1)
        await pulse(ctx, dut.clear)
        while not ctx.get(dut.ids.ready):
            await ctx.tick()
        await stream_put(ctx, dut.ids, ids, seed=1, stall=0)
        await wait(ctx, VisitedBank.LATENCY)

    taken = dut.ids.valid & dut.ids.ready
    simulate(dut, bench, background=[cycles_of(taken, cycles), collect(dut.fresh, got)])
    assert cycles == list(range(cycles[0], cycles[0] + len(ids)))
    assert got == list(dict.fromkeys(ids))


@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("closed", [0.0, 0.6])
def test_a_router_hands_each_id_to_its_plane(lanes: int, closed: float) -> None:
    chance = random.Random(lanes)
    dut = IdRouter(kernels=4, lanes=lanes)
    sent: dict[str, list[int]] = {plane: [] for plane in PLANES}
    ids = [[chance.getrandbits(32) for _ in range(150)] for _ in range(lanes)]

    def put(lane: int) -> Bench:
        async def bench(ctx: Any) -> None:
            await stream_put(ctx, getattr(dut, f"ids{lane}"), ids[lane], seed=lane, stall=0.2)

        return bench

    async def take(ctx: Any) -> None:
        room = dict.fromkeys(PLANES, 0)
        while sum(map(len, sent.values())) < 150 * lanes:
            looked = room
            room = {plane: sum((chance.random() >= closed) << owner for owner in range(4)) for plane in PLANES}
            for number, plane in enumerate(PLANES):
                ctx.set(getattr(dut, f"room_{plane}"), room[plane])
                if owners := ctx.get(getattr(dut, f"send_{plane}")):
                    assert owners in (1, 2, 4, 8)
                    assert owners & looked[plane]
                    owner = owners.bit_length() - 1
                    sent[plane].append(ctx.get(getattr(dut, f"id_{plane}")) << 3 | owner << 1 | number)
            await ctx.tick()
        assert ctx.get(dut.idle)

    simulate(dut, *(put(lane) for lane in range(lanes)), take)
    for number, plane in enumerate(PLANES):
        for own in ids:
            wanted = [vertex for vertex in own if vertex % 2 == number]
            there = set(wanted)
            assert [vertex for vertex in sent[plane] if vertex in there] == wanted
        assert len(sent[plane]) == sum(vertex % 2 == number for own in ids for vertex in own)


def test_a_router_takes_two_ids_a_cycle_of_different_planes() -> None:
    dut = IdRouter(kernels=2, lanes=2)
    cycles: tuple[list[int], list[int]] = ([], [])
    lanes = (dut.ids0, dut.ids1)

    def put(lane: int) -> Bench:
        async def bench(ctx: Any) -> None:
            for plane in PLANES:
                ctx.set(getattr(dut, f"room_{plane}"), 3)
            # Each lane changes its plane with every id.
            ids = [4 * place + (place + lane) % 2 for place in range(20)]
            await stream_put(ctx, lanes[lane], ids, seed=1, stall=0)

        return bench

    watched = [cycles_of(ids.valid & ids.ready, seen) for ids, seen in zip(lanes, cycles, strict=True)]
    simulate(dut, put(0), put(1), background=watched)
    assert cycles == (list(range(20)), list(range(20)))


@pytest.mark.parametrize("stalls", STALLS)
def test_a_merger_takes_from_both_in_turn_and_loses_nothing(stalls: tuple[float, float]) -> None:
    dut = IdMerger(kernels=4)
    even, odd = [list(range(start, start + 80)) for start in (0, 1000)]
    numbers = count()

    def put(channel: Any, ids: list[int]) -> Bench:
        async def bench(ctx: Any) -> None:
            await stream_put(ctx, channel, ids, seed=next(numbers), stall=stalls[0])

        return bench

    async def get(ctx: Any) -> None:
        ctx.set(dut.owner, 2)
        got = await stream_get(ctx, dut.ids, 160, seed=9, stall=stalls[1])
        assert [vertex for vertex in got if not vertex % 2] == [rest << 3 | 2 << 1 for rest in even]
        assert [vertex for vertex in got if vertex % 2] == [rest << 3 | 2 << 1 | 1 for rest in odd]
        if not stalls[0]:
            assert all(got[place] % 2 != got[place + 1] % 2 for place in range(159))
        await ctx.tick()
        assert ctx.get(dut.idle)

    simulate(dut, put(dut.even, even), put(dut.odd, odd), get, steady=[dut.ids])


def test_a_barrier_shows_the_run_whose_ids_are_sent_and_ends_the_wait_for_it_alone() -> None:
    dut = ReadingBarrier()

    async def bench(ctx: Any) -> None:
        for epoch in (1, 0, 1):
            ctx.set(dut.sent, 1)
            ctx.set(dut.epoch, epoch)
            ctx.set(dut.drained, 1 << (1 - epoch))
            await wait(ctx, 2)
            assert ctx.get(dut.read_epoch) != epoch, "it has not begun"
            ctx.set(dut.sent, 0)
            ctx.set(dut.busy, 1)
            await wait(ctx, 2)
            assert ctx.get(dut.read_epoch) != epoch
            ctx.set(dut.sent, 1)
            await wait(ctx, 1)
            assert ctx.get(dut.read_epoch) == epoch
            assert not ctx.get(dut.idle)
            assert ctx.get(dut.moving)
            ctx.set(dut.drained, 1 << epoch)
            assert ctx.get(dut.idle)
            assert not ctx.get(dut.moving)
            ctx.set(dut.busy, 0)

    simulate(dut, bench)
