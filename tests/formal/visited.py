"""Proof about the visited bank: no id is lost that did not come before, and none with a bit goes on twice."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value

from cyscc.hw.exchange.visited_bank import VisitedBank
from tests.formal.faults import breaking, driven, spoiled, sticks
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import outlast

KERNELS = 2
ROWS = 4
VERTICES = ROWS * 2 * KERNELS * VisitedBank.ROW
LOW = KERNELS.bit_length()
"""Bits of plane and owner, which all ids of a bank share."""
WITHIN = (VisitedBank.ROW - 1).bit_length()
"""Bits of a place in a row."""


def _row(vertex: Value) -> Value:
    """Return the row of an id, and what lies beyond the bank above it."""
    return vertex[LOW + WITHIN :]


def visited_bank() -> Harness:
    """Return the harness of `VisitedBank`: any ids up to the limit of the search, of which one is watched."""
    h = Harness()
    part = h.add("dut", VisitedBank(kernels=KERNELS, vertices=VERTICES))
    dut: Any = part.ports
    h.drive(h.free, dut, "clear", "last")
    h.offer(dut.ids, "ids")
    h.m.d.comb += dut.fresh.ready.eq(h.free(1, "ready"))
    watched = h.constant(32, "watched")
    limit = h.register(48, "limit", init=(1 << 48) - 1)
    with h.m.If(dut.clear):
        h.m.d.sync += limit.eq(dut.last)
    h.assume(~dut.clear | (dut.idle & ~dut.ids.valid), "cleared_when_idle")
    h.assume(~dut.ids.valid | (dut.ids.payload <= limit), "ids_are_within_the_limit")
    h.assume(~dut.ids.valid | (dut.ids.payload[:LOW] == watched[:LOW]), "ids_are_of_one_kernel_and_plane")

    taken = h.net(dut.ids.valid & dut.ids.ready, "taken")
    left = h.net(dut.fresh.valid & dut.fresh.ready, "left")
    comes = h.net(taken & (dut.ids.payload == watched), "comes")
    shown = h.net(dut.fresh.valid & (dut.fresh.payload == watched), "shown")
    goes = h.net(shown & dut.fresh.ready, "goes")
    has_bit = h.net(watched < VERTICES, "has_bit")
    came = h.flag("came", set=comes, clear=dut.clear)
    went = h.flag("went", set=goes, clear=dut.clear)
    copies = h.counter("copies", width=3, up=comes, down=goes)
    h.prove(~has_bit | ~dut.idle | (came == went), "an_id_that_came_has_gone_on_when_it_is_idle")
    h.prove(~has_bit | ~shown | (came & ~went), "an_id_with_a_bit_goes_on_once")
    h.prove(has_bit | ~dut.idle | (copies == 0), "an_id_without_a_bit_goes_on_always")
    h.prove(has_bit | ~shown | (copies > 0), "an_id_without_a_bit_goes_on_as_often_as_it_came")

    held, vertex, waiting, behind, clearing, swept, row, done = (
        part.signal(name) for name in ("held", "vertex", "waiting", "behind", "clearing", "swept", "row", "done")
    )
    stalled = h.past(dut.fresh.valid & ~dut.fresh.ready, "stalled")
    to_clear = h.register(range(ROWS + 1), "to_clear")  # rows that a clearing of one a cycle has left
    with h.m.If(dut.clear):
        h.m.d.sync += to_clear.eq(Mux(_row(dut.last) < ROWS, _row(dut.last) + 1, ROWS))
    with h.m.Elif(to_clear > 0):
        h.m.d.sync += to_clear.eq(to_clear - 1)
    h.prove(dut.ids.ready | (to_clear > 0) | stalled, "takes_an_id_unless_it_clears_or_has_waited")
    outlast(h, "an_id_goes_on_or_not_in_a_cycle", waiting=~dut.idle & ~dut.fresh.valid & ~taken, cycles=1)
    h.obeys_stream_rules(dut.fresh, "fresh")
    resting = h.past(~dut.moving & ~left & ~dut.clear, "resting")
    state = Cat(held, vertex, dut.fresh.valid, waiting, clearing, swept)
    h.prove(~resting | h.steady(state, "state"), "rests_unless_moving")

    at_hand = h.net(held & (vertex == watched), "at_hand")
    waits = h.net(waiting & (behind == watched), "waits")
    known = h.flag("known", set=done & at_hand, clear=dut.clear)
    stored = part.word("bits", _row(vertex)[: (ROWS - 1).bit_length()], name="stored")
    own = part.word("bits", _row(watched)[: (ROWS - 1).bit_length()], name="own")
    set_bit = own.bit_select(watched[LOW : LOW + WITHIN], 1)
    is_swept = ~clearing | (_row(watched) > swept)
    h.invariant(~held | (row == stored), "the_row_is_seen_as_it_is")
    h.invariant(~held | (part.signal("beyond") == (vertex >= VERTICES)), "it_knows_what_has_no_bit")
    h.invariant(~(has_bit & is_swept & (watched <= limit)) | (set_bit == known), "its_bit_tells_whether_it_came")
    h.invariant(~has_bit | (came == (known | at_hand)), "what_came_is_known_or_at_hand")
    h.invariant(~has_bit | (known == (went | shown | waits)), "what_is_known_has_gone_on_or_is_about_to")
    h.invariant(~has_bit | (went + shown + waits < 2), "it_is_at_one_place")
    h.invariant(has_bit | (copies == at_hand + shown + waits), "copies_are_held")
    h.invariant(~waiting | (dut.fresh.valid & stalled), "one_waits_behind_another")
    h.invariant(~clearing | ~(came | held | dut.fresh.valid), "nothing_comes_while_it_clears")
    h.invariant(clearing == (to_clear > 0), "clears_as_long_as_it_must")
    h.invariant(~clearing | (swept + 1 == to_clear), "rows_above_are_cleared")
    h.invariant(~held | (vertex[:LOW] == watched[:LOW]), "what_it_holds_is_of_the_kernel_and_plane")
    h.invariant(~held | (vertex <= limit), "what_it_holds_is_within_the_limit")
    return h


def leaves_the_first_row(self: VisitedBank, m: Module) -> None:
    """Clear all rows but the first."""
    clearing, swept = driven(m, "clearing"), driven(m, "swept")
    with m.If(clearing):
        m.d.sync += clearing.eq(swept > 1)


def leaves_the_last_row(self: VisitedBank, m: Module) -> None:
    """Begin with the row below that of the last id."""
    swept = driven(m, "swept")
    with m.If(self.clear & (_row(self.last) == 1)):
        m.d.sync += swept.eq(0)


def takes_any_of_its_row_for_it(self: VisitedBank, m: Module) -> None:
    """Take an id for known if another one of its row is."""
    m.d.comb += driven(m, "known").eq(driven(m, "row").any() & ~driven(m, "beyond"))


def misses_what_it_has_just_written(self: VisitedBank, m: Module) -> None:
    """Take what the memory shows, also for a row that was written in the same cycle."""
    m.d.sync += driven(m, "overtaken").eq(0)


def keeps_no_bit(self: VisitedBank, m: Module) -> None:
    """Take what has no bit for what is at its place in the memory."""
    m.d.comb += driven(m, "known").eq((driven(m, "row") & driven(m, "own")).any())


def passes_it_on_twice(self: VisitedBank, m: Module) -> None:
    """Offer what waited again."""
    waiting = driven(m, "waiting")
    with m.If(waiting):
        m.d.sync += waiting.eq(1)


def waits_for_the_next(self: VisitedBank, m: Module) -> None:
    """Pass an id on only when another one comes."""
    m.d.comb += driven(m, "done").eq(driven(m, "held") & ~driven(m, "waiting") & self.ids.valid)


_BANK = f"{__name__}.VisitedBank"

PROOFS = (
    Proof(
        name="visited-bank",
        claim="An id that did not come since the bank was cleared goes on, unchanged; one with a bit goes on once, "
        "one without a bit as often as it comes. Clearing takes a cycle for each row up to that of the last "
        "id.",
        harness=visited_bank,
        depth=1,
        broken=(
            *spoiled(
                _BANK,
                an_id_that_came_has_gone_on_when_it_is_idle=leaves_the_first_row,
                an_id_with_a_bit_goes_on_once=misses_what_it_has_just_written,
                an_id_without_a_bit_goes_on_always=keeps_no_bit,
                an_id_without_a_bit_goes_on_as_often_as_it_came=passes_it_on_twice,
                takes_an_id_unless_it_clears_or_has_waited=sticks("ids.ready", at=0),
                an_id_goes_on_or_not_in_a_cycle=waits_for_the_next,
                rests_unless_moving=sticks("moving", at=0),
            ),
            *spoiled(_BANK, an_id_that_came_has_gone_on_when_it_is_idle=leaves_the_last_row),
            *spoiled(_BANK, an_id_that_came_has_gone_on_when_it_is_idle=takes_any_of_its_row_for_it),
            *breaking(_BANK, "fresh", registered=True),
        ),
    ),
)
