"""Harnesses and proofs of slots."""

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Mux, Signal

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from tests.formal.faults import spoiled
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.ring import DEPTH, STAGES, WAITING, Allocator, Ring, Station, total

NUMBERS = "numbers"
REST = "rest"
SEARCH = "search"


def slot_places(*, stations: int, blocking: bool, part: str) -> Ring:
    """Return the harness of a ring with a watched slot, whose number the solver chooses.

    The solver is slow with arithmetic and counting at once. So what the token's value and the numbers in a station's
    registers mean for the watched slot is proven first, as lemmas, and then assumed: the former here, the latter by
    `slot_registers`.

    Parameters
    ----------
    stations : int
        Slot allocators on the ring.
    blocking : bool
        The published reservation.
    part : str
        `NUMBERS`: prove the lemma about the token's value; `REST`: assume both and prove the rest; `SEARCH`: the rest
        with nothing assumed, to look for counterexamples.
    """
    h = Ring(stations=stations, blocking=blocking)
    running = h.master.running
    watched = h.constant(32, "watched")
    reserves, held = [], []
    for station in h.stations:
        reserved_here, places_here, lemma = _follow(h, station, watched)
        if part == REST:
            for says, condition in lemma.items():
                h.assume(condition, says)
        reserves.append(reserved_here)
        held += places_here
    reserved = h.flag("reserved", set=Cat(*reserves).any(), clear=h.start)
    for station in h.stations:
        _holdings(h, station)
    again = reserved & Cat(*reserves).any()
    if part == NUMBERS:
        h.prove(~again, "no_slot_is_reserved_again")
        # `slot_count` proves that this sum is the number of demands.
        demanded = total(station.dut.demanded for station in h.stations)
        h.assume(h.value + demanded < 1 << 32, "fewer_demands_than_slot_numbers")
        h.prove(reserved == (watched < h.value), "every_slot_below_the_token_and_no_other_is_reserved")
        return h
    if part == REST:
        h.assume(~again, "no_slot_is_reserved_again")
    takes = [
        h.net(station.take & (station.dut.slot.payload.number == watched), f"{station.name}_takes_watched")
        for station in h.stations
    ]
    given = h.flag("given", set=Cat(*takes).any(), clear=h.start)
    h.prove(~given | ~Cat(*takes).any(), "no_slot_is_given_again")
    h.prove(total(takes) <= 1, "no_slot_is_given_to_two")
    h.prove(total([given, *held]) == reserved, "every_reserved_slot_is_in_one_place")
    h.prove(running | (given == reserved), "every_reserved_slot_was_given_at_the_end")
    return h


def slot_registers(*, blocking: bool) -> Harness:
    """Return the harness of one station with any tokens, and a slot that is watched in its registers."""
    h = Harness()
    station = Allocator(h, 0, blocking=blocking, prompt=False)
    token = station.dut.token_in
    h.m.d.comb += [token.valid.eq(h.free(1, "token_valid")), token.payload.eq(h.free(token.payload.shape(), "token"))]
    _holds(h, station)
    watched = h.constant(32, "watched")
    _, (booked, in_use, _), lemma = _follow(h, station, watched)
    for says, condition in lemma.items():
        h.prove(condition, says)
    (following, count_booked), (number, count_in_use), _ = station.places
    h.invariant(booked == ((watched - following)[:32] < count_booked), "booked_watched_by_number")
    h.invariant(in_use == ((watched - number)[:32] < count_in_use), "uses_watched_by_number")
    return h


