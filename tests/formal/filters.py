"""Proofs about filters: of copies, and of visited vertices. No neighbour is lost, and what must not pass does not."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import Cat, Mux, Value

from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.exchange.bank_sweeper import BankSweeper
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.exchange.wires import rest_bits
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof
from tests.formal.watch import outlast

DEPTH = 2 * CopyFilter.WAYS
WAYS = CopyFilter.WAYS
WIDTH = 8


def copy_filter() -> Harness:
    """Return the harness of `CopyFilter`: any ids in any runs, of which the solver chooses one to watch.

    Claim: Every neighbour id is forwarded at least once per run, unchanged; it is forwarded again only if at least four
    other ids were forwarded since.
    """
    h, part, dut = opened(CopyFilter(depth=DEPTH, width=WIDTH))
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


_COPY_PROOFS = (Proof(name="copy-filter", harness=copy_filter, depth=1),)


KERNELS = 2
ROWS = 4
VERTICES = ROWS * 2 * KERNELS * VisitedBank.ROW
FEW_VERTICES = 2 * KERNELS * VisitedBank.PART
"""So few that they have bits in one part of the bank only."""
REST = rest_bits(KERNELS)


def _row(rest: Value) -> Value:
    """Return the row of an id, and what lies beyond the bank above it."""
    return VisitedBank.row_of(rest)


def _part(rest: Value) -> Value:
    """Return the number of an id's part in its row."""
    return rest[(VisitedBank.PART - 1).bit_length() : (VisitedBank.ROW - 1).bit_length()]


def _share_part(first: Value, second: Value) -> Value:
    """Return whether two ids have the same row and part."""
    return (_row(first) == _row(second)) & (_part(first) == _part(second))


@dataclass(frozen=True)
class _Stages:
    """The ids that a bank holds.

    Parameters
    ----------
    part : Part
        The bank.
    bits : int
        Ids that have a bit.
    """

    part: Part
    bits: int

    def __getattr__(self, name: str) -> Any:
        """Return a register of the bank."""
        return self.part.signal(name)

    def word(self, rest: Value, name: str) -> Value:
        """Return the content of an id's row."""
        return self.part.word("bits", _row(rest)[: (self.part.ports.rows - 1).bit_length()], name=name)

    @property
    def stalled(self) -> Value:
        """An id that goes on is not taken, so that nothing moves."""
        fresh = self.part.ports.fresh
        return fresh.valid & ~fresh.ready

    def has(self, rest: Value) -> tuple[Value, Value, Value]:
        """Return whether an id is being read, is being tested, and is offered."""
        fresh = self.part.ports.fresh
        return (
            self.reading & (self.read_id == rest),
            self.testing & (self.tested == rest),
            fresh.valid & (fresh.payload == rest),
        )


