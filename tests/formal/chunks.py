"""Proof about vertices in chunks: no chunk is lost or repeated, from the vertex to the writes of its pieces."""

from amaranth.hdl import C, Cat, Mux
from amaranth.lib import data

from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import SIZE_4
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import queue_counts

CHUNK = 4
LAST = 2
"""The step of a visit that ends it: enqueue, mark, reach."""


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


def visitor() -> Harness:
    """Return the harness of a `Visitor` of pieces: any pieces, and a slot for each that it queued."""
    h = Harness()
    part = h.add("dut", Visitor(depth=4, chunk=CHUNK))
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
    queue_counts(h, fifo, "fifo")
    h.invariant(fifo.ports.level == held, "the_queue_has_what_was_demanded")
    step = Mux(head.further & (writes == 1), LAST, writes)
    h.invariant(part.signal("step") == step, "the_step_counts_the_writes")
    begun = dut.slot.valid & slot.fits & fifo.ports.output.valid
    h.invariant(writes <= Mux(head.further, LAST - 1, LAST), "at_most_two_writes_are_behind")
    h.invariant((writes == 0) | begun, "what_was_begun_is_there")
    h.prove(dut.idle == (held == 0), "idle_if_every_demand_has_its_slot")
    h.prove(~slot_taken | (held > 0), "takes_no_slot_without_a_piece")
    whole = h.net((writes == Mux(head.further, LAST - 1, LAST)) & granted, "whole")
    h.prove(~slot_taken | Mux(slot.fits, whole, writes == 0), "a_piece_is_written_as_a_whole_or_not_at_all")
    h.prove(dut.overflow == (slot_taken & ~slot.fits), "overflow_tells_of_every_piece_dropped")
    taken = dut.neighbours.valid & dut.neighbours.ready
    h.prove(dut.demand == (taken & ~dut.neighbours.payload.word[0]), "demands_a_slot_for_every_new_piece")
    word = data.View(GraphWord, head.word)
    entry = Cat(word.visited, Mux(head.more, C(CHUNK, 31), word.degree), word.start)
    queues = (command.base == dut.next_queue) & (command.index == slot.number) & (command.data == entry)
    h.prove(~granted | (writes != 0) | queues, "the_first_write_queues_the_chunk")
    marked = (command.base == dut.words) & (command.index == head.vertex) & (command.data == (head.word | 1))
    h.prove(~granted | (writes != 1) | head.further | marked, "the_first_piece_marks_the_vertex")
    reached = (command.base == dut.reach_queue) & (command.index == slot.number) & (command.data == head.vertex)
    h.prove(~whole | reached, "the_last_write_is_the_vertex_s_id_at_the_slot")
    h.prove(~granted | (command.last == whole), "the_last_write_ends_the_group")
    h.prove(~granted | ((command.size == SIZE_4) == whole), "sizes_are_those_of_the_arrays")
    h.obeys_stream_rules(dut.command, "command")
    return h


PROOFS = (
    Proof(
        name="chunk-splitter",
        claim="The chunks of a new vertex are its whole list of neighbours, in order: none is lost or repeated.",
        harness=splitter,
    ),
    Proof(
        name="visitor-of-chunks",
        claim="Every new piece takes one slot, where its chunk and its vertex's id are written, and the first one "
        "marks the vertex; a dropped piece is reported.",
        harness=visitor,
    ),
)
