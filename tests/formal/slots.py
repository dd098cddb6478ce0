"""Proofs about slots, on a ring of its leading master and stations that behave as kernels do."""

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.interfaces import Token
from cyscc.hw.ring_master import RingMaster
from tests.formal.harness import Harness, opened
from tests.formal.proof import Proof

DEPTH = 4
STAGES = 2
WAITING = DEPTH + 4
"""Vertices that a station's counters are made for: those between their demand and the taking of their slot."""


def total(values: Any) -> Value:
    """Return the sum of values."""
    return sum(values, Value.cast(0))


class Allocator:
    """A slot allocator whose tokens and demands are left to the harness; its slots are taken at any time.

    Parameters
    ----------
    h : Harness
        Where it is.
    number : int
        Place on the ring.
    blocking, prompt : bool
        The published reservation; each slot is taken in the cycle in which it is offered.

    Members
    -------
    part : Part
        The allocator.
    dut : SlotAllocator
        Its ports.
    demand, take, waiting : Value
        A vertex demands a slot; takes one; vertices between the two.
    """

    def __init__(self, h: Harness, number: int, *, blocking: bool, prompt: bool) -> None:
        self.name = name = f"kernel{number}"
        self.part = h.add(f"station{number}", SlotAllocator(depth=DEPTH, blocking=blocking))
        self.dut = dut = self.part.ports
        self.demand = h.free(1, f"{name}_demand")
        ready = Value.cast(1) if prompt else h.free(1, f"{name}_ready")
        self.take = h.net(dut.slot.valid & ready, f"{name}_take")
        self.waiting = h.counter(f"{name}_waiting", width=6, up=self.demand, down=self.take)
        h.m.d.comb += [dut.demand.eq(self.demand), dut.slot.ready.eq(ready)]
        h.assume(~self.demand | (self.waiting < WAITING), f"{name}_demands_within_its_places")
        h.invariant(self.waiting <= WAITING, f"{name}_waits_within_its_places")
        if blocking:
            h.invariant(self.part.signal("booked") == 0, f"{name}_books_nothing_ahead")

    @property
    def places(self) -> list[tuple[Any, Any]]:
        """First slot and number of slots of each reservation, the slot on offer included."""
        return [
            (self.part.signal("following"), self.part.signal("booked")),
            (self.part.signal("number"), self.dut.reserved),
            (self.dut.slot.payload.number, self.dut.slot.valid),
        ]


class Station(Allocator):
    """A slot allocator, and a kernel around it that may do whatever kernels may.

    The kernel begins each run once, before the master does or after it; it demands slots only while at work, and no
    more than it has places for; it ends when no vertex of it waits for a slot, and is done until it begins again.

    Parameters
    ----------
    h : Harness
        Where it is.
    number : int
        Place on the ring.
    start, running : Value
        The master's.
    blocking, prompt : bool
        The published reservation; the kernel takes each slot in the cycle in which it is offered.

    Members
    -------
    early, late : Value
        The kernel has begun a run that the master has not; has not begun the one that the master has.
    over : Value
        It has finished the master's run.
    """

    def __init__(self, h: Harness, number: int, *, start: Any, running: Any, blocking: bool, prompt: bool) -> None:
        super().__init__(h, number, blocking=blocking, prompt=prompt)
        name = self.name
        begins, ends = (h.free(1, f"{name}_{what}") for what in ("begins", "ends"))
        self.done = h.flag(f"{name}_done", set=ends, clear=begins)
        at_work = h.flag(f"{name}_at_work", set=begins, clear=ends)
        self.early = h.flag(f"{name}_early", set=begins & ~start & ~running, clear=start)
        self.late = h.register(1, f"{name}_late")
        self.epoch = h.register(1, f"{name}_epoch")
        h.m.d.sync += [
            self.late.eq(~begins & (self.late | (start & ~self.early))),
            self.epoch.eq(self.epoch ^ begins),
        ]
        h.m.d.comb += [self.dut.done.eq(self.done), self.dut.epoch.eq(self.epoch)]
        h.assume(~begins | self.late | (~running & ~self.early), f"{name}_begins_each_run_once")
        h.assume(~self.demand | (at_work & ~ends), f"{name}_demands_only_at_work")
        h.assume(~ends | (at_work & (self.waiting == 0)), f"{name}_ends_when_no_vertex_waits")
        h.invariant(~(at_work & self.done), f"{name}_is_not_done_at_work")
        h.invariant(at_work | (self.waiting == 0), f"{name}_waits_only_at_work")
        h.invariant(~(self.early & (self.late | running)), f"{name}_is_early_only_before_the_start")
        h.invariant(~self.late | (running & ~at_work), f"{name}_is_late_only_after_the_start")
        h.invariant(running | self.early | ~at_work, f"{name}_works_between_runs_only_if_early")
        self.over = h.net(self.done & ~self.early & ~self.late, f"{name}_over")