def visited_bank(vertices: int) -> Harness:
    """Return the harness of `VisitedBank` with its `BankSweeper`: any ids of the search, of which one is watched.

    Parameters
    ----------
    vertices : int
        Ids with a bit in one of the AE's banks.
    """
    h, part, dut = opened(VisitedBank(kernels=KERNELS, vertices=vertices))
    stages, rows = _Stages(part, vertices // (2 * KERNELS)), dut.rows
    sweeper: Any = h.add("sweeper", BankSweeper(kernels=KERNELS, rows=rows)).ports
    h.drive(h.free, sweeper, "clear", "last")
    h.offer(dut.ids, "ids")
    h.m.d.comb += [dut.fresh.ready.eq(h.free(1, "ready")), dut.sweep.eq(sweeper.sweep), dut.row.eq(sweeper.row)]
    clear, end = sweeper.clear, sweeper.last[-REST:]
    limit = h.register(REST, "limit", init=(1 << REST) - 1)
    with h.m.If(clear):
        h.m.d.sync += limit.eq(end)
    h.assume(~clear | (dut.idle & ~dut.ids.valid), "cleared_when_idle")
    h.assume(~dut.ids.valid | (dut.ids.payload <= limit), "ids_are_within_the_limit")

    watched = h.constant(REST, "watched")
    taken = h.net(dut.ids.valid & dut.ids.ready, "taken")
    comes = h.net(taken & (dut.ids.payload == watched), "comes")
    read, at_test, shown = (h.net(each, f"watched{n}") for n, each in enumerate(stages.has(watched)))
    goes = h.net(shown & dut.fresh.ready, "goes")
    has_bit = h.net(watched < stages.bits, "has_bit")
    came, went = h.flag("came", set=comes, clear=clear), h.flag("went", set=goes, clear=clear)
    copies = h.counter("copies", width=3, up=comes, down=goes)
    h.prove(~has_bit | ~dut.idle | (came == went), "an_id_that_came_has_gone_on_when_it_is_idle")
    h.prove(~has_bit | ~shown | (came & ~went), "an_id_with_a_bit_goes_on_once")
    h.prove(has_bit | ~dut.idle | (copies == 0), "an_id_without_a_bit_goes_on_always")
    h.prove(has_bit | ~shown | (copies > 0), "an_id_without_a_bit_goes_on_as_often_as_it_came")
    h.obeys_stream_rules(dut.fresh, "fresh")
    _keeps_order(h, stages, watched, comes=comes, taken=taken)

    stalled = h.net(stages.stalled, "stalled")
    to_clear = h.register(range(rows + 1), "to_clear")  # rows that a clearing of one a cycle has left
    with h.m.If(clear):
        h.m.d.sync += to_clear.eq(Mux(_row(end) < rows, _row(end) + 1, rows))
    with h.m.Elif(to_clear > 0):
        h.m.d.sync += to_clear.eq(to_clear - 1)
    h.prove(dut.ids.ready | (to_clear > 0) | stalled, "takes_an_id_unless_it_clears_or_waits")
    outlast(h, "an_id_goes_on_or_not_in_two_cycles", waiting=~dut.idle & ~dut.fresh.valid & ~taken, cycles=2)
    resting = h.past(~dut.moving & ~(dut.fresh.valid & dut.fresh.ready) & ~clear, "resting")
    state = Cat(stages.reading, stages.read_id, stages.testing, stages.tested, dut.fresh.valid, dut.sweep)
    h.prove(~resting | h.steady(state, "state"), "rests_unless_moving")

    _follow_parts(h, stages, taken=taken, stalled=stalled)
    known = h.flag("known", set=at_test & ~stalled, clear=clear)
    set_bit = stages.word(watched, "own_row").bit_select(watched[: (VisitedBank.ROW - 1).bit_length()], 1)
    is_swept = ~dut.sweep | (_row(watched) > dut.row)
    h.invariant(~(has_bit & is_swept & (watched <= limit)) | (set_bit == known), "its_bit_tells_whether_it_was_tested")
    h.invariant(~has_bit | (came == (known | read | at_test)), "what_came_is_known_or_at_hand")
    h.invariant(~has_bit | (known == (went | shown)), "what_is_known_has_gone_on_or_is_about_to")
    h.invariant(~has_bit | ~(went & shown), "it_is_at_one_place")
    h.invariant(has_bit | (copies == read + at_test + shown), "copies_are_held")
    held = stages.reading | stages.testing | dut.fresh.valid
    h.invariant(~dut.sweep | ~(came | held), "nothing_comes_while_it_clears")
    h.invariant(dut.sweep == (to_clear > 0), "clears_as_long_as_it_must")
    h.invariant(~dut.sweep | (dut.row + 1 == to_clear), "rows_above_are_cleared")
    h.invariant(~stages.reading | (stages.read_id <= limit), "what_is_read_is_within_the_limit")
    h.invariant(~stages.testing | (stages.tested <= limit), "what_is_tested_is_within_the_limit")
    return h


def _keeps_order(h: Harness, stages: _Stages, watched: Any, *, comes: Any, taken: Any) -> None:
    """Claim that no copy of the watched id goes on after another id that came behind it; `comes` is one that comes."""
    dut: Any = stages.part.ports
    other = h.constant(REST, "other")
    h.assume(other != watched, "the_other_id_is_another")
    other_comes = h.net(taken & (dut.ids.payload == other), "other_comes")
    inside = h.flag("other_may_be_inside", set=other_comes, clear=dut.idle)
    chosen, read, at_test = (h.register(1, f"other_{name}") for name in ("chosen", "read", "at_test"))
    moves = ~stages.stalled
    chooses = h.net(h.free(1, "choose_other") & other_comes & ~inside & ~chosen, "other_is_chosen")
    h.m.d.sync += [
        chosen.eq(chosen | chooses),
        read.eq(chooses | (read & ~moves)),
        at_test.eq(Mux(moves, read, at_test)),
    ]
    late = h.flag("watched_came_later", set=chosen & comes, clear=0)
    here, tested, shown = stages.has(watched)
    others = stages.has(other)
    gone = h.flag("other_has_gone", set=chosen & others[2] & dut.fresh.ready, clear=0)
    h.prove(~(chosen & gone & ~late & shown), "ids_go_on_in_their_order")
    h.invariant(inside | ~Cat(others).any(), "the_other_id_is_inside_only_then")
    h.invariant(~(chosen & ~late) | ~here, "none_comes_behind_the_other_id")
    h.invariant(~(chosen & ~late) | read | ~tested, "none_is_tested_behind_the_other_id")
    h.invariant(~(chosen & ~late) | ~gone | ~shown, "none_goes_on_behind_the_other_id")
    h.invariant(~read | (others[0] & ~(others[1] | others[2])), "the_other_id_is_read_first")
    h.invariant(~at_test | (others[1] & ~others[2]), "the_other_id_is_tested_first")
    h.invariant(~(read & at_test) & (chosen | ~(read | at_test | gone | late)), "the_other_id_is_at_one_place")
    h.invariant(~(gone & (read | at_test)), "the_other_id_goes_at_the_end")


def _follow_parts(h: Harness, stages: _Stages, *, taken: Any, stalled: Any) -> None:
    """Add the invariants by which each id sees its part of the memory as it will be written before it is tested."""
    part, size = stages.part, VisitedBank.PART
    read_id, tested, behind = stages.read_id, stages.tested, stages.tests_behind
    reads_bit, tests_bit = stages.reading & stages.reads_bit, stages.tests_bit
    # Whether the part was written in the cycle in which it was read, so that a block RAM shows anything of it.
    disturbed, comes = h.register(1, "disturbed"), part.ports.ids.payload
    with h.m.If(taken):
        h.m.d.sync += disturbed.eq(tests_bit & _share_part(comes, tested))
    looked = h.past(stages.reading & disturbed & ~stalled, "looked_at_disturbed")
    h.prove(~looked | (stages.row == 0), "what_is_read_while_it_is_written_is_not_used")

    of_read = stages.word(read_id, "of_read").word_select(_part(read_id), size)
    of_tested = stages.word(tested, "of_tested").word_select(_part(tested), size)
    data = part.shown("bits").word_select(_part(read_id), size)
    newer = (stages.last & behind[0].replicate(size)) | (stages.second_last & behind[1].replicate(size))
    seen = stages.row.word_select(_part(tested), size) | newer
    earlier = stages.reads_behind[1]
    h.invariant(~tests_bit | (seen == of_tested), "the_part_is_seen_as_it_is")
    h.invariant(~(reads_bit & earlier) | (stages.last == of_read), "an_earlier_id_has_the_part")
    h.invariant(~(reads_bit & ~earlier) | (data == of_read), "the_memory_shows_the_part")
    h.invariant(~(stages.reading & disturbed) | earlier, "it_knows_the_earlier_id")
    follows = tests_bit & _share_part(read_id, tested)
    h.invariant(~reads_bit | (stages.reads_behind[0] == follows), "it_knows_the_id_before")
    h.invariant(~stages.reading | (stages.reads_bit == (read_id < stages.bits)), "it_knows_what_is_read_without_a_bit")
    h.invariant(tests_bit == (stages.testing & (tested < stages.bits)), "it_knows_what_is_tested_without_a_bit")
    h.invariant(stages.testing | ((stages.row == 0) & (behind == 0)), "zeros_are_written_while_none_is_tested")


def sweeper() -> Harness:
    """Return the harness of `BankSweeper`: cleared at any time, with any last id; a row is watched.

    Claim: After each `clear`, every row up to that of the last id, or every row of the bank, is named once, one a cycle
    from the next cycle on, and no other row; the sweep ends behind the last of them.
    """
    h, _, dut = opened(BankSweeper(kernels=KERNELS, rows=ROWS), free=["clear", "last"])
    watched = h.constant(range(ROWS), "watched")
    end = _row(dut.last[-REST:])
    clear, named = dut.clear, h.net(dut.sweep & (dut.row == watched), "named")
    needed = h.register(1, "needed")  # an id up to the last one has its bit in the row that is watched
    with h.m.If(clear):
        h.m.d.sync += needed.eq(watched <= end)
    times = h.counter("times", width=2, up=named, clear=clear)
    cleared = h.flag("cleared", set=clear, clear=0)
    h.prove(dut.sweep | ~cleared | (times == needed), "each_row_up_to_the_last_id_is_named_when_it_ends")
    h.prove(~named | (needed & (times == 0)), "no_other_row_and_none_twice")
    h.prove(h.first | ~h.past(clear, "clear") | dut.sweep, "it_begins_at_once")
    length = h.waited("length", width=3, waiting=dut.sweep & ~clear)
    h.prove(~dut.sweep | (length < ROWS), "a_row_takes_a_cycle")
    h.invariant(~dut.sweep | cleared, "it_begins_when_it_is_cleared")
    h.invariant(~dut.sweep | (times == (needed & (dut.row < watched))), "rows_above_were_named")
    h.invariant(~dut.sweep | needed | (dut.row < watched), "it_begins_with_the_row_of_the_last_id")
    h.invariant(~dut.sweep | (length + dut.row < ROWS), "it_comes_nearer_to_its_end")
    return h


_CLAIM = (
    "An id that did not come since the bank was cleared goes on, unchanged; one with a bit goes on once, one without a "
    "bit as often as it comes; ids go on in their order. Clearing takes a cycle for each row up to that of the last "
    "id. What a block RAM shows of a part that is written meanwhile is not used."
)

PROOFS = (
    *_COPY_PROOFS,
    Proof(
        name="visited-bank",
        claim=_CLAIM,
        harness=partial(visited_bank, VERTICES),
    ),
    Proof(
        name="visited-bank-small",
        claim=_CLAIM,
        harness=partial(visited_bank, FEW_VERTICES),
    ),
    Proof(name="bank-sweeper", harness=sweeper),
)
