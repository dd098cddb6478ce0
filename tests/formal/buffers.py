"""Proofs about what holds entries: credits and queues."""

from amaranth.hdl import Cat, Module, Value

from cyscc.hw.credits import Credits
from cyscc.hw.queue import Queue
from tests.formal.faults import blinks, spoiled, sticks
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


def forgets_to_take(self: Credits, m: Module) -> None:
    """Leave a promised place uncounted."""
    with m.If(self.take & ~self.give):
        m.d.sync += self.count.eq(self.count)


def counts_what_is_given_twice(self: Credits, m: Module) -> None:
    """Add two places for one."""
    with m.If(self.give & ~self.take):
        m.d.sync += self.count.eq(self.count + 2)


def is_home_early(self: Credits, m: Module) -> None:
    """Count the last place as free."""
    m.d.comb += self.home.eq(self.count[-1] | (self.count == DEPTH - 1))


def is_full_early(self: Queue, m: Module) -> None:
    """Take nothing once it holds three entries."""
    m.d.comb += self.input.ready.eq(self.level < 3)
    with m.If(self.level >= 3):
        m.d.comb += m.submodules.fifo.w_en.eq(0)


def leaves_the_register_out(self: Queue, m: Module) -> None:
    """Do not count the entry at its output."""
    m.d.comb += self.level.eq(m.submodules.fifo.level)


def is_valid_ever_after(self: Queue, m: Module) -> None:
    """Show an entry once there was one."""
    with m.If(self.output.valid):
        m.d.sync += self.output.valid.eq(1)


def shows_the_entry_behind(self: Queue, m: Module) -> None:
    """Output the value before the last register."""
    m.d.comb += Value.cast(self.output.payload).eq(m.submodules.fifo.r_data)


def waits_for_the_consumer(self: Queue, m: Module) -> None:
    """Move an entry to the output only when the consumer is ready."""
    m.d.comb += m.submodules.fifo.r_en.eq(self.output.ready)
    with m.If(~self.output.ready):
        m.d.sync += self.output.valid.eq(self.output.valid)


def forgets_what_is_taken(self: Credits, m: Module) -> None:
    """Look at the count of the cycle before alone."""
    m.d.sync += self.available.eq(self.count.any())


def is_never_available(self: Credits, m: Module) -> None:
    """Offer no place."""
    m.d.sync += self.available.eq(0)


PROOFS = (
    Proof(
        name="credits",
        claim="Free and reserved places always add up to the depth, whatever is taken and returned; `available` and "
        "`home` follow from their numbers.",
        harness=credits,
        broken=spoiled(
            f"{__name__}.Credits",
            free_and_promised_places_are_all=forgets_to_take,
            count_is_within_depth=counts_what_is_given_twice,
            available_while_one_is_free=sticks("available", at=1),
            home_if_all_are_free=is_home_early,
        ),
    ),
    Proof(
        name="registered-credits",
        claim="The same, with `available` from a register: it says only of places that are free, and a cycle later of "
        "each that was not taken at once.",
        harness=registered_credits,
        depth=1,
        broken=spoiled(
            f"{__name__}.Credits",
            free_and_promised_places_are_all=forgets_to_take,
            available_only_while_one_is_free=forgets_what_is_taken,
            available_a_cycle_after_one_is_free=is_never_available,
            home_if_all_are_free=is_home_early,
            available_changes_only_if_moving=sticks("moving", at=0),
        ),
    ),
    Proof(
        name="queue",
        claim="Entries leave in the order of their arrival, none is lost or duplicated, and the level is exact.",
        harness=queue,
        broken=spoiled(
            f"{__name__}.Queue",
            level_is_exact=leaves_the_register_out,
            never_overflows=sticks("input.ready", at=1),
            full_only_with_all_its_places_taken=is_full_early,
            never_underflows=is_valid_ever_after,
            entries_leave_in_order=shows_the_entry_behind,
            an_entry_is_out_within_three_cycles=waits_for_the_consumer,
            nothing_changes_unless_moving=sticks("moving", at=0),
            output_valid_stays=blinks("output", registered=True),
            output_payload_steady=shows_the_entry_behind,
        ),
    ),
)
