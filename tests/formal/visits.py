"""Proofs about visits: a kernel's indices in a queue, visits of new vertices whole or in chunks, and their marks."""

from functools import partial

from amaranth.hdl import C, Cat, Module, Mux
from amaranth.lib import data

from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.config import PRESETS
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from cyscc.hw.queue_reader import QueueReader
from tests.formal.harness import Harness
from tests.formal.proof import Proof, changes, spoiled
from tests.formal.watch import queue_counts

CHUNK = 4
STRIDE = PRESETS["test"].total_bfs_kernels
LAST = 2
"""The step of a visit that ends it: enqueue, mark, reach."""


def queue_reader() -> Harness:
    """Return the harness of `QueueReader`: any count and number, started again whenever it has finished."""
    h = Harness()
    part = h.add("dut", QueueReader(stride=STRIDE))
    dut = part.ports
    count, first, start = h.free(32, "count"), h.free(32, "first"), h.free(1, "start")
    h.m.d.comb += [
        dut.count.eq(count),
        dut.first.eq(first),
        dut.start.eq(start),
        dut.index.ready.eq(h.free(1, "ready")),
    ]
    h.assume(~start | (dut.finished & ~h.first), "starts_when_finished")
    h.assume((dut.finished & ~start) | h.steady(count, "count"), "count_is_steady_from_a_cycle_before_the_start")
    due = h.register(34, "due")
    running = h.flag("running", set=start, clear=0)
    of_run = h.register(32, "count_of_run")
    with h.m.If(start):
        h.m.d.sync += [due.eq(first), of_run.eq(count)]
    with h.m.Elif(dut.index.valid & dut.index.ready):
        h.m.d.sync += due.eq(due + STRIDE)
    h.prove(~dut.index.valid | ((dut.index.payload == due) & (due < of_run)), "indices_are_its_own_and_below_the_count")
    h.prove(~running | ~dut.finished | (due >= of_run), "finished_only_when_no_index_is_left")
    h.prove(dut.finished != dut.index.valid, "an_index_is_offered_until_finished")
    h.obeys_stream_rules(dut.index, "index")
    ahead = part.signal("ahead")
    h.invariant(dut.finished | (ahead == of_run - 1 - due), "what_is_ahead_is_counted")
    h.invariant(running | dut.finished, "nothing_before_the_first_start")
    h.invariant(h.first | (part.signal("beyond") == h.past(count, "count_before") - 1), "the_count_is_known")
    return h


def visitor(*, chunk: int) -> Harness:
    """Return the harness of `Visitor`: any neighbours or pieces, and a slot for each that it queued.

    Parameters
    ----------
    chunk : int
        Neighbours of a chunk; 0 if vertices come whole.
    """
    h = Harness()
    part = h.add("dut", Visitor(depth=4, chunk=chunk))
    dut = part.ports
    h.drive(h.constant, dut, "next_queue", "words", "reach_queue")
    h.offer(dut.neighbours, "neighbours")
    h.offer(dut.slot, "slot")
    h.m.d.comb += dut.command.ready.eq(h.free(1, "ready"))
    command, slot = dut.command.payload, dut.slot.payload
    granted = h.net(dut.command.valid & dut.command.ready, "granted")
    slot_taken = h.net(dut.slot.valid & dut.slot.ready, "slot_taken")
    held = h.counter("held", width=8, up=dut.demand, down=slot_taken)
    writes = h.counter("writes", width=2, up=granted, clear=slot_taken)
    fifo = part.part("fifo")
    head = fifo.ports.output.payload
    further, more = (head.further, head.more) if chunk else (C(0, 1), C(0, 1))
    queue_counts(h, fifo, "fifo")
    h.invariant(fifo.ports.level == held, "the_queue_has_what_was_demanded")
    step = Mux(further & (writes == 1), LAST, writes)
    h.invariant(part.signal("step") == step, "the_step_counts_the_writes")
    begun = dut.slot.valid & slot.fits & fifo.ports.output.valid
    h.invariant(writes <= Mux(further, LAST - 1, LAST), "at_most_two_writes_are_behind")
    h.invariant((writes == 0) | begun, "what_was_begun_is_there")
    h.prove(dut.idle == (held == 0), "idle_if_every_demand_has_its_slot")
    h.prove(~slot_taken | (held > 0), "takes_no_slot_without_a_piece")
    whole = h.net((writes == Mux(further, LAST - 1, LAST)) & granted, "whole")
    h.prove(~slot_taken | Mux(slot.fits, whole, writes == 0), "a_piece_is_written_as_a_whole_or_not_at_all")
    h.prove(dut.overflow == (slot_taken & ~slot.fits), "overflow_tells_of_every_piece_dropped")
    taken = dut.neighbours.valid & dut.neighbours.ready
    h.prove(dut.demand == (taken & ~dut.neighbours.payload.word[0]), "demands_a_slot_for_every_new_piece")
    word = data.View(GraphWord, head.word)
    entry = Cat(word.visited, Mux(more, C(CHUNK, 31), word.degree), word.start)
    queues = (command.base == dut.next_queue) & (command.index == slot.number) & (command.data == entry)
    h.prove(~granted | (writes != 0) | queues, "the_first_write_queues_the_chunk")
    marked = (command.base == dut.words) & (command.index == head.vertex) & (command.data == (head.word | 1))
    h.prove(~granted | (writes != 1) | further | marked, "the_first_piece_marks_the_vertex")
    reached = (command.base == dut.reach_queue) & (command.index == slot.number) & (command.data == head.vertex)
    h.prove(~whole | reached, "the_last_write_is_the_vertex_s_id_at_the_slot")
    h.prove(~granted | (command.last == whole), "the_last_write_ends_the_group")
    h.prove(~granted | ((command.size == SIZE_4) == whole), "sizes_are_those_of_the_arrays")
    h.obeys_stream_rules(dut.command, "command")
    return h


