"""Proofs about visits that write ids in pairs: each id once, at its slot, before the visitor is idle."""

from functools import partial

from amaranth.hdl import C, Cat, Mux, Value
from amaranth.lib import data

from cyscc.hw.bfs.lean_visitor import LeanVisitor
from cyscc.hw.bfs.visitor import Step
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import SIZE_8
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.visits import CHUNK
from tests.formal.watch import outlast, queue_counts


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
    h = Harness()
    part = h.add("dut", LeanVisitor(depth=4, chunk=chunk))
    dut = part.ports
    h.drive(h.constant, dut, "next_queue", "words", "reach_queue")
    h.assume(dut.reach_queue[:2] == 0, "the_reach_queue_is_of_ids")
    h.offer(dut.neighbours, "neighbours")
    h.offer(dut.slot, "slot")
    h.m.d.comb += dut.command.ready.eq(h.free(1, "ready"))
    command, slot = dut.command.payload, dut.slot.payload
    granted = h.net(dut.command.valid & dut.command.ready, "granted")
    slot_taken = h.net(dut.slot.valid & dut.slot.ready, "slot_taken")
    held = h.counter("held", width=8, up=dut.demand, down=slot_taken)
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
