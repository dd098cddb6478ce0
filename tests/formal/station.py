"""Proofs about the short ring: a station that reserves slots for all kernels of an AE, and what hands them out."""

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Mux, Value

from cyscc.hw.bfs.slot_dispenser import SlotDispenser
from cyscc.hw.bfs.slot_station import SlotStation
from tests.formal.harness import Harness, opened
from tests.formal.proof import Proof
from tests.formal.watch import outlast

DEPTH = 4
MOST = DEPTH + 4
"""Vertices that wait at a kernel at most."""


def _sum(values: list[Any]) -> Value:
    return sum(values[1:], Value.cast(values[0]))


def station(kernels: int) -> Harness:
    """Return the harness of `SlotStation`: any demands, and kernels with room at any time.

    Parameters
    ----------
    kernels : int
        Kernels of the AE.
    """
    h, part, dut = opened(SlotStation(kernels=kernels, depth=DEPTH, instrument=True))
    asked, room, done, epoch = (h.free(kernels, name) for name in ("asked", "room", "done", "epoch"))
    h.m.d.comb += [dut.asked.eq(asked), dut.room.eq(room), dut.done.eq(done), dut.epoch.eq(epoch)]
    comes = h.free(1, "comes")
    value, token_done, token_epoch = h.free(32, "value"), h.free(1, "token_done"), h.free(1, "token_epoch")
    token = dut.token_in.payload
    h.m.d.comb += [
        dut.token_in.valid.eq(comes),
        token.value.eq(value),
        token.done.eq(token_done),
        token.epoch.eq(token_epoch),
    ]

    out = dut.token_out
    before = h.past(value, "value")
    h.prove(out.valid == h.past(comes, "came"), "the_token_leaves_a_cycle_later")
    h.prove(~out.valid | (out.payload.epoch == h.past(token_epoch, "token_epoch")), "it_speaks_of_the_same_run")
    over = token_done & Cat(done[n] & (epoch[n] == token_epoch) for n in range(kernels)).all()
    h.prove(~out.valid | (out.payload.done == h.past(over, "over")), "done_if_all_kernels_are_done_with_that_run")
    given: list[Any] = []
    hold = part.signal("hold")
    states = [[part.signal(f"{name}{n}") for n in range(kernels)] for name in ("count", "later", "taken")]
    counts, later, taken = states
    for n in range(kernels):
        block = getattr(dut, f"block{n}")
        first, count = block.payload.first, block.payload.count
        waiting = h.counter(f"waiting{n}", width=8, up=asked[n], down=Mux(block.valid, count, 0))
        h.assume(~asked[n] | (waiting < MOST), f"kernel{n}_has_room_for_what_waits")
        fell = h.past(room[n] & ~block.valid, f"room{n}")
        h.assume(~fell | room[n], f"room_of_kernel{n}_falls_only_after_a_block")
        offset = _sum([Value.cast(0), *given])[:32]
        h.prove(~block.valid | (first == (before + offset)[:32]), f"kernel{n}_block_begins_where_the_last_one_ends")
        h.prove(~block.valid | ((count > 0) & (count <= waiting)), f"kernel{n}_block_is_what_waits_there")
        h.prove(~block.valid | room[n], f"kernel{n}_block_finds_room")
        h.prove(~block.valid | out.valid, f"kernel{n}_block_comes_with_the_token")
        asks = (waiting > 0) & room[n]
        # It has asked, and had room, since the demands were counted that the sums tell of.
        longs = [asks]
        for cycle in range(SlotStation.AGE):
            longs.append(asks & h.past(longs[-1], f"long{n}_{cycle}"))
        due = h.past(comes & longs[-1] & ~hold.any(), f"due{n}")
        h.prove(~due | block.valid, f"kernel{n}_gets_its_slots_with_a_token")
        given.append(Mux(block.valid, count, 0))
        demanded = part.signal(f"demanded{n}")
        h.invariant(demanded + given[n] == waiting, f"kernel{n}_is_counted")
        h.invariant(waiting <= MOST, f"kernel{n}_asks_for_few")
        h.invariant(~block.valid | hold[0], f"kernel{n}_block_is_noticed")
        for stage, numbers in enumerate(states):
            fresh = ~hold[: stage + 2].any()
            fits = (numbers[n] <= demanded) & ((numbers[n] == 0) | room[n])
            h.invariant(~fresh | fits, f"stage{stage}_of_kernel{n}_is_right_if_fresh")
            known = (numbers[n] > 0) | ~longs[stage + 1]
            h.invariant(~fresh | known, f"stage{stage}_of_kernel{n}_knows_what_waits")
    h.prove(~out.valid | (out.payload.value == (before + _sum(given))[:32]), "the_token_goes_past_all_blocks")
    for n in range(kernels):
        start = n - n % 4
        h.invariant(part.signal(f"sum{n}") == _sum(later[start : n + 1]), f"sum{n}_is_that_of_its_group")
        h.invariant(part.signal(f"offset{n}") == _sum([Value.cast(0), *taken[:n]]), f"offset{n}_is_a_prefix_sum")
    h.invariant(part.signal("total") == _sum(taken), "total_is_the_sum")
    registers = [*counts, *later, *taken, hold, *(part.signal(f"demanded{n}") for n in range(kernels))]
    h.prove(~dut.quiescent | h.steady(Cat(registers), "registers"), "rests_if_quiescent")
    return h


