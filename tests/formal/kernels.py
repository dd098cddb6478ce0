"""Harnesses and proofs of whole kernels."""

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Value
from amaranth.lib import data

from cyscc.hw.address_generator import ReadCommand
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ChainOp
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.intersection.colour_reader import Step
from cyscc.hw.kernel_control import Phase
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import queue_counts

CONFIG = PRESETS["test"].replace(engines=1, neighbour_depth=4, word_depth=4, colour_depth=4)
PUBLISHED = CONFIG.replace(issue_interval=2, blocking_reservation=True)
SEARCHING = PUBLISHED.replace(bfs_only=True)
FETCHING = PUBLISHED.replace(queued_requests=4)
FILTERING = CONFIG.replace(remembered_ids=8)


class _Kernel(Harness):
    """A kernel between a memory that answers when it likes and a master that starts it when it is idle.

    Parameters
    ----------
    kernel : Component
        The kernel.
    tags : int
        Tags that its reads bear.

    Members
    -------
    part : Part
        The kernel.
    asked : list of Value
        By tag, requests that were granted and not answered.
    nothing : list of Value
        Conditions that are to hold when nothing is outstanding.
    """

    def __init__(self, kernel: Any, *, tags: int) -> None:
        super().__init__()
        self.part = self.add("dut", kernel)
        self.dut = dut = self.part.ports
        for stream in (dut.chain_in, dut.token_in):
            name = "chain" if stream is dut.chain_in else "token"
            self.feed(stream, f"{name}_valid", name)
        self.m.d.comb += [
            dut.port.read.ready.eq(self.free(1, "read_ready")),
            dut.port.write.ready.eq(self.free(1, "write_ready")),
            dut.port.response.valid.eq(self.free(1, "response_valid")),
            dut.port.response.payload.eq(self.free(dut.port.response.payload.shape(), "response")),
            dut.port.flushed.eq(self.free(1, "flushed")),
        ]
        self.asked = [self._reads(tag, known=tag < tags) for tag in range(4)]
        self.nothing = [Cat(*self.asked) == 0, ~self.part.part("mux").ports.busy]
        for channel in ("read", "write"):
            self.obeys_stream_rules(getattr(dut.port, channel), f"port_{channel}")
        control = self.part.part("control")
        self.control = control.ports
        self.phase, self.begin = control.signal("phase"), control.signal("begin")
        op = dut.chain_in.payload.op
        sets = dut.chain_in.valid & ((op == ChainOp.START) | (op == ChainOp.WRITE))
        busy = self.control.start | self.begin | self.control.busy
        self.assume(~sets | ~busy, "set_and_started_only_while_idle")

    def _reads(self, tag: int, *, known: bool) -> Value:
        """Account for the reads of a tag; return how many are on their way to the port or outstanding."""
        port = self.dut.port
        requested = port.read.valid & port.read.ready & (port.read.payload.tag == tag)
        answered = port.response.valid & (port.response.payload.tag == tag)
        outstanding = self.counter(f"outstanding{tag}", width=8, up=requested, down=answered)
        self.assume(~answered | (outstanding > 0), f"answers{tag}_only_to_requests")
        generator = self.part.part("mux.read_address")
        staged = data.View(ReadCommand, generator.signal("staged__payload"))
        inside = (generator.signal("staged__valid") & (staged.tag == tag)) + (
            port.read.valid & (port.read.payload.tag == tag)
        )
        asked = self.net(outstanding + inside, f"asked{tag}")
        if not known:
            self.invariant(asked == 0, f"no_read_has_tag_{tag}")
        return asked

    def queue(self, path: str, *, missing: Any, held: Any) -> None:
        """Claim that a queue has room for every entry, and that its level is `held` less what is missing."""
        part = self.part.part(path)
        name = path.replace(".", "_")
        queue_counts(self, part, name)
        self.invariant(part.ports.level + missing == held, f"{name}_has_what_has_come")
        self.prove(~part.ports.input.valid | part.ports.input.ready, f"{name}_has_a_place_for_what_comes")
        self.nothing.append(part.ports.level == 0)

    def held(self, path: str) -> Value:
        """Return the places that a process has promised."""
        credits = self.part.part(f"{path}.credits").ports
        self.invariant(credits.count <= credits.depth, f"{path}_credits_within_depth")
        return credits.depth - credits.count

    def fetching(self, *asked: Value) -> list[Any]:
        """Account for what takes from FIFOs; return reads asked for, and those that wait for the multiplexer."""
        self.nothing.append(~self.part.part("fetcher").ports.fetched.valid)
        self.invariant(
            self.part.part("frontier_reader").signal("late_start") == self.begin, "starts_late_as_the_processes_begin"
        )
        outstanding = []
        for path, reads in zip(("frontier_requests", "neighbour_requests"), asked, strict=True):
            fifo = self.part.part(f"{path}.fifo")
            queue_counts(self, fifo, path)
            self.nothing.append(fifo.ports.level == 0)
            outstanding.append(reads + fifo.ports.level)
        return outstanding

    def ends_with_nothing_outstanding(self) -> None:
        """Claim that the kernel flushes and is done only when nothing is outstanding."""
        control, phase = self.control, self.phase
        port = self.dut.port
        nothing = self.net(Cat(*(Value.cast(condition).bool() for condition in self.nothing)).all(), "nothing")
        pending = self.flag("flush_pending", set=port.flush & ~port.flushed, clear=port.flushed)
        self.assume(~port.flushed | port.flush | pending, "flushed_only_when_asked")
        written = port.write.valid & port.write.ready
        unflushed = self.flag("unflushed", set=written, clear=port.flushed & (port.flush | pending))
        self.prove(~port.flush | nothing, "flushes_only_with_nothing_outstanding")
        self.prove(~(port.flush | pending) | ~port.write.valid, "no_write_leaves_while_it_flushes")
        self.prove(~self.dut.done | nothing | control.start | self.begin, "done_only_with_nothing_outstanding")
        self.prove(~self.dut.done | ~unflushed, "done_only_after_the_last_write_is_flushed")
        waiting = phase == Phase.FLUSH
        self.invariant((port.flush | pending) == waiting, "flush_is_asked_once")
        self.invariant((phase == Phase.RUN) | self.begin | nothing, "nothing_is_outstanding_between_runs")
        self.invariant(~self.dut.done | (phase == Phase.IDLE) & ~self.begin, "done_is_idle")
        self.invariant(~(control.start | self.begin) | (phase == Phase.IDLE), "starts_from_idle")
        self.invariant(~(control.start & self.begin), "starts_once")
        self.invariant(waiting | (phase == Phase.RUN) | self.begin | ~unflushed, "nothing_is_unflushed_between_runs")


