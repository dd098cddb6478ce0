"""Harness of the token ring: its leading master and stations that behave as kernels do."""

from typing import Any

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.interfaces import Token
from cyscc.hw.ring_master import RingMaster
from tests.formal.harness import Harness

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
