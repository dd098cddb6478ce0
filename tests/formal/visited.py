"""Proof about the visited bank: no id is lost that did not come before, and none with a bit goes on twice."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value

from cyscc.hw.exchange.bank_sweeper import BankSweeper
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.exchange.wires import rest_bits
from tests.formal.faults import breaking, driven, spoiled, sticks
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import outlast

KERNELS = 2
ROWS = 4
VERTICES = ROWS * 2 * KERNELS * VisitedBank.ROW
REST = rest_bits(KERNELS)
BITS = ROWS * VisitedBank.ROW
"""Ids of the bank that have a bit."""


def _row(rest: Value) -> Value:
    """Return the row of an id, and what lies beyond the bank above it."""
    return VisitedBank.row_of(rest)


def _part(rest: Value) -> Value:
    """Return the number of an id's part in its row."""
    return rest[(VisitedBank.PART - 1).bit_length() : (VisitedBank.ROW - 1).bit_length()]


def visited_bank() -> Harness:
    """Return the harness of `VisitedBank` with its `BankSweeper`: any ids of the search, of which one is watched."""
    h = Harness()
    part = h.add("dut", VisitedBank(kernels=KERNELS, vertices=VERTICES))
    dut: Any = part.ports
    sweeper: Any = h.add("sweeper", BankSweeper(kernels=KERNELS, rows=ROWS)).ports
    h.drive(h.free, sweeper, "clear", "last")
    h.offer(dut.ids, "ids")
    h.m.d.comb += [dut.fresh.ready.eq(h.free(1, "ready")), dut.sweep.eq(sweeper.sweep), dut.row.eq(sweeper.row)]
    clear, end = sweeper.clear, sweeper.last[-REST:]
    watched = h.constant(REST, "watched")
    limit = h.register(REST, "limit", init=(1 << REST) - 1)
    with h.m.If(clear):
        h.m.d.sync += limit.eq(end)
    h.assume(~clear | (dut.idle & ~dut.ids.valid), "cleared_when_idle")
    h.assume(~dut.ids.valid | (dut.ids.payload <= limit), "ids_are_within_the_limit")

    taken = h.net(dut.ids.valid & dut.ids.ready, "taken")
    left = h.net(dut.fresh.valid & dut.fresh.ready, "left")
    comes = h.net(taken & (dut.ids.payload == watched), "comes")
    shown = h.net(dut.fresh.valid & (dut.fresh.payload == watched), "shown")
    goes = h.net(shown & dut.fresh.ready, "goes")
    has_bit = h.net(watched < BITS, "has_bit")
    came = h.flag("came", set=comes, clear=clear)
    went = h.flag("went", set=goes, clear=clear)
    copies = h.counter("copies", width=3, up=comes, down=goes)
    h.prove(~has_bit | ~dut.idle | (came == went), "an_id_that_came_has_gone_on_when_it_is_idle")
    h.prove(~has_bit | ~shown | (came & ~went), "an_id_with_a_bit_goes_on_once")
    h.prove(has_bit | ~dut.idle | (copies == 0), "an_id_without_a_bit_goes_on_always")
    h.prove(has_bit | ~shown | (copies > 0), "an_id_without_a_bit_goes_on_as_often_as_it_came")

    reading, read_id, reads_bit, reads_behind = (
        part.signal(name) for name in ("reading", "read_id", "reads_bit", "reads_behind")
    )
    testing, tested, tests_bit, tests_behind = (
        part.signal(name) for name in ("testing", "tested", "tests_bit", "tests_behind")
    )
    row, last, second_last = (part.signal(name) for name in ("row", "last", "second_last"))
    stalled = h.net(dut.fresh.valid & ~dut.fresh.ready, "stalled")
    to_clear = h.register(range(ROWS + 1), "to_clear")  # rows that a clearing of one a cycle has left
    with h.m.If(clear):
        h.m.d.sync += to_clear.eq(Mux(_row(end) < ROWS, _row(end) + 1, ROWS))
    with h.m.Elif(to_clear > 0):
        h.m.d.sync += to_clear.eq(to_clear - 1)
    h.prove(dut.ids.ready | (to_clear > 0) | stalled, "takes_an_id_unless_it_clears_or_waits")
    outlast(h, "an_id_goes_on_or_not_in_two_cycles", waiting=~dut.idle & ~dut.fresh.valid & ~taken, cycles=2)
    h.obeys_stream_rules(dut.fresh, "fresh")
    resting = h.past(~dut.moving & ~left & ~clear, "resting")
    state = Cat(reading, read_id, testing, tested, dut.fresh.valid, dut.sweep)
    h.prove(~resting | h.steady(state, "state"), "rests_unless_moving")

    read = h.net(reading & (read_id == watched), "read")
    at_test = h.net(testing & (tested == watched), "at_test")
    known = h.flag("known", set=at_test & ~stalled, clear=clear)
    address = (ROWS - 1).bit_length()
    of_read = part.word("bits", _row(read_id)[:address], name="of_read")
    of_tested = part.word("bits", _row(tested)[:address], name="of_tested")
    own = part.word("bits", _row(watched)[:address], name="own_row")
    set_bit = own.bit_select(watched[: (VisitedBank.ROW - 1).bit_length()], 1)
    size = VisitedBank.PART
    newer = (last & tests_behind[0].replicate(size)) | (second_last & tests_behind[1].replicate(size))
    seen = row.word_select(_part(tested), size) | newer
    stored = of_read.word_select(_part(read_id), size)
    data = part.shown("bits").word_select(_part(read_id), size)
    same = (_row(read_id) == _row(tested)) & (_part(read_id) == _part(tested))
    is_swept = ~dut.sweep | (_row(watched) > dut.row)
    h.invariant(~tests_bit | (seen == of_tested.word_select(_part(tested), size)), "the_part_is_seen_as_it_is")
    h.invariant(~(reading & reads_bit & reads_behind[1]) | (last == stored), "an_earlier_id_has_the_part")
    h.invariant(~(reading & reads_bit & ~reads_behind[1]) | (data == stored), "the_memory_shows_the_part")
    h.invariant(~(reading & reads_bit) | (reads_behind[0] == (tests_bit & same)), "it_knows_the_id_before")
    h.invariant(~reading | (reads_bit == (read_id < BITS)), "it_knows_what_is_read_without_a_bit")
    h.invariant(tests_bit == (testing & (tested < BITS)), "it_knows_what_is_tested_without_a_bit")
    h.invariant(~(has_bit & is_swept & (watched <= limit)) | (set_bit == known), "its_bit_tells_whether_it_was_tested")
    h.invariant(~has_bit | (came == (known | read | at_test)), "what_came_is_known_or_at_hand")
    h.invariant(~has_bit | (known == (went | shown)), "what_is_known_has_gone_on_or_is_about_to")
    h.invariant(~has_bit | ~(went & shown), "it_is_at_one_place")
    h.invariant(has_bit | (copies == read + at_test + shown), "copies_are_held")
    h.invariant(~dut.sweep | ~(came | reading | testing | dut.fresh.valid), "nothing_comes_while_it_clears")
    h.invariant(dut.sweep == (to_clear > 0), "clears_as_long_as_it_must")
    h.invariant(~dut.sweep | (dut.row + 1 == to_clear), "rows_above_are_cleared")
    h.invariant(~reading | (read_id <= limit), "what_is_read_is_within_the_limit")
    h.invariant(~testing | (tested <= limit), "what_is_tested_is_within_the_limit")
    return h


