"""Proofs about what holds entries: credits, queues, and banks of queues with a writer each, with their arbiter."""

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Value

from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.credits import Credits
from cyscc.hw.queue import Queue
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.round_robin import RoundRobin
from cyscc.hw.switch.credit_bank import CreditBank
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof
from tests.formal.watch import DEPTH, outlast, relate_room, watch, watch_bank, watch_queues


def credits(*, registered: bool) -> Harness:
    """Return the harness of `Credits`: a user who takes only what is available and gives back only what it took."""
    h, _, dut = opened(Credits(DEPTH, registered=registered))
    take, give = h.free(1, "take"), h.free(1, "give")
    h.m.d.comb += [dut.take.eq(take), dut.give.eq(give)]
    out = h.counter("out", width=8, up=take, down=give)
    h.assume(~take | dut.available, "taken_only_if_available")
    h.assume(~give | (out > 0), "given_only_if_taken")
    h.prove(dut.count + out == DEPTH, "free_and_promised_places_are_all")
    if registered:
        h.prove(~dut.available | (out < DEPTH), "available_only_while_one_is_free")
        free = h.past((out < DEPTH) & ~take, "free")
        h.prove(~free | dut.available, "available_a_cycle_after_one_is_free")
    else:
        h.prove(dut.count <= DEPTH, "count_is_within_depth")
        h.prove(dut.available == (out < DEPTH), "available_while_one_is_free")
    h.prove(dut.home == (out == 0), "home_if_all_are_free")
    if registered:
        resting = h.past(~dut.moving, "resting")
        h.prove(~resting | h.steady(dut.available, "available"), "available_changes_only_if_moving")
    return h


def queue() -> Harness:
    """Return the harness of `Queue`: any producer, any consumer, and one entry that is watched on its way.

    Claim: Entries leave in the order of their arrival, none is lost or duplicated, and the level is exact.
    """
    h, part, dut = opened(Queue(4, DEPTH))
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


_BUFFER_PROOFS = (
    Proof(
        name="credits",
        claim="Free and reserved places always add up to the depth, whatever is taken and returned; `available` and "
        "`home` follow from their numbers.",
        harness=partial(credits, registered=False),
    ),
    Proof(
        name="registered-credits",
        claim="The same, with `available` from a register: it says only of places that are free, and a cycle later of "
        "each that was not taken at once.",
        harness=partial(credits, registered=True),
        depth=1,
    ),
    Proof(name="queue", harness=queue),
)


WIDTH = 6
QUEUES = 3
PLACES = 7
BITS = 4


def turns(h: Harness, arbiter: Part, name: str, *, width: int) -> Any:
    """Return the number of who was granted last, by the harness's own reckoning, with the invariant that ties it.

    Parameters
    ----------
    h : Harness
        The harness.
    arbiter : Part
        A `RoundRobin`.
    name : str
        Name of the arbiter.
    width : int
        Requests.
    """
    dut = arbiter.ports
    last = h.register(range(width), f"{name}_last", init=width - 1)
    for number in range(width):
        with h.m.If(dut.advance & dut.grant[number]):
            h.m.d.sync += last.eq(number)
    behind = Cat(Const(number, last.shape()) > last for number in range(width))
    h.invariant(arbiter.signal("above") == behind, f"{name}_knows_the_last")
    h.invariant(last < width, f"{name}_last_exists")
    return last


def turns_until(last: Any, number: Any, width: int) -> Value:
    """Return how many are before this one in the circle that begins behind the last one granted."""
    return Mux(number > last, number - last - 1, number + width - last - 1).as_unsigned()


def round_robin() -> Harness:
    """Return the harness of `RoundRobin`: any requests, granted at any time.

    Claim: Exactly one of those that ask is granted, the first in the circle behind the last one granted; so who asks
    waits for each other one at most once.
    """
    h, part, dut = opened(RoundRobin(WIDTH), free=["requests", "advance"])
    last = turns(h, part, "arbiter", width=WIDTH)
    h.prove((dut.grant & (dut.grant - 1)) == 0, "grants_one_at_most")
    h.prove((dut.grant & ~dut.requests) == 0, "grants_only_who_asks")
    h.prove((dut.requests == 0) | (dut.grant != 0), "grants_if_any_asks")
    first = []
    for number in range(WIDTH):
        own = turns_until(last, Const(number, 3), WIDTH)
        earlier = (turns_until(last, Const(other, 3), WIDTH) < own for other in range(WIDTH))
        first.append(~Cat(asks & before for asks, before in zip(dut.requests, earlier, strict=True)).any())
    h.prove((dut.grant & ~Cat(first)) == 0, "grants_the_first_behind_the_last")
    watched = h.constant(range(WIDTH), "watched")
    h.assume(watched < WIDTH, "watched_exists")
    asks, granted = dut.requests.bit_select(watched, 1), dut.grant.bit_select(watched, 1)
    waited = h.counter("waited", width=4, up=dut.advance & ~granted, clear=~asks | (granted & dut.advance))
    h.prove(~asks | (waited + ~granted < WIDTH), "waits_for_each_other_once_at_most")
    h.invariant(waited + turns_until(last, watched, WIDTH) < WIDTH, "what_waits_comes_nearer")
    return h


