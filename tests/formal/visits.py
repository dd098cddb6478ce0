"""Proofs about visits: indices in a queue, visits of new vertices whole or in chunks, their marks, and ids by two."""

from functools import partial

from amaranth.hdl import C, Cat, Mux, Value
from amaranth.lib import data

from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.lean_visitor import LeanVisitor
from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.bfs.visitor import Step, Visitor
from cyscc.hw.config import PRESETS
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import SIZE_4, SIZE_8
from cyscc.hw.queue_reader import QueueReader
from tests.formal.harness import Harness, opened
from tests.formal.proof import Proof
from tests.formal.watch import outlast, queue_counts

CHUNK = 4
STRIDE = PRESETS["test"].total_bfs_kernels
LAST = 2
"""The step of a visit that ends it: enqueue, mark, reach."""


def queue_reader() -> Harness:
    """Return the harness of `QueueReader`: any count and number, started again whenever it has finished.

    Claim: A kernel reads exactly the indices of its share below the count, in order.
    """
    h, part, dut = opened(QueueReader(stride=STRIDE))
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


def _demanding(h: Harness, dut: Visitor | LeanVisitor) -> tuple[Value, Value, Value]:
    """Let neighbours and slots come and commands go at any time; return a grant, a slot taken, and slots demanded."""
    h.offer(dut.neighbours, "neighbours")
    h.offer(dut.slot, "slot")
    h.m.d.comb += dut.command.ready.eq(h.free(1, "ready"))
    granted = h.net(dut.command.valid & dut.command.ready, "granted")
    slot_taken = h.net(dut.slot.valid & dut.slot.ready, "slot_taken")
    return granted, slot_taken, h.counter("held", width=8, up=dut.demand, down=slot_taken)


def visitor(*, chunk: int) -> Harness:
    """Return the harness of `Visitor`: any neighbours or pieces, and a slot for each that it queued.

    Parameters
    ----------
    chunk : int
        Neighbours of a chunk; 0 if vertices come whole.
    """
    h, part, dut = opened(Visitor(depth=4, chunk=chunk), constant=["next_queue", "words", "reach_queue"])
    command, slot = dut.command.payload, dut.slot.payload
    granted, slot_taken, held = _demanding(h, dut)
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

    Claim: The chunks of a new vertex are its whole list of neighbours, in order: none is lost or repeated.

    A piece stands for the neighbours from its start on, as many as a chunk has, or all that are left. What is left
    after it is reckoned from the pieces themselves.
    """
    h, part, dut = opened(ChunkSplitter(chunk=CHUNK))
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

    Claim: Every new vertex is marked once with the level, independently of slots; it takes a slot exactly if it has
    neighbours, and is queued there, or reported as dropped if the slot does not fit.

    It assumes that entries leave a queue in order, which the proof of `Queue` shows.
    """
    h, part, dut = opened(MarkingVisitor(depth=4), constant=["next_queue", "words", "distance"])
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


def _address(base: Value, index: Value, size: int) -> Value:
    """Return the address of an element of `size` bytes."""
    return (base + index * size)[: len(base)]


