"""Proofs about what holds entries: credits and queues."""

from amaranth.hdl import Cat, Module

from cyscc.hw.credits import Credits
from cyscc.hw.queue import Queue
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import outlast, watch

DEPTH = 4


def credits() -> Harness:
    """Return the harness of `Credits`: a user who takes only what is available and gives back only what it took."""
    h = Harness()
    dut = h.add("dut", Credits(DEPTH)).ports
    take, give = h.free(1, "take"), h.free(1, "give")
    h.m.d.comb += [dut.take.eq(take), dut.give.eq(give)]
    out = h.counter("out", width=8, up=take, down=give)
    h.assume(~take | dut.available, "taken_only_if_available")
    h.assume(~give | (out > 0), "given_only_if_taken")
    h.prove(dut.count + out == DEPTH, "free_and_promised_places_are_all")
    h.prove(dut.count <= DEPTH, "count_is_within_depth")
    h.prove(dut.available == (out < DEPTH), "available_while_one_is_free")
    h.prove(dut.home == (out == 0), "home_if_all_are_free")
    return h


def registered_credits() -> Harness:
    """Return the harness of `Credits` that are registered, with the same user."""
    h = Harness()
    dut = h.add("dut", Credits(DEPTH, registered=True)).ports
    take, give = h.free(1, "take"), h.free(1, "give")
    h.m.d.comb += [dut.take.eq(take), dut.give.eq(give)]
    out = h.counter("out", width=8, up=take, down=give)
    h.assume(~take | dut.available, "taken_only_if_available")
    h.assume(~give | (out > 0), "given_only_if_taken")
    h.prove(dut.count + out == DEPTH, "free_and_promised_places_are_all")
    h.prove(~dut.available | (out < DEPTH), "available_only_while_one_is_free")
    free = h.past((out < DEPTH) & ~take, "free")
    h.prove(~free | dut.available, "available_a_cycle_after_one_is_free")
    h.prove(dut.home == (out == 0), "home_if_all_are_free")
    resting = h.past(~dut.moving, "resting")
    h.prove(~resting | h.steady(dut.available, "available"), "available_changes_only_if_moving")
    return h


def queue() -> Harness:
    """Return the harness of `Queue`: any producer, any consumer, and one entry that is watched on its way."""
    h = Harness()
    part = h.add("dut", Queue(4, DEPTH))
    dut = part.ports
    fifo = part.part("fifo")
    entry = h.free(4, "entry")
    h.m.d.comb += [
        dut.input.valid.eq(h.free(1, "push")),
        dut.input.payload.eq(entry),
        dut.output.ready.eq(h.free(1, "pop")),
    ]
    pushed = h.net(dut.input.valid & dut.input.ready, "pushed")
    popped = h.net(dut.output.valid & dut.output.ready, "popped")
    watched = watch(h, part, "queue", pushed=pushed, popped=popped, entry=entry)
    held = watched.held

    h.prove(dut.level == held, "level_is_exact")
    h.prove(held <= DEPTH + 2, "never_overflows")
    h.prove(dut.input.ready | (held >= DEPTH), "full_only_with_all_its_places_taken")
    h.prove(~dut.output.valid | (held > 0), "never_underflows")
    h.prove(~(watched.first & dut.output.valid) | (dut.output.payload == watched.value), "entries_leave_in_order")
    outlast(h, "an_entry_is_out_within_three_cycles", waiting=(held > 0) & ~dut.output.valid, cycles=2)
    h.obeys_stream_rules(dut.output, "output")
    resting = h.past(~dut.moving & ~pushed & ~popped, "resting")
    inside = Cat(dut.output.valid, fifo.signal("r_rdy"), fifo.signal("inner_level"))
    h.prove(~resting | h.steady(inside, "inside"), "nothing_changes_unless_moving")
    return h


def is_full_early(self: Queue, m: Module) -> None:
    """Take nothing once it holds three entries."""
    m.d.comb += self.input.ready.eq(self.level < 3)
    with m.If(self.level >= 3):
        m.d.comb += m.submodules.fifo.w_en.eq(0)


PROOFS = (
    Proof(
        name="credits",
        claim="Free and reserved places always add up to the depth, whatever is taken and returned; `available` and "
        "`home` follow from their numbers.",
        harness=credits,
    ),
    Proof(
        name="registered-credits",
        claim="The same, with `available` from a register: it says only of places that are free, and a cycle later of "
        "each that was not taken at once.",
        harness=registered_credits,
        depth=1,
    ),
    Proof(
        name="queue",
        claim="Entries leave in the order of their arrival, none is lost or duplicated, and the level is exact.",
        harness=queue,
    ),
)