def dispenser() -> Harness:
    """Return the harness of `SlotDispenser`: any demands, blocks that it has room for, and a slot that is watched.

    Claim: Every slot of every block is handed out once, in order; idle means that no vertex and no slot is left.
    """
    h, part, dut = opened(SlotDispenser(depth=DEPTH), constant=["capacity"])
    demand = h.free(1, "demand")
    h.m.d.comb += [dut.demand.eq(demand), dut.slot.ready.eq(h.free(1, "ready"))]
    comes, first, count = h.free(1, "comes"), h.free(32, "first"), h.free(10, "count")
    h.m.d.comb += [dut.block.valid.eq(comes), dut.block.payload.first.eq(first), dut.block.payload.count.eq(count)]
    taken = h.net(dut.slot.valid & dut.slot.ready, "taken")
    waiting = h.counter("waiting", width=8, up=demand, down=Mux(comes, count, 0))
    slots = h.counter("slots", width=8, up=Mux(comes, count, 0), down=taken)
    h.assume(~demand | (waiting + slots < MOST), "the_kernel_has_room_for_what_waits")
    h.assume(~comes | ((count > 0) & (count <= waiting)), "a_block_is_what_waits")
    h.assume(~comes | dut.room, "a_block_comes_only_with_room")

    # A slot of any block, from there on until it is taken.
    chosen = h.net(h.free(1, "choose") & comes, "chosen")
    place = h.free(10, "place")
    h.assume(~chosen | (place < count), "the_slot_is_of_the_block")
    watched, ahead, number = h.register(1, "watched"), h.register(8, "ahead"), h.register(32, "slot_number")
    leaves = h.net(watched & taken & (ahead == 0), "leaves")
    with h.m.If(chosen & ~watched):
        h.m.d.sync += [watched.eq(1), ahead.eq(slots - taken + place), number.eq(first + place)]
    with h.m.Elif(watched & taken):
        h.m.d.sync += [watched.eq(~leaves), ahead.eq(ahead - 1)]
    slot = dut.slot.payload
    h.prove(~(watched & (ahead == 0) & dut.slot.valid) | (slot.number == number), "slots_leave_in_order")
    h.prove(~dut.slot.valid | (slots > 0), "offers_only_slots_that_came")
    h.prove(~dut.slot.valid | (slot.fits == (slot.number < dut.capacity)), "fits_if_below_the_capacity")
    h.prove(dut.idle == ((waiting == 0) & (slots == 0)), "idle_if_nothing_waits")
    h.prove(dut.asked == h.past(demand, "demand"), "asks_for_every_demand_a_cycle_later")
    outlast(h, "a_slot_is_offered_within_three_cycles", waiting=(slots > 0) & ~dut.slot.valid, cycles=2)
    h.prove(~h.past(dut.room & ~comes, "had_room") | dut.room, "room_falls_only_after_a_block")
    h.obeys_stream_rules(dut.slot, "slot")
    reserved, booked, following = dut.reserved, part.signal("booked"), part.signal("following")
    resting = h.past(~dut.moving & ~comes, "resting")
    inside = Cat(dut.slot.valid, Value.cast(slot), reserved, booked, dut.demanded, dut.asked)
    h.prove(~resting | h.steady(inside, "inside"), "rests_unless_moving")

    h.invariant(dut.demanded == waiting, "demands_are_counted")
    h.invariant(dut.slot.valid + reserved + booked == slots, "slots_are_counted")
    h.invariant(waiting + slots <= MOST, "no_more_than_fit")
    h.invariant(~watched | (ahead < slots), "the_watched_one_is_there")
    inner = ahead - dut.slot.valid
    where = Mux(inner < reserved, part.signal("number") + inner, following + (inner - reserved))[:32]
    is_there = Mux(dut.slot.valid & (ahead == 0), slot.number, where) == number
    h.invariant(~watched | is_there, "it_is_in_its_place")
    return h


PROOFS = (
    *(
        Proof(
            name=f"slot-station-{kernels}",
            claim=f"The blocks of {kernels} kernels follow each other from the token's value on, each as large as what "
            "waited at its kernel some cycles ago, and the token leaves behind the last one, a cycle after it came.",
            harness=partial(station, kernels),
        )
        for kernels in (2, 5)
    ),
    Proof(name="slot-dispenser", harness=dispenser, depth=3),
)