def leaves_the_first_row(self: BankSweeper, m: Module) -> None:
    """Clear all rows but the first."""
    with m.If(self.sweep):
        m.d.sync += self.sweep.eq(self.row > 1)


def leaves_the_last_row(self: BankSweeper, m: Module) -> None:
    """Begin with the row below that of the last id."""
    with m.If(self.clear & (_row(self.last[-REST:]) == 1)):
        m.d.sync += self.row.eq(0)


def takes_any_of_its_row_for_it(self: VisitedBank, m: Module) -> None:
    """Take an id for known if another one of its row is."""
    m.d.comb += driven(m, "known").eq(driven(m, "row").any() & driven(m, "tests_bit"))


def misses_what_it_has_just_written(self: VisitedBank, m: Module) -> None:
    """Take what the memory shows, also of a part that is being written."""
    m.d.sync += driven(m, "tests_behind").eq(0)


def keeps_no_bit(self: VisitedBank, m: Module) -> None:
    """Take what has no bit for what is at its place in the memory."""
    m.d.sync += driven(m, "reads_bit").eq(1)


def passes_it_on_twice(self: VisitedBank, m: Module) -> None:
    """Offer an id again that was taken."""
    with m.If(self.fresh.valid & self.fresh.ready):
        m.d.sync += self.fresh.valid.eq(1)


def waits_for_the_next(self: VisitedBank, m: Module) -> None:
    """Pass an id on only when another one comes."""
    reading, testing = driven(m, "reading"), driven(m, "testing")
    with m.If(~self.ids.valid):
        m.d.sync += [reading.eq(reading), testing.eq(testing), self.fresh.valid.eq(0)]


_BANK, _SWEEPER = f"{__name__}.VisitedBank", f"{__name__}.BankSweeper"

PROOFS = (
    Proof(
        name="visited-bank",
        claim="An id that did not come since the bank was cleared goes on, unchanged; one with a bit goes on once, "
        "one without a bit as often as it comes. Clearing takes a cycle for each row up to that of the last "
        "id.",
        harness=visited_bank,
        depth=3,
        broken=(
            *spoiled(
                _BANK,
                an_id_that_came_has_gone_on_when_it_is_idle=takes_any_of_its_row_for_it,
                an_id_with_a_bit_goes_on_once=misses_what_it_has_just_written,
                an_id_without_a_bit_goes_on_always=keeps_no_bit,
                an_id_without_a_bit_goes_on_as_often_as_it_came=passes_it_on_twice,
                takes_an_id_unless_it_clears_or_waits=sticks("ids.ready", at=0),
                an_id_goes_on_or_not_in_two_cycles=waits_for_the_next,
                rests_unless_moving=sticks("moving", at=0),
            ),
            *spoiled(_SWEEPER, an_id_that_came_has_gone_on_when_it_is_idle=leaves_the_first_row),
            *spoiled(_SWEEPER, an_id_that_came_has_gone_on_when_it_is_idle=leaves_the_last_row),
            *breaking(_BANK, "fresh", registered=True),
        ),
    ),
)