def queue_bank() -> Harness:
    """Return the harness of `QueueBank`: any writers that find a place, any reader, and an entry that is watched.

    Claim: Entries leave each queue in order, once and unaltered, and only when pulled; counts are exact; a writer that
    heeds `room` never overflows its queue; a queue that is not read shows zeros.
    """
    h, part, dut = opened(QueueBank(BITS, queues=QUEUES, depth=DEPTH))
    entries = [h.free(BITS, f"entry{n}") for n in range(QUEUES)]
    h.m.d.comb += [getattr(dut, f"entry{n}").eq(entry) for n, entry in enumerate(entries)]
    h.drive(h.free, dut, "push", "pull", "advance")
    reads = h.net(Mux(dut.advance, dut.pulling, 0), "reads")
    nothing = Const(0, QUEUES)
    watched = watch_bank(h, part, "bank", pushed=dut.push, entries=entries, gone=reads, outside=nothing)
    held = watched.held
    capacity = dut.capacity
    full = Cat(count >= capacity for count in held)
    h.assume((dut.push & full) == 0, "pushes_what_finds_a_place")
    h.assume((dut.pull & (dut.pull - 1)) == 0, "pulls_one_at_most")
    h.assume((dut.pull & ~dut.available) == 0, "pulls_what_is_available")

    h.prove(dut.available == Cat(n > pulls for n, pulls in zip(held, dut.pulling, strict=True)), "available_is_exact")
    h.prove(dut.busy == Cat(n > 0 for n in held).any(), "busy_while_an_entry_is_held")
    pulled = h.register(QUEUES, "pulled")
    with h.m.If(dut.advance):
        h.m.d.sync += pulled.eq(dut.pull)
    h.prove(dut.pulling == pulled, "reads_what_was_pulled")
    leaves = watched.watching & (watched.ahead == 0) & reads.bit_select(watched.queue, 1)
    left, value = h.past(leaves, "left"), h.past(watched.value, "value")
    shown = Value.cast(dut.shown)
    h.prove(~left | (shown == value), "entries_leave_in_order_unaltered")
    none_read, stalled = h.past(dut.advance & ~dut.pulling.any(), "none_read"), h.past(~dut.advance, "stalled")
    h.prove(~none_read | (shown == 0), "shows_nothing_if_none_is_read")
    h.prove(~stalled | h.steady(shown, "shown"), "shows_it_until_it_advances")

    before = [h.past(count, f"held{n}") for n, count in enumerate(held)]
    h.prove(
        h.first | (dut.room == Cat(count < capacity - QueueBank.SLACK for count in before)), "room_while_there_is_any"
    )
    # A writer that pushes only when it saw room in the cycle before.
    saw_room = h.past(dut.room, "room", init=(1 << QUEUES) - 1)
    heeds = h.register(QUEUES, "heeds", init=(1 << QUEUES) - 1)
    h.m.d.sync += heeds.eq(heeds & (~dut.push | saw_room))
    h.prove((heeds & saw_room & full) == 0, "who_heeds_the_room_never_overflows_its_queue")
    relate_room(h, part, "bank", pushed=dut.push, heeds=heeds)

    resting = h.past(~dut.push.any() & ~dut.busy & ~dut.pull.any() & ~shown.any(), "resting")
    pointers = Cat(part.signal(f"{name}{n}") for name in ("first", "end", "place", "count") for n in range(QUEUES))
    h.prove(~resting | h.steady(Cat(pointers, dut.available, dut.pulling, shown), "state"), "rests_unless_entries_come")
    return h