def lean_visitor(*, chunk: int) -> Harness:
    """Return the harness of `LeanVisitor`: any neighbours or pieces, and a slot for each that it queued.

    The harness keeps its own account of what is still to be written: of the visit in progress, and of the ids whose
    visits have ended. Each write must be one of these, and is then struck off. It compares addresses, since a pair's
    base is not that of the reach queue. As with `marking_visitor`, the proof of `Queue` shows that vertices leave it in
    order.

    Parameters
    ----------
    chunk : int
        Neighbours of a chunk; 0 if vertices come whole.
    """
    h, part, dut = opened(LeanVisitor(depth=4, chunk=chunk), constant=["next_queue", "words", "reach_queue"])
    h.assume(dut.reach_queue[:2] == 0, "the_reach_queue_is_of_ids")
    command, slot = dut.command.payload, dut.slot.payload
    granted, slot_taken, held = _demanding(h, dut)
    h.assume(~dut.slot.valid | (held > 0), "a_slot_comes_on_demand")
    h.assume(slot.number != (1 << 32) - 1, "fewer_slots_than_numbers")
    fifo = part.part("fifo")
    head, there = fifo.ports.output.payload, fifo.ports.output.valid
    further, more = (head.further, head.more) if chunk else (C(0, 1), C(0, 1))
    step, alone, kept, number, first, follows = (
        part.signal(name) for name in ("step", "alone", "kept", "number", "first", "follows")
    )

    # What is to be written still: of the visit in progress, and an id of one before.
    queued, marked = h.register(1, "entry_is_written"), h.register(1, "mark_is_written")
    open_, its_slot, its_id = h.register(1, "an_id_is_open"), h.register(32, "slot_of_open"), h.register(32, "open_id")
    entry = h.net(granted & ~alone & (step == Step.ENQUEUE), "writes_an_entry")
    mark = h.net(granted & ~alone & (step == Step.MARK), "writes_a_mark")
    ids = h.net(granted & ~entry & ~mark, "writes_ids")
    pair = h.net(ids & (command.size == SIZE_8), "writes_a_pair")
    single = h.net(ids & ~pair, "writes_one_id")
    own = h.net(ids & (pair | ~open_), "writes_its_own_id")
    h.m.d.sync += [
        queued.eq((queued | entry) & ~slot_taken),
        marked.eq((marked | mark) & ~slot_taken),
        open_.eq((open_ & ~ids) | (slot_taken & slot.fits & ~own)),
    ]
    with h.m.If(slot_taken):
        h.m.d.sync += [its_slot.eq(slot.number), its_id.eq(head.vertex)]

    visiting = there & dut.slot.valid & slot.fits
    last_before = queued & (marked | further)
    word = data.View(GraphWord, head.word)
    of_entry = Cat(word.visited, Mux(more, C(CHUNK, 31), word.degree), word.start)
    address = _address(command.base, command.index, 8)
    aligned = (address == _address(dut.next_queue, slot.number, 8)) & (command.size == SIZE_8)
    h.prove(~entry | (visiting & ~queued & aligned & (command.data == of_entry)), "an_entry_is_queued_at_its_slot_once")
    of_word = (address == _address(dut.words, head.vertex, 8)) & (command.size == SIZE_8)
    in_turn = visiting & queued & ~marked & ~further
    h.prove(~mark | (in_turn & of_word & (command.data == (head.word | 1))), "a_vertex_is_marked_once_in_its_word")
    place = _address(dut.reach_queue, Mux(open_, its_slot, slot.number), 4)
    known = command.data[:32] == Mux(open_, its_id, head.vertex)
    at_its_place = (_address(command.base, command.index, 4) == place) & known
    h.prove(~single | (open_ | (visiting & last_before)), "an_id_is_written_for_a_visit")
    h.prove(~single | at_its_place, "an_id_is_written_at_its_slot")
    both = command.data == Cat(its_id, head.vertex)
    h.prove(~pair | (open_ & visiting & last_before & both), "a_pair_is_the_id_that_was_kept_and_that_of_the_visit")
    h.prove(~pair | (slot.number == its_slot + 1), "a_pair_is_of_neighbouring_slots")
    h.prove(~pair | ((address == place) & (address[:3] == 0)), "a_pair_is_aligned_and_at_the_slot_of_the_first")
    h.prove(~own | slot_taken, "its_own_id_is_the_last_that_a_visit_writes")

    whole = (queued | entry) & (marked | mark | further)
    h.prove(~slot_taken | Mux(slot.fits, whole, ~queued & ~granted), "a_visit_is_made_as_a_whole_or_not_at_all")
    ends_open = slot_taken & slot.fits & ~own
    h.prove(~ends_open | ~open_ | ids, "one_id_is_kept_at_most")
    h.prove(dut.idle == ((held == 0) & ~open_), "idle_if_every_demand_has_its_slot_and_every_id_is_written")
    h.prove(~slot_taken | there, "takes_no_slot_without_a_vertex")
    h.prove(dut.overflow == (slot_taken & ~slot.fits), "overflow_tells_of_every_vertex_dropped")
    h.prove(dut.pushed == (slot_taken & slot.fits), "pushed_tells_of_every_vertex_visited")
    taken = dut.neighbours.valid & dut.neighbours.ready
    h.prove(dut.demand == (taken & ~dut.neighbours.payload.word[0]), "demands_a_slot_for_every_new_vertex")
    h.prove(~granted | (command.last == (slot_taken | (ids & ~queued))), "the_last_write_ends_the_group")
    h.obeys_stream_rules(dut.command, "command")
    outlast(h, "an_id_that_is_kept_waits_for_no_slot", waiting=open_ & ~dut.command.valid, cycles=2)
    resting = h.past(~dut.moving & ~granted, "resting")
    inside = Cat(step, alone, kept, there, dut.level, dut.idle)
    h.prove(~resting | h.steady(inside, "inside"), "rests_unless_moving")

    queue_counts(h, fifo, "fifo")
    h.invariant(fifo.ports.level == held, "the_queue_has_what_was_demanded")
    awaited = h.net((held > 0) & ~there, "awaited")
    stuck = h.waited("stuck", width=4, waiting=awaited)
    in_time = (stuck <= 1) & ((stuck == 0) | fifo.part("fifo").signal("r_rdy"))
    h.invariant(~awaited | in_time, "vertices_come_out_within_three_cycles")
    so_far = h.waited("idle_so_far", width=4, waiting=open_ & ~dut.command.valid)
    on_its_way = awaited & (stuck >= so_far) & dut.slot.valid
    h.invariant((so_far == 0) | ~open_ | dut.command.valid | on_its_way, "it_waits_for_a_vertex_with_a_slot")
    h.invariant(~open_ | (its_slot != (1 << 32) - 1), "there_is_a_slot_behind_it")
    h.invariant((kept == open_) & (~kept | (Cat(number, first) == Cat(its_slot, its_id))), "the_open_id_is_kept")
    h.invariant(~kept | (number[0] == dut.reach_queue[2]), "an_id_that_is_kept_is_the_first_half")
    h.invariant(~alone | (kept & (step == Step.ENQUEUE)), "it_is_written_alone_between_visits")
    at = Mux(queued, Mux(marked | further, Step.REACH, Step.MARK), Step.ENQUEUE)
    h.invariant(step == at, "the_step_counts_the_writes")
    h.invariant(~queued | visiting, "what_was_begun_is_there")
    h.invariant(~marked | (queued & ~further), "marked_after_it_was_queued")
    h.invariant(~(queued & kept) | (follows == (slot.number == number + 1)), "it_is_known_whether_it_follows")
    second = slot.number[0] != dut.reach_queue[2]
    h.invariant((step != Step.REACH) | kept | second, "only_a_second_half_is_written_with_none_before")
    return h


PROOFS = (
    Proof(name="queue-reader", harness=queue_reader),
    Proof(
        name="visitor",
        claim="Every new vertex demands one slot and takes one; its writes are made completely or not at all, and a "
        "dropped vertex is reported.",
        harness=partial(visitor, chunk=0),
    ),
    Proof(name="chunk-splitter", harness=splitter),
    Proof(
        name="visitor-of-chunks",
        claim="Every new piece takes one slot, where its chunk and its vertex's id are written, and the first one "
        "marks the vertex; a dropped piece is reported.",
        harness=partial(visitor, chunk=CHUNK),
    ),
    Proof(name="marking-visitor", harness=marking_visitor),
    Proof(
        name="lean-visitor",
        claim="Every new vertex demands one slot and takes one; if it fits, exactly one entry, one mark and one id are "
        "written, each at its address, and otherwise nothing; two ids are written at once only at neighbouring slots "
        "in 8 aligned bytes; an id that is kept is written before the visitor is idle, and waits for no slot.",
        harness=partial(lean_visitor, chunk=0),
    ),
    Proof(
        name="lean-visitor-of-chunks",
        claim="The same of pieces of vertices, of which only the first one marks the vertex.",
        harness=partial(lean_visitor, chunk=CHUNK),
    ),
)