def _follow(h: Harness, station: Allocator, watched: Any) -> tuple[Any, list[Any], dict[str, Any]]:
    """Follow the watched slot through a station.

    Returns
    -------
    reserved : Value
        It is reserved now.
    held : list of Value
        Whether it is booked, in use, on offer.
    lemma : dict of str to Value
        What this means for the registers.
    """
    dut, name = station.dut, station.name
    reserve, change, direct, hand_out = (
        station.part.signal(event) for event in ("reserve", "change", "direct", "hand_out")
    )
    first = dut.token_in.payload.value
    (_, count_booked), (number, count_in_use), (slot, offer) = station.places
    reserved = h.net(reserve & ((watched - first)[:32] < dut.demanded), f"{name}_reserves_watched")
    at_once = h.net(direct & (first == watched), f"{name}_offers_watched_at_once")
    from_use = h.net(hand_out & ~direct & (number == watched), f"{name}_offers_watched_from_use")
    booked = h.flag(f"{name}_booked", set=reserved & ~direct, clear=change)
    in_use = h.flag(f"{name}_in_use", set=(booked & change) | (reserved & direct & ~at_once), clear=from_use)
    on_offer = h.flag(f"{name}_on_offer", set=(in_use & from_use) | at_once, clear=station.take)
    lemma = {
        f"{name}_has_booked_if_watched_is_booked": ~booked | count_booked.any(),
        f"{name}_has_slots_in_use_if_watched_is_in_use": ~in_use | count_in_use.any(),
        f"{name}_offers_watched_only_from_use": ~from_use | in_use,
        f"{name}_has_on_offer_what_it_shows": on_offer == (offer & (slot == watched)),
    }
    return reserved, [booked, in_use, on_offer], lemma


def slot_latency(*, stations: int, blocking: bool) -> Ring:
    """Return the harness of a ring whose kernels take each slot at once, with a vertex watched from its demand on.

    Parameters
    ----------
    stations, blocking
        As of `slot_places`.
    """
    h = Ring(stations=stations, blocking=blocking, prompt=True)
    station = h.stations[0]
    for other in h.stations:
        _holdings(h, other)
    ahead = h.register(6, "ahead")
    watching = h.register(1, "watching")
    last = h.net(ahead == 0, "is_next")
    with h.m.If(~watching & station.demand & h.free(1, "choose")):
        h.m.d.sync += [watching.eq(1), ahead.eq(station.waiting - station.take)]
    with h.m.Elif(watching & station.take):
        h.m.d.sync += [watching.eq(~last), ahead.eq(ahead - 1)]
    h.invariant(~watching | (ahead < station.waiting), "the_watched_vertex_waits")
    waited = h.waited("waited", width=6, waiting=watching & h.master.running)
    h.prove(waited <= slot_bound(stations), "a_vertex_has_its_slot_within_two_turns_and_its_places")
    return h


def slot_bound(stations: int) -> int:
    """Return within how many cycles a demand is answered, if the kernel takes its slots at once."""
    return 2 * (STAGES + stations) + WAITING


def slot_offers(*, blocking: bool) -> Harness:
    """Return the harness of one station on its own, with any tokens and any demands."""
    h = Harness()
    part = h.add("dut", SlotAllocator(depth=DEPTH, blocking=blocking))
    dut = part.ports
    capacity = h.constant(32, "capacity")
    token_in = h.free(dut.token_in.payload.shape(), "token")
    h.drive(h.free, dut, "demand", "done", "epoch")
    h.m.d.comb += [
        dut.capacity.eq(capacity),
        dut.slot.ready.eq(h.free(1, "ready")),
        dut.token_in.valid.eq(h.free(1, "token_valid")),
        dut.token_in.payload.eq(token_in),
    ]
    fits = dut.slot.payload.fits == (dut.slot.payload.number < capacity)
    h.prove(~dut.slot.valid | fits, "a_slot_fits_if_below_the_capacity")
    h.obeys_stream_rules(dut.slot, "slot")
    arrived = h.past(dut.token_in.valid, "arrived")
    h.prove(dut.token_out.valid == arrived, "the_token_leaves_a_cycle_after_it_came")
    finished = h.past(token_in.done & dut.done & (token_in.epoch == dut.epoch), "finished")
    h.prove(~arrived | (dut.token_out.payload.done == finished), "done_stays_only_if_this_run_is_finished")
    value, demanded = h.past(token_in.value, "value"), h.past(dut.demanded, "demanded")
    step = (dut.token_out.payload.value - value)[:32]
    h.prove(~arrived | (step == 0) | (step == demanded), "the_token_takes_all_demand_or_none")
    resting = h.past(~dut.moving & ~dut.token_in.valid, "resting")
    slots = [part.signal(name) for name in ("number", "following", "booked")]
    kept = Cat(*slots, dut.reserved, dut.demanded, dut.slot.valid, dut.slot.payload)
    h.prove(~resting | h.steady(kept, "kept"), "nothing_changes_unless_moving")
    return h


