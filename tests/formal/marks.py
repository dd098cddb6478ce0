"""Proof about the marked and queued vertices in the machine that only searches."""

from amaranth.hdl import C, Cat, Module

from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.interfaces import SIZE_8
from tests.formal.faults import changes, spoiled
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import queue_counts


def marking_visitor() -> Harness:
    """Return the harness of `MarkingVisitor`: any neighbours, and slots that come at any time.

    It assumes that entries leave a queue in order, which the proof of `Queue` shows.
    """
    h = Harness()
    part = h.add("dut", MarkingVisitor(depth=4))
    dut = part.ports
    h.drive(h.constant, dut, "next_queue", "words", "distance")
    h.offer(dut.neighbours, "neighbours")
    h.offer(dut.slot, "slot")
    for name in ("command", "mark"):
        h.m.d.comb += getattr(dut, name).ready.eq(h.free(1, f"{name}_ready"))
    taken, vertex = dut.neighbours.valid & dut.neighbours.ready, dut.neighbours.payload
    new = h.net(taken & ~vertex.word[0], "new")
    expands = h.net(new & vertex.word[1:32].any(), "expands")
    marked = h.net(dut.mark.valid & dut.mark.ready, "marked")
    queued = h.net(dut.command.valid & dut.command.ready, "queued")
    slot_taken = h.net(dut.slot.valid & dut.slot.ready, "slot_taken")
    unmarked = h.counter("unmarked", width=8, up=new, down=marked)
    unqueued = h.counter("unqueued", width=8, up=expands, down=slot_taken)
    marks, entries = part.part("marks"), part.part("entries")
    queue_counts(h, marks, "marks")
    queue_counts(h, entries, "entries")

    h.prove(marks.ports.level == unmarked, "every_new_vertex_is_marked_once")
    h.prove(dut.level == unqueued, "every_new_vertex_with_neighbours_takes_one_slot_and_no_other")
    h.prove(dut.demand == expands, "demands_a_slot_for_every_vertex_that_takes_one")
    kept = (marks.ports.input.payload == vertex.vertex) & (entries.ports.input.payload == vertex.word)
    h.prove(~new | kept, "number_and_word_are_kept")
    mark, entry = dut.mark.payload, dut.command.payload
    level = (mark.data == Cat(C(1, 1), dut.distance)) & (mark.base == dut.words) & (mark.size == SIZE_8)
    own = mark.index == marks.ports.output.payload
    h.prove(~dut.mark.valid | (level & own & mark.last), "marks_write_the_level_into_the_graph_word")
    word = (entry.data == entries.ports.output.payload) & (entry.base == dut.next_queue) & (entry.size == SIZE_8)
    place = entry.index == dut.slot.payload.number
    h.prove(~dut.command.valid | (word & place & entry.last), "entries_write_the_word_at_the_slot")
    h.prove(~slot_taken | (unqueued > 0), "takes_no_slot_without_a_vertex")
    h.prove(queued == (slot_taken & dut.slot.payload.fits), "an_entry_is_written_exactly_if_its_slot_fits")
    h.prove(dut.pushed == queued, "pushed_tells_of_every_entry")
    h.prove(dut.overflow == (slot_taken & ~dut.slot.payload.fits), "overflow_tells_of_every_entry_dropped")
    h.prove(dut.idle == (unmarked == 0) & (unqueued == 0), "idle_if_nothing_is_to_be_written")
    awaited = h.net((unmarked > 0) & ~dut.mark.valid, "awaited")
    stuck = h.waited("stuck", width=4, waiting=awaited)
    h.prove(~awaited | (stuck <= 1), "a_mark_waits_for_no_slot")
    h.invariant(~awaited | (stuck == 0) | marks.part("fifo").signal("r_rdy"), "what_is_awaited_comes_on")
    for name in ("command", "mark"):
        h.obeys_stream_rules(getattr(dut, name), name)
    return h


def forgets_who_it_was(self: MarkingVisitor, m: Module) -> None:
    """Keep no number for the mark."""
    m.d.comb += m.submodules.marks.input.payload.eq(0)


PROOFS = (
    Proof(
        name="marking-visitor",
        claim="Every new vertex is marked once with the level, independently of slots; it takes a slot exactly if it "
        "has neighbours, and is queued there, or reported as dropped if the slot does not fit.",
        harness=marking_visitor,
        broken=spoiled(
            f"{__name__}.MarkingVisitor",
            number_and_word_are_kept=forgets_who_it_was,
            marks_write_the_level_into_the_graph_word=changes("mark"),
            entries_write_the_word_at_the_slot=changes("command"),
        ),
    ),
)
