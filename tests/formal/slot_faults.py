"""Faults of slot allocators and of the ring's master."""

from typing import Any

from amaranth.hdl import Module, Signal

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.ring_master import RingMaster


def reserves_one_too_many(self: SlotAllocator, m: Module) -> None:
    """Advance the token by one slot that no vertex gets."""
    with m.If(self.token_in.valid):
        m.d.sync += self.token_out.payload.value.eq(self.token_in.payload.value + self.demanded + 1)


def reserves_nothing(self: SlotAllocator, m: Module) -> None:
    """Leave the token unchanged, so that the next station hands out the same slots."""
    m.d.sync += self.token_out.payload.value.eq(self.token_in.payload.value)


def adds_its_demand_twice(self: SlotAllocator, m: Module) -> None:
    """Move the token on by two slots a vertex."""
    with m.If(self.token_in.valid & self.demanded.any() & ~self.reserved.any() & ~self.slot.valid):
        m.d.sync += self.token_out.payload.value.eq(self.token_in.payload.value + 2 * self.demanded)


def forgets_a_demand_as_the_token_passes(self: SlotAllocator, m: Module) -> None:
    """Lose the demand of the cycle in which it reserves."""
    with m.If(self.token_in.valid & self.demand):
        m.d.sync += self.demanded.eq(0)


def is_idle_with_a_slot_on_offer(self: SlotAllocator, m: Module) -> None:
    """Do not count offered slots."""
    with m.If(~self.demanded.any() & ~self.reserved.any()):
        m.d.comb += self.idle.eq(1)


def all_slots_fit(self: SlotAllocator, m: Module) -> None:
    """Take no notice of the capacity."""
    m.d.sync += self.slot.payload.fits.eq(1)


def takes_no_notice_of_the_epoch(self: SlotAllocator, m: Module) -> None:
    """Take a token of the next run for one of the last."""
    with m.If(self.token_in.valid):
        m.d.sync += self.token_out.payload.done.eq(self.token_in.payload.done & self.done)


def passes_done_on(self: SlotAllocator, m: Module) -> None:
    """Have no say in whether the run is over."""
    with m.If(self.token_in.valid):
        m.d.sync += self.token_out.payload.done.eq(self.token_in.payload.done)


def moves_only_altogether(self: SlotAllocator, m: Module) -> None:
    """Say that something changes only if a slot is demanded and another taken at once."""
    m.d.comb += self.moving.eq(self.demand & self.slot.valid & self.slot.ready)


def keeps_the_token_while_it_has_demand(self: SlotAllocator, m: Module) -> None:
    """Pass no token on unless it is idle."""
    with m.If(self.demanded.any()):
        m.d.sync += self.token_out.valid.eq(0)


def sends_the_last_token_on(self: RingMaster, m: Module) -> None:
    """Pass the token on with which the run ends."""
    m.d.sync += self.ring_out.valid.eq(self.ring_in.valid | self.start)


def stops_at_any_token(self: RingMaster, m: Module) -> None:
    """End the run when the token comes back, done or not."""
    with m.If(self.ring_in.valid):
        m.d.sync += [self.running.eq(0), self.result.eq(self.ring_in.payload.value)]


def offers_a_slot_again(self: SlotAllocator, m: Module) -> None:
    """Go on offering a slot that was taken."""
    with m.If(self.slot.valid & self.slot.ready):
        m.d.sync += self.slot.valid.eq(1)


def forgets_what_it_booked(self: SlotAllocator, m: Any) -> None:
    """Lose the reservation behind the one in use."""
    booked = next(s for first in m._statements["sync"] for s in first._lhs_signals() if s.name == "booked")
    with m.If(self.token_in.valid):
        m.d.sync += booked.eq(0)


def forgets_what_is_in_use(self: SlotAllocator, m: Module) -> None:
    """Lose the rest of the reservation in use when the token passes."""
    with m.If(self.token_in.valid):
        m.d.sync += self.reserved.eq(0)


def hands_out_more_than_it_reserved(self: SlotAllocator, m: Module) -> None:
    """Do not count down."""
    with m.If(self.slot.ready):
        m.d.sync += self.reserved.eq(self.reserved)


def hands_out_every_eighth_cycle(self: SlotAllocator, m: Any) -> None:
    """Offer the first slots only when a slow counter is zero, and lose those that come at once until then."""
    slow = Signal(3)
    m.d.sync += slow.eq(slow + 1)
    with m.If(slow.any() & ~self.slot.valid):
        m.d.sync += [self.slot.valid.eq(0), self.reserved.eq(self.reserved)]
