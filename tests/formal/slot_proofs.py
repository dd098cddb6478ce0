"""The proofs about slots, with their broken variants."""

from functools import partial
from typing import Any

from amaranth.hdl import Signal

from cyscc.hw.bfs.slot_allocator import SlotAllocator
from tests.formal.faults import spoiled
from tests.formal.proof import Proof
from tests.formal.slots import (
    NUMBERS,
    REST,
    SEARCH,
    slot_bound,
    slot_count,
    slot_latency,
    slot_offers,
    slot_places,
    slot_registers,
)


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
