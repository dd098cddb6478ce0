"""The proofs about slots, with their broken variants."""

from functools import partial

from tests.formal import slot_faults as faults
from tests.formal.faults import blinks, changes, spoiled
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

_STATION = "tests.formal.ring.SlotAllocator"
_ALONE = "tests.formal.slots.SlotAllocator"
_MASTER = "tests.formal.ring.RingMaster"

_RING = (
    *spoiled(
        _MASTER,
        one_token_while_running_and_none_otherwise=faults.sends_the_last_token_on,
        a_run_ends_only_when_every_kernel_has_finished_it=faults.stops_at_any_token,
    ),
    *spoiled(
        _STATION,
        the_token_is_back_after_a_turn=faults.keeps_the_token_while_it_has_demand,
        a_run_ends_only_when_every_kernel_has_finished_it=faults.passes_done_on,
        kernel0_holds_what_it_was_asked_for=faults.forgets_a_demand_as_the_token_passes,
        kernel0_idle_if_no_vertex_waits=faults.is_idle_with_a_slot_on_offer,
    ),
    *spoiled(_STATION, 24, a_run_ends_only_when_every_kernel_has_finished_it=faults.takes_no_notice_of_the_epoch),
)
_LATE = spoiled(_STATION, 40, a_vertex_has_its_slot_within_two_turns_and_its_places=faults.hands_out_every_eighth_cycle)
_COUNT = (
    *spoiled(_STATION, 24, the_result_is_the_number_of_demands=faults.adds_its_demand_twice),
    *spoiled(_STATION, the_token_has_counted_what_is_not_demanded=faults.reserves_nothing),
)
_NUMBERS = spoiled(
    _STATION,
    no_slot_is_reserved_again=faults.reserves_nothing,
    every_slot_below_the_token_and_no_other_is_reserved=faults.reserves_one_too_many,
)
_REGISTERS = spoiled(
    _STATION,
    kernel0_has_booked_if_watched_is_booked=faults.forgets_what_it_booked,
    kernel0_has_slots_in_use_if_watched_is_in_use=faults.forgets_what_is_in_use,
    kernel0_offers_watched_only_from_use=faults.hands_out_more_than_it_reserved,
    kernel0_has_on_offer_what_it_shows=faults.offers_a_slot_again,
)
_GIVEN = (
    *spoiled(_STATION, no_slot_is_given_again=faults.offers_a_slot_again),
    *spoiled(_STATION, 20, no_slot_is_given_to_two=faults.reserves_nothing),
    *spoiled(_STATION, every_reserved_slot_is_in_one_place=faults.reserves_nothing),
    *spoiled(_MASTER, every_reserved_slot_was_given_at_the_end=faults.stops_at_any_token),
)
_OFFERS = spoiled(
    _ALONE,
    a_slot_fits_if_below_the_capacity=faults.all_slots_fit,
    slot_valid_stays=blinks("slot", registered=True),
    slot_payload_steady=changes("slot", registered=True),
    the_token_leaves_a_cycle_after_it_came=faults.keeps_the_token_while_it_has_demand,
    done_stays_only_if_this_run_is_finished=faults.passes_done_on,
    the_token_takes_all_demand_or_none=faults.reserves_one_too_many,
    nothing_changes_unless_moving=faults.moves_only_altogether,
)


def _proofs(*, blocking: bool, suffix: str, full: bool) -> tuple[Proof, ...]:
    """Return the proofs of one kind of reservation; `full` with all broken variants."""
    places = partial(slot_places, stations=3, blocking=blocking)
    return (
        Proof(
            name=f"slot-offers{suffix}",
            claim="A station forwards any token within one cycle, reports correctly whether a slot fits, and offers a "
            "slot until it is taken.",
            harness=partial(slot_offers, blocking=blocking),
            depth=1,
            broken=_OFFERS if full else _OFFERS[:1],
        ),
        Proof(
            name=f"slot-count{suffix}",
            claim="During a run exactly one token is on the ring; it returns after a turn, and its last value is the "
            "number of demands; a run ends only when every kernel has finished it.",
            harness=partial(slot_count, stations=3, blocking=blocking),
            depth=1,
            broken=(*_COUNT, *_RING) if full else _COUNT[:1],
        ),
        Proof(
            name=f"slot-numbers{suffix}",
            claim="The reserved slots are those below the token's value, each reserved once (a lemma of `slots`).",
            harness=partial(places, part=NUMBERS),
            depth=1,
            broken=_NUMBERS if full else _NUMBERS[:1],
        ),
        Proof(
            name=f"slot-registers{suffix}",
            claim="The registers of a reserved slot's station show its state: booked, in use, or offered (a lemma of "
            "`slots`).",
            harness=partial(slot_registers, blocking=blocking),
            depth=1,
            broken=_REGISTERS if full else _REGISTERS[-1:],
        ),
        Proof(
            name=f"slots{suffix}",
            claim="Every reserved slot is handed out exactly once, by one kernel, before the run ends.",
            harness=partial(places, part=REST),
            search=partial(places, part=SEARCH),
            depth=1,
            broken=_GIVEN if full else _GIVEN[2:3],
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
    *_proofs(blocking=False, suffix="", full=True),
    *_proofs(blocking=True, suffix="-published", full=False),
)
