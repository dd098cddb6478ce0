"""Proofs about visits: a kernel's indices in a queue, and the visits of new vertices."""

from amaranth.hdl import Mux

from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.config import PRESETS
from cyscc.hw.interfaces import SIZE_4
from cyscc.hw.queue_reader import QueueReader
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import queue_counts

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


def visitor() -> Harness:
    """Return the harness of `Visitor`: any neighbours, and a slot for each vertex that it queued."""
    h = Harness()
    part = h.add("dut", Visitor(depth=4))
    dut = part.ports
    h.drive(h.constant, dut, "next_queue", "words", "reach_queue")
    h.offer(dut.neighbours, "neighbours")
    h.offer(dut.slot, "slot")
    h.m.d.comb += dut.command.ready.eq(h.free(1, "ready"))
    granted = h.net(dut.command.valid & dut.command.ready, "granted")
    slot_taken = h.net(dut.slot.valid & dut.slot.ready, "slot_taken")
    held = h.counter("held", width=8, up=dut.demand, down=slot_taken)
    writes = h.counter("writes", width=2, up=granted, clear=slot_taken)
    fifo = part.part("fifo")
    queue_counts(h, fifo, "fifo")
    h.invariant(fifo.ports.level == held, "the_queue_has_what_was_demanded")
    h.invariant(part.signal("step") == writes, "the_step_counts_the_writes")
    begun = dut.slot.valid & dut.slot.payload.fits & fifo.ports.output.valid
    h.invariant(writes <= LAST, "at_most_two_writes_are_behind")
    h.invariant((writes == 0) | begun, "what_was_begun_is_there")
    h.prove(dut.idle == (held == 0), "idle_if_every_demand_has_its_slot")
    h.prove(~slot_taken | (held > 0), "takes_no_slot_without_a_vertex")
    whole = (writes == LAST) & granted
    h.prove(
        ~slot_taken | Mux(dut.slot.payload.fits, whole, writes == 0), "a_vertex_is_written_as_a_whole_or_not_at_all"
    )
    h.prove(dut.overflow == (slot_taken & ~dut.slot.payload.fits), "overflow_tells_of_every_vertex_dropped")
    taken = dut.neighbours.valid & dut.neighbours.ready
    h.prove(dut.demand == (taken & ~dut.neighbours.payload.word[0]), "demands_a_slot_for_every_new_vertex")
    h.prove(~granted | (dut.command.payload.last == whole), "the_last_write_ends_the_group")
    h.prove(~granted | ((dut.command.payload.size == SIZE_4) == whole), "sizes_are_those_of_the_arrays")
    h.obeys_stream_rules(dut.command, "command")
    return h


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
        harness=visitor,
    ),
)