def _holds(h: Harness, station: Allocator) -> None:
    """Claim that a station holds the slots that were demanded."""
    dut, name = station.dut, station.name
    held = dut.demanded + station.part.signal("booked") + dut.reserved + dut.slot.valid
    h.prove(station.waiting == held, f"{name}_holds_what_it_was_asked_for")
    h.prove(dut.idle == (station.waiting == 0), f"{name}_idle_if_no_vertex_waits")


def _holdings(h: Ring, station: Station) -> None:
    """Claim that a station holds the slots that were demanded, and only demands between runs."""
    _holds(h, station)
    between = station.dut.demanded == station.waiting
    h.invariant(h.master.running | between, f"{station.name}_has_no_slots_between_runs")


def slot_count(*, stations: int, blocking: bool) -> Ring:
    """Return the harness of a ring with a count of all demands; parameters as of `slot_places`."""
    h = Ring(stations=stations, blocking=blocking)
    running = h.master.running
    # From the end of one run on, every demand belongs to the next one.
    stopped = h.net(h.past(running, "running_before") & ~running, "stopped")
    new = total(station.demand for station in h.stations)
    demands = h.counter("demands", width=32, up=new, clear=stopped)
    h.assume(demands + new < 1 << 32, "fewer_demands_than_slot_numbers")
    demanded = total(station.dut.demanded for station in h.stations)
    h.prove(~stopped | (h.master.result == demands), "the_result_is_the_number_of_demands")
    counted = Mux(running | stopped, h.value, 0)
    h.prove(counted + demanded == demands, "the_token_has_counted_what_is_not_demanded")
    for station in h.stations:
        _holdings(h, station)
    return h


def hands_out_every_eighth_cycle(self: SlotAllocator, m: Any) -> None:
    """Offer the first slots only when a slow counter is zero, and lose those that come at once until then."""
    slow = Signal(3)
    m.d.sync += slow.eq(slow + 1)
    with m.If(slow.any() & ~self.slot.valid):
        m.d.sync += [self.slot.valid.eq(0), self.reserved.eq(self.reserved)]


_LATE = spoiled(
    "tests.formal.ring.SlotAllocator",
    40,
    a_vertex_has_its_slot_within_two_turns_and_its_places=hands_out_every_eighth_cycle,
)


def _proofs(*, blocking: bool, suffix: str) -> tuple[Proof, ...]:
    """Return the proofs of one kind of reservation."""
    places = partial(slot_places, stations=3, blocking=blocking)
    return (
        Proof(
            name=f"slot-offers{suffix}",
            claim="A station forwards any token within one cycle, reports correctly whether a slot fits, and offers a "
            "slot until it is taken.",
            harness=partial(slot_offers, blocking=blocking),
            depth=1,
        ),
        Proof(
            name=f"slot-count{suffix}",
            claim="During a run exactly one token is on the ring; it returns after a turn, and its last value is the "
            "number of demands; a run ends only when every kernel has finished it.",
            harness=partial(slot_count, stations=3, blocking=blocking),
            depth=1,
        ),
        Proof(
            name=f"slot-numbers{suffix}",
            claim="The reserved slots are those below the token's value, each reserved once (a lemma of `slots`).",
            harness=partial(places, part=NUMBERS),
            depth=1,
        ),
        Proof(
            name=f"slot-registers{suffix}",
            claim="The registers of a reserved slot's station show its state: booked, in use, or offered (a lemma of "
            "`slots`).",
            harness=partial(slot_registers, blocking=blocking),
            depth=1,
        ),
        Proof(
            name=f"slots{suffix}",
            claim="Every reserved slot is handed out exactly once, by one kernel, before the run ends.",
            harness=partial(places, part=REST),
            search=partial(places, part=SEARCH),
            depth=1,
        ),
        Proof(
            name=f"slot-latency{suffix}",
            claim="If a kernel takes its slots at once, each of its vertices has its slot within two ring turns and 8 "
            "cycles.",
            harness=partial(slot_latency, stations=2, blocking=blocking),
            depth=slot_bound(2) + 2,
            broken=_LATE,
        ),
    )


PROOFS = (
    *_proofs(blocking=False, suffix=""),
    *_proofs(blocking=True, suffix="-published"),
)
