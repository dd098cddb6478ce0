"""Proof about the filter of copies: no neighbour is lost, and no copy of a recent one passes."""

from amaranth.hdl import Cat, Mux, Value

from cyscc.hw.bfs.copy_filter import CopyFilter
from tests.formal.harness import Harness
from tests.formal.proof import Proof

DEPTH = 2 * CopyFilter.WAYS
WAYS = CopyFilter.WAYS
WIDTH = 8


def copy_filter() -> Harness:
    """Return the harness of `CopyFilter`: any ids in any runs, of which the solver chooses one to watch."""
    h = Harness()
    part = h.add("dut", CopyFilter(depth=DEPTH, width=WIDTH))
    dut: CopyFilter = part.ports
    h.offer(dut.ids, "ids")
    h.m.d.comb += [dut.start.eq(h.free(1, "start")), dut.fresh.ready.eq(h.free(1, "ready"))]
    h.assume(~dut.start | (dut.idle & ~dut.ids.valid), "starts_when_idle")
    watched = h.constant(WIDTH, "watched")
    held, vertex, copy, done, waiting, behind, forgetting, swept, row = (
        part.signal(name)
        for name in ("held", "vertex", "copy", "done", "waiting", "behind", "forgetting", "swept", "row")
    )
    taken = h.net(dut.ids.valid & dut.ids.ready, "taken")
    left = h.net(dut.fresh.valid & dut.fresh.ready, "left")

    came = h.flag("came", set=taken & (dut.ids.payload == watched), clear=dut.start)
    went = h.flag("went", set=left & (dut.fresh.payload == watched), clear=dut.start)
    shown = h.net(dut.fresh.valid & (dut.fresh.payload == watched), "shown")
    waits = h.net(waiting & (behind == watched), "waits")
    h.prove(~dut.idle | (came == went), "every_neighbour_that_came_has_gone_on_when_it_is_idle")
    h.prove(~shown | came, "what_goes_on_came_in_this_run")

    # The ids that have gone on since the watched one did, as far as they count.
    at_hand = h.net(held & (vertex == watched), "at_hand")
    known = h.flag("known", set=done & at_hand, clear=dut.start)
    others = h.register(range(WAYS + 1), "others")
    with h.m.If(done & ~copy):
        h.m.d.sync += others.eq(Mux(at_hand, 0, Mux(others == WAYS, WAYS, others + 1)))
    h.prove(~at_hand | ~known | (others == WAYS) | copy, "a_copy_goes_on_only_after_as_many_others_as_it_has_ways")

    stalled = h.past(dut.fresh.valid & ~dut.fresh.ready, "stalled")
    h.prove(dut.ids.ready | forgetting | stalled, "takes_an_id_unless_it_forgets_or_has_waited")
    forgotten = h.counter("forgotten", width=4, up=1, clear=~forgetting | dut.start)
    h.prove(~forgetting | (forgotten < DEPTH // WAYS), "forgets_in_a_cycle_a_place")
    h.obeys_stream_rules(dut.fresh, "fresh")
    resting = h.past(~dut.moving & ~left & ~dut.start, "resting")
    h.prove(~resting | h.steady(Cat(held, dut.fresh.valid, waiting, forgetting, swept), "state"), "rests_unless_moving")

    stored = part.word("remembered", dut.place(vertex), name="stored")
    own = part.word("remembered", dut.place(watched), name="own")
    width = len(own) // WAYS
    here = Cat(own[width * way : width * (way + 1)] == dut.tag(watched) for way in range(WAYS))
    is_swept = ~forgetting | (dut.place(watched) < swept)
    near = Cat(Value.cast(here[: way + 1]).any() for way in range(WAYS))
    h.invariant(~held | (row == stored), "the_place_is_seen_as_it_is")
    h.invariant(~is_swept | ~here.any() | known, "only_what_came_in_this_run_is_remembered")
    h.invariant(~known | (others == WAYS) | near.bit_select(others, 1), "others_push_it_back_by_one_each")
    h.invariant(came == (known | at_hand), "what_came_is_known_or_at_hand")
    h.invariant(known == (went | shown | waits), "what_is_known_has_gone_on_or_is_about_to")
    h.invariant(~waiting | (dut.fresh.valid & stalled), "one_waits_behind_another")
    h.invariant(~forgetting | ~(came | held | dut.fresh.valid), "nothing_comes_while_it_forgets")
    h.invariant(~forgetting | (forgotten == swept), "places_below_are_forgotten")
    return h


PROOFS = (
    Proof(
        name="copy-filter",
        claim="Every neighbour id is forwarded at least once per run, unchanged; it is forwarded again only if at "
        "least four other ids were forwarded since.",
        harness=copy_filter,
        depth=1,
    ),
)