def splitter() -> Harness:
    """Return the harness of `ChunkSplitter`: any vertices, of any degrees.

    A piece stands for the neighbours from its start on, as many as a chunk has, or all that are left. What is left
    after it is reckoned from the pieces themselves.
    """
    h = Harness()
    part = h.add("dut", ChunkSplitter(chunk=CHUNK))
    dut = part.ports
    h.offer(dut.neighbours, "neighbours")
    h.m.d.comb += dut.pieces.ready.eq(h.free(1, "ready"))
    taken = h.net(dut.neighbours.valid & dut.neighbours.ready, "taken")
    passed = h.net(dut.pieces.valid & dut.pieces.ready, "passed")
    piece = dut.pieces.payload
    word = data.View(GraphWord, piece.word)
    left, start, vertex = h.register(31, "left"), h.register(32, "start"), h.register(32, "vertex")
    open_ = h.register(1, "open")
    whole = h.net(word.visited | (word.degree <= CHUNK), "is_the_last_piece")
    with h.m.If(passed):
        h.m.d.sync += [
            open_.eq(~whole),
            left.eq(word.degree - CHUNK),
            start.eq(word.start + CHUNK),
            vertex.eq(piece.vertex),
        ]
    of_vertex = Cat(piece.word, piece.vertex) == Cat(dut.neighbours.payload.word, dut.neighbours.payload.vertex)
    goes_on = ~word.visited & (word.start == start) & (word.degree == left) & (piece.vertex == vertex)
    h.prove(taken == (passed & ~open_), "the_first_piece_takes_its_vertex")
    h.prove(~dut.pieces.valid | open_ | of_vertex, "the_first_piece_has_the_vertex_s_word")
    h.prove(~dut.pieces.valid | ~open_ | goes_on, "a_further_piece_begins_where_the_last_chunk_ended")
    h.prove(~open_ | (dut.pieces.valid & (left > 0)), "what_is_left_is_offered")
    h.prove(~dut.pieces.valid | (piece.more != whole), "more_says_that_neighbours_are_left")
    h.prove(~dut.pieces.valid | (piece.further == open_), "further_says_that_it_is_not_the_first")
    h.prove(~dut.neighbours.valid | dut.pieces.valid, "a_vertex_is_offered_at_once")
    h.prove(dut.idle == ~open_, "idle_if_no_piece_is_left")
    h.obeys_stream_rules(dut.pieces, "pieces")
    h.invariant(part.signal("busy") == open_, "busy_while_pieces_are_left")
    kept = Cat(part.signal("start"), part.signal("degree"), part.signal("vertex")) == Cat(start, left, vertex)
    h.invariant(~open_ | kept, "the_rest_is_kept")
    return h


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
        name="queue-reader",
        claim="A kernel reads exactly the indices of its share below the count, in order.",
        harness=queue_reader,
    ),
    Proof(
        name="visitor",
        claim="Every new vertex demands one slot and takes one; its writes are made completely or not at all, and a "
        "dropped vertex is reported.",
        harness=partial(visitor, chunk=0),
    ),
    Proof(
        name="chunk-splitter",
        claim="The chunks of a new vertex are its whole list of neighbours, in order: none is lost or repeated.",
        harness=splitter,
    ),
    Proof(
        name="visitor-of-chunks",
        claim="Every new piece takes one slot, where its chunk and its vertex's id are written, and the first one "
        "marks the vertex; a dropped piece is reported.",
        harness=partial(visitor, chunk=CHUNK),
    ),
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