def bfs_kernel(config: AcceleratorConfig) -> _Kernel:
    """Return the harness of the BFS kernel."""
    h = _Kernel(BfsKernel(config), tags=3)
    frontier, neighbour, word = (h.held(name) for name in ("frontier_reader", "neighbour_reader", "word_reader"))
    first, second = h.asked[:2]
    if config.queued_requests:
        first, second = h.fetching(first, second)
    h.queue("frontier_reader.fifo", missing=first, held=frontier)
    h.queue("neighbour_reader.fifo", missing=second, held=neighbour)
    h.queue("word_reader.word_fifo", missing=h.asked[2], held=word)
    h.queue("word_reader.id_fifo", missing=0, held=word)
    allocator = h.part.part("allocator")
    station = allocator.ports
    slots = station.demanded + allocator.signal("booked") + station.reserved + station.slot.valid
    if config.blocking_reservation:
        h.invariant(allocator.signal("booked") == 0, "books_nothing_ahead")
    if config.bfs_only:
        marks = h.part.part("visitor.marks")
        queue_counts(h, marks, "visitor_marks")
        h.nothing.append(marks.ports.level == 0)
    queue = "entries" if config.bfs_only else "fifo"
    visits = h.part.part(f"visitor.{queue}")
    queue_counts(h, visits, f"visitor_{queue}")
    h.prove(visits.ports.level == slots, "every_vertex_queued_has_a_demand_or_a_slot")
    reader = h.part.part("neighbour_reader")
    if config.remembered_ids:
        copies = h.part.part("copy_filter")
        h.nothing += [~copies.signal("held"), ~copies.ports.fresh.valid]
        h.invariant(~copies.signal("waiting") | copies.ports.fresh.valid, "copy_filter_waits_behind_its_output")
    h.nothing += [
        h.part.part("frontier_reader.reader").ports.finished,
        ~reader.signal("decoded"),
        reader.signal("ahead") < 0,
        visits.ports.level == 0,
        slots == 0,
    ]
    h.ends_with_nothing_outstanding()
    return h


def intersection_kernel(config: AcceleratorConfig) -> _Kernel:
    """Return the harness of the intersection kernel."""
    h = _Kernel(IntersectionKernel(config), tags=4)
    reach, colour, own = (h.held(name) for name in ("reach_reader", "colour_reader", "classifier"))
    part = h.part.part("colour_reader")
    second, joined = part.signal("step") == Step.WORD, part.ports.candidates.valid
    h.queue("reach_reader.id_fifo", missing=h.asked[0], held=reach)
    h.queue("reach_reader.direction_fifo", missing=0, held=reach)
    h.queue("colour_reader.colour_fifo", missing=h.asked[1] + joined, held=colour)
    h.queue("colour_reader.word_fifo", missing=h.asked[2] + joined + second, held=colour)
    h.queue("colour_reader.entry_fifo", missing=joined + second, held=colour)
    h.queue("classifier.word_fifo", missing=h.asked[3], held=own)
    h.queue("classifier.entry_fifo", missing=0, held=own)
    h.nothing += [
        h.part.part("reach_reader.forward").ports.finished,
        h.part.part("reach_reader.backward").ports.finished,
        ~second,
        ~joined,
    ]
    h.ends_with_nothing_outstanding()
    return h


_CLAIM = (
    "A run is flushed and done only when every read is answered, every queue is empty, no slot is demanded or "
    "reserved, and every write was sent; every response has its reserved place; the ports obey the stream rules."
)

_BFS = {"": CONFIG, "-published": PUBLISHED, "-searching": SEARCHING, "-fetching": FETCHING, "-filtering": FILTERING}
"""Configurations of BFS kernels, by the ends of their proofs' names."""

PROOFS = (
    *(
        Proof(name=f"bfs-kernel{suffix}", claim=_CLAIM, harness=partial(bfs_kernel, config), depth=1)
        for suffix, config in _BFS.items()
    ),
    Proof(
        name="intersection-kernel",
        claim=_CLAIM,
        harness=partial(intersection_kernel, CONFIG),
        depth=1,
        reach=30,
    ),
    Proof(
        name="intersection-kernel-published",
        claim=_CLAIM,
        harness=partial(intersection_kernel, PUBLISHED),
        depth=1,
    ),
)