class Ring(Harness):
    """The leading master and stations behind each other; the master starts a run when the last one has ended.

    Parameters
    ----------
    stations : int
        How many.
    blocking : bool
        The published reservation.
    prompt : bool
        Kernels take each slot in the cycle in which it is offered.

    Members
    -------
    master : RingMaster
        The master's ports.
    stations : list of Station
        In the order of the ring.
    start : Value
        A run begins.
    places : list of (Value, View)
        Registers that can hold the token, in its order, with `valid` and the token.
    value : Value
        The value of the token, wherever it is, or the last result.
    """

    def __init__(self, *, stations: int, blocking: bool, prompt: bool = False) -> None:
        super().__init__()
        part = self.add("master", RingMaster(stages=STAGES, initial=0))
        self.master = master = part.ports
        self.start = self.free(1, "start")
        self.m.d.comb += [master.lead.eq(1), master.start.eq(self.start)]
        self.stations = [
            Station(self, number, start=self.start, running=master.running, blocking=blocking, prompt=prompt)
            for number in range(stations)
        ]
        self.places = [
            (part.signal(f"valid{n}"), data.View(Token, part.signal(f"token{n}"))) for n in range(STAGES - 1)
        ]
        last = master.ring_out
        for station in self.stations:
            connect(self.m, last, station.dut.token_in)
            self.places.append((last.valid, last.payload))
            last = station.dut.token_out
        connect(self.m, last, master.ring_in)
        self.places.append((last.valid, last.payload))
        self.assume(~self.start | ~master.running, "a_run_starts_when_the_last_one_has_ended")

        valids = [valid for valid, _ in self.places]
        value: Any = master.result
        for valid, token in self.places:
            value = Mux(valid, token.value, value)
        self.value = self.net(value, "value")
        self.prove(total(valids) == master.running, "one_token_while_running_and_none_otherwise")
        self._follow_the_token(part.signal("epoch"))

    def _follow_the_token(self, epoch: Value) -> None:
        """Add what holds of the token by its place: its age, its epoch, and what its `done` says."""
        turn = len(self.places)
        running = self.master.running
        self.age = self.counter("age", width=8, up=1, clear=self.start | self.master.ring_in.valid)
        self.prove(~running | (self.age < turn), "the_token_is_back_after_a_turn")
        for position, (valid, token) in enumerate(self.places):
            passed = self.stations[: max(0, position - STAGES + 1)]
            says = Cat(*(station.over for station in passed)).all() if passed else Value.cast(1)
            self.invariant(~valid | (self.age == position), f"token_at_{position}_has_its_age")
            self.invariant(~valid | (token.epoch == epoch), f"token_at_{position}_has_its_epoch")
            self.invariant(~(valid & token.done) | says, f"token_at_{position}_says_what_is_done")
        for station in self.stations:
            name = station.name
            self.invariant((station.epoch ^ epoch) == (station.early | station.late), f"{name}_has_its_epoch")
        stopped = self.past(running, "running") & ~running
        everyone = Cat(*(station.over for station in self.stations)).all()
        self.prove(~stopped | everyone, "a_run_ends_only_when_every_kernel_has_finished_it")


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
    """Return the harness of one station with any tokens, and a slot that is watched in its registers.

    Claim: The registers of a reserved slot's station show its state: booked, in use, or offered (a lemma of `slots`).
    """
    h = Harness()
    station = Allocator(h, 0, blocking=blocking, prompt=False)
    token = station.dut.token_in
    h.feed(token, "token_valid", "token")
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

    Claim: If a kernel takes its slots at once, each of its vertices has its slot within two ring turns and 8 cycles.

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
    """Return the harness of one station on its own, with any tokens and any demands.

    Claim: A station forwards any token within one cycle, reports correctly whether a slot fits, and offers a slot until
    it is taken.
    """
    h, part, dut = opened(SlotAllocator(depth=DEPTH, blocking=blocking))
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
    """Return the harness of a ring with a count of all demands; parameters as of `slot_places`.

    Claim: During a run exactly one token is on the ring; it returns after a turn, and its last value is the number of
    demands; a run ends only when every kernel has finished it.
    """
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


def _proofs(*, blocking: bool, suffix: str) -> tuple[Proof, ...]:
    """Return the proofs of one kind of reservation."""
    places = partial(slot_places, stations=3, blocking=blocking)
    return (
        Proof(name=f"slot-offers{suffix}", harness=partial(slot_offers, blocking=blocking), depth=1),
        Proof(name=f"slot-count{suffix}", harness=partial(slot_count, stations=3, blocking=blocking), depth=1),
        Proof(
            name=f"slot-numbers{suffix}",
            claim="The reserved slots are those below the token's value, each reserved once (a lemma of `slots`).",
            harness=partial(places, part=NUMBERS),
            depth=1,
        ),
        Proof(name=f"slot-registers{suffix}", harness=partial(slot_registers, blocking=blocking), depth=1),
        Proof(
            name=f"slots{suffix}",
            claim="Every reserved slot is handed out exactly once, by one kernel, before the run ends.",
            harness=partial(places, part=REST),
            search=partial(places, part=SEARCH),
            depth=1,
        ),
        Proof(
            name=f"slot-latency{suffix}",
            harness=partial(slot_latency, stations=2, blocking=blocking),
            depth=slot_bound(2) + 2,
            reach=24,
        ),
    )


PROOFS = (
    *_proofs(blocking=False, suffix=""),
    *_proofs(blocking=True, suffix="-published"),
)
