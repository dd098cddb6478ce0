"""The proofs about slots, with their broken variants."""

from functools import partial

from tests.formal import slot_faults as faults
from tests.formal.faults import blinks, changes
from tests.formal.proof import Broken, Proof
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

__all__ = ["PROOFS"]

_STATION = "tests.formal.ring.SlotAllocator"
_ALONE = "tests.formal.slots.SlotAllocator"
_MASTER = "tests.formal.ring.RingMaster"

_RING = (
    Broken(fault=faults.sends_the_last_token_on, place=_MASTER, breaks="one_token_while_running_and_none_otherwise"),
    Broken(
        fault=faults.keeps_the_token_while_it_has_demand,
        place=_STATION,
        breaks="the_token_is_back_after_a_turn",
        depth=16,
    ),
    Broken(
        fault=faults.stops_at_any_token,
        place=_MASTER,
        breaks="a_run_ends_only_when_every_kernel_has_finished_it",
        depth=16,
    ),
    Broken(
        fault=faults.passes_done_on,
        place=_STATION,
        breaks="a_run_ends_only_when_every_kernel_has_finished_it",
        depth=16,
    ),
    Broken(
        fault=faults.takes_no_notice_of_the_epoch,
        place=_STATION,
        breaks="a_run_ends_only_when_every_kernel_has_finished_it",
        depth=24,
    ),
    Broken(
        fault=faults.forgets_a_demand_as_the_token_passes,
        place=_STATION,
        breaks="kernel0_holds_what_it_was_asked_for",
        depth=16,
    ),
    Broken(
        fault=faults.is_idle_with_a_slot_on_offer, place=_STATION, breaks="kernel0_idle_if_no_vertex_waits", depth=16
    ),
)
_LATE = Broken(
    fault=faults.hands_out_every_eighth_cycle,
    place=_STATION,
    breaks="a_vertex_has_its_slot_within_two_turns_and_its_places",
    depth=40,
)
_COUNT = (
    Broken(fault=faults.adds_its_demand_twice, place=_STATION, breaks="the_result_is_the_number_of_demands", depth=24),
    Broken(
        fault=faults.reserves_nothing, place=_STATION, breaks="the_token_has_counted_what_is_not_demanded", depth=16
    ),
)
_NUMBERS = (
    Broken(fault=faults.reserves_nothing, place=_STATION, breaks="no_slot_is_reserved_again", depth=16),
    Broken(
        fault=faults.reserves_one_too_many,
        place=_STATION,
        breaks="every_slot_below_the_token_and_no_other_is_reserved",
        depth=16,
    ),
)
_REGISTERS = (
    Broken(fault=faults.forgets_what_it_booked, place=_STATION, breaks="kernel0_has_booked_if_watched_is_booked"),
    Broken(fault=faults.forgets_what_is_in_use, place=_STATION, breaks="kernel0_has_slots_in_use_if_watched_is_in_use"),
    Broken(fault=faults.hands_out_more_than_it_reserved, place=_STATION, breaks="kernel0_offers_watched_only_from_use"),
    Broken(fault=faults.offers_a_slot_again, place=_STATION, breaks="kernel0_has_on_offer_what_it_shows", depth=16),
)
_GIVEN = (
    Broken(fault=faults.offers_a_slot_again, place=_STATION, breaks="no_slot_is_given_again", depth=16),
    Broken(fault=faults.reserves_nothing, place=_STATION, breaks="no_slot_is_given_to_two", depth=20),
    Broken(fault=faults.reserves_nothing, place=_STATION, breaks="every_reserved_slot_is_in_one_place", depth=16),
    Broken(fault=faults.stops_at_any_token, place=_MASTER, breaks="every_reserved_slot_was_given_at_the_end", depth=16),
)
_OFFERS = (
    Broken(fault=faults.all_slots_fit, place=_ALONE, breaks="a_slot_fits_if_below_the_capacity"),
    Broken(fault=blinks("slot", registered=True), place=_ALONE, breaks="slot_valid_stays"),
    Broken(fault=changes("slot", registered=True), place=_ALONE, breaks="slot_payload_steady"),
    Broken(
        fault=faults.keeps_the_token_while_it_has_demand, place=_ALONE, breaks="the_token_leaves_a_cycle_after_it_came"
    ),
    Broken(fault=faults.passes_done_on, place=_ALONE, breaks="done_stays_only_if_this_run_is_finished"),
    Broken(fault=faults.reserves_one_too_many, place=_ALONE, breaks="the_token_takes_all_demand_or_none"),
)


def _proofs(*, blocking: bool, suffix: str, full: bool) -> tuple[Proof, ...]:
    """Return the proofs of one kind of reservation; `full` with all broken variants."""
    places = partial(slot_places, stations=3, blocking=blocking)
    return (
        Proof(
            name=f"slot-offers{suffix}",
            says="A station passes any token on in a cycle, tells rightly what fits, and offers a slot until taken.",
            harness=partial(slot_offers, blocking=blocking),
            depth=1,
            broken=_OFFERS if full else _OFFERS[:1],
        ),
        Proof(
            name=f"slot-count{suffix}",
            says="One token is on the ring while a run lasts, it is back after a turn, and its last value is the "
            "number of demands; a run ends only when every kernel has finished it.",
            harness=partial(slot_count, stations=3, blocking=blocking),
            depth=1,
            long=not full,
            broken=(*_COUNT, *_RING) if full else _COUNT[:1],
        ),
        Proof(
            name=f"slot-numbers{suffix}",
            says="The slots reserved are those below the token's value, each once (lemma of the next proof but one).",
            harness=partial(places, part=NUMBERS),
            depth=1,
            broken=_NUMBERS if full else _NUMBERS[:1],
        ),
        Proof(
            name=f"slot-registers{suffix}",
            says="A reserved slot is where its station's registers say: booked, in use, on offer (lemma of the next "
            "proof).",
            harness=partial(slot_registers, blocking=blocking),
            depth=1,
            broken=_REGISTERS if full else _REGISTERS[-1:],
        ),
        Proof(
            name=f"slots{suffix}",
            says="Every reserved slot is given exactly once, to one kernel, before the run ends.",
            harness=partial(places, part=REST),
            search=partial(places, part=SEARCH),
            depth=1,
            broken=_GIVEN if full else _GIVEN[2:3],
        ),
        Proof(
            name=f"slot-latency{suffix}",
            says="A vertex whose kernel takes its slots at once has its slot within two ring turns and 8 cycles.",
            harness=partial(slot_latency, stations=2, blocking=blocking),
            depth=slot_bound(2) + 2,
            broken=(_LATE,),
        ),
    )


PROOFS = (
    *_proofs(blocking=False, suffix="", full=True),
    *_proofs(blocking=True, suffix="-published", full=False),
)