def arbitrated_queues() -> Harness:
    """Return the harness of `ArbitratedQueues`: any writers that find a place, any consumer, an entry watched.

    Claim: Entries of all writers come out once, unaltered, with the number of their writer and in its order; one waits
    for each other writer at most once for each entry before it in its queue.
    """
    h, part, dut = opened(ArbitratedQueues(BITS, queues=QUEUES, depth=DEPTH))
    bank, arbiter = part.part("bank"), part.part("arbiter")
    entries = [h.free(BITS, f"entry{n}") for n in range(QUEUES)]
    h.m.d.comb += [getattr(dut, f"entry{n}").eq(entry) for n, entry in enumerate(entries)]
    h.drive(h.free, dut, "push")
    output = dut.output
    h.m.d.comb += output.ready.eq(h.free(1, "ready"))
    watched = watch_queues(h, part, "bank", pushed=dut.push, entries=entries, taken=output.ready)
    held, queue, ahead, at_output = watched.held, watched.queue, watched.ahead, watched.outside
    counts = [bank.signal(f"count{n}") for n in range(QUEUES)]
    full = Cat(count == bank.ports.capacity for count in counts)
    h.assume((dut.push & full) == 0, "pushes_what_finds_a_place")

    last = turns(h, arbiter, "arbiter", width=QUEUES)
    h.prove(~at_output | (output.payload == watched.value), "entries_leave_in_the_order_of_their_writer_unaltered")
    wrote = Cat(count > 0 for count in held).bit_select(dut.source, 1)
    h.prove(~output.valid | wrote, "offers_only_what_its_source_wrote")
    h.prove(dut.busy == Cat(count > 0 for count in held).any(), "busy_while_an_entry_is_held")
    h.obeys_stream_rules(output, "output")
    h.prove(h.past(output.ready | ~output.valid, "moved", init=1) | h.steady(dut.source, "source"), "source_steady")
    outlast(h, "an_entry_is_out_within_three_cycles", waiting=dut.busy & ~output.valid, cycles=2)

    # Once a move for each entry that goes before it in its queue, and for the entries of all others in between.
    moves = ~output.valid | output.ready
    asked = h.net(watched.watching & ~at_output, "asked")
    waited = h.counter("waited", width=6, up=moves, clear=~asked)
    read = bank.ports.pulling.bit_select(queue, 1)
    unread = h.net((ahead - (output.valid & (dut.source == queue)))[: len(ahead)], "unread")
    is_read = h.net(read & (unread == 0), "is_read")
    to_come = (unread - read) * QUEUES + turns_until(last, queue, QUEUES)
    before = h.register(len(ahead), "before")
    at_first = h.net(Mux(waited == 0, ahead, before), "at_first")
    h.m.d.sync += before.eq(at_first)
    bound = h.net((at_first + 1) * QUEUES, "bound")
    h.prove(~asked | (waited <= bound), "waits_for_each_other_writer_once_for_each_entry_before_it")
    h.invariant(~asked | is_read | (waited + to_come < bound), "what_waits_comes_nearer")
    h.invariant(~asked | (at_first < 8), "at_most_a_queue_is_before_it")

    resting = h.past(~dut.push.any() & ~dut.busy, "resting")
    pointers = Cat(bank.signal(f"{name}{n}") for name in ("first", "end", "place", "count") for n in range(QUEUES))
    inside = Cat(
        pointers,
        bank.ports.available,
        bank.ports.pulling,
        arbiter.signal("above"),
        output.valid,
        output.payload,
        dut.source,
    )
    h.prove(~resting | h.steady(inside, "inside"), "rests_unless_entries_come")
    return h


def credit_bank() -> Harness:
    """Return the harness of `CreditBank`: a user who takes what is available and gives back what it took.

    Claim: The places of each FIFO that are promised and not given back never exceed its depth; `available` follows from
    their number in the cycle before.
    """
    h, part, dut = opened(CreditBank(fifos=QUEUES, depth=PLACES), free=["take", "give"])
    out = [h.counter(f"out{n}", width=4, up=dut.take[n], down=dut.give[n]) for n in range(QUEUES)]
    before = [h.past(count, f"out{n}") for n, count in enumerate(out)]
    h.assume((dut.take & ~dut.available) == 0, "taken_only_if_available")
    h.assume((dut.give & ~Cat(count > 0 for count in out)) == 0, "given_only_if_taken")
    used = [part.signal(f"used{n}") for n in range(QUEUES)]
    h.prove(Cat(use == count for use, count in zip(used, out, strict=True)).all(), "counts_what_is_promised")
    h.prove(Cat(count <= PLACES for count in out).all(), "never_promises_more_than_there_is")
    h.prove((dut.available & Cat(count == PLACES for count in out)) == 0, "available_only_while_one_is_free")
    h.prove(dut.available == Cat(count < PLACES - 1 for count in before), "available_but_for_one_and_the_last_cycle")
    for n in range(QUEUES):
        h.invariant(out[n] <= before[n] + 1, f"promises{n}_one_a_cycle")
    return h


PROOFS = (
    *_BUFFER_PROOFS,
    Proof(name="round-robin", harness=round_robin, depth=1),
    Proof(name="queue-bank", harness=queue_bank),
    Proof(name="arbitrated-queues", harness=arbitrated_queues),
    Proof(name="credit-bank", harness=credit_bank, depth=1),
)
