"""The CyGraph BFS kernel: one share of a level of a breadth-first search (Attia et al. 2015, section 5.2, figure 4)."""

from functools import reduce
from operator import and_
from types import MappingProxyType

from amaranth.hdl import C, Elaboratable, Signal
from amaranth.lib import data
from amaranth.lib.wiring import connect

from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.marking_visitor import MarkingVisitor
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.bfs.visitor import Step, Visitor
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.kernel import BaseKernel, Fifo
from cyscc.hw.registers import Counter, KernelWord, Register
from cyscc.hw.request_mux import READ, WRITE

__all__ = ["BfsCredits", "BfsReservation", "BfsState", "Kernel"]

BfsState = data.StructLayout(
    {
        "done": 1,
        "started": 1,
        "frontier_idle": 1,
        "neighbours_idle": 1,
        "words_idle": 1,
        "visitor_idle": 1,
        "slots_idle": 1,
        "requests_idle": 1,
        "error": 1,
        "read_stalled": 1,
        "write_stalled": 1,
        "slot_awaited": 1,
        "visits": 10,
    }
)
"""Status word `KernelWord.STATE` of a BFS kernel."""

BfsCredits = data.StructLayout({"frontier": 10, "neighbours": 10, "words": 10})
"""Status word `KernelWord.CREDITS` of a BFS kernel: free places."""

BfsReservation = data.StructLayout({"demanded": 10, "reserved": 10})
"""Status word `KernelWord.RESERVATION` of a BFS kernel."""


class Kernel(BaseKernel):
    """Processes 1 to 4 with their multiplexer, decoder and slot allocator.

    In a machine that only searches (`config.bfs_only`), process 4 is `MarkingVisitor`, and otherwise `Visitor`. With
    `config.remembered_ids`, a `CopyFilter` stands between processes 2 and 3.

    Work is counted by credits: a credit is given back only after what it stood for has taken its place in the next
    process, so "all idle" cannot be seen while anything is under way.

    Parameters and members are those of `cyscc.hw.kernel.BaseKernel`.

    Attributes
    ----------
    READS_PER_ENTRY, READS_PER_EDGE, WRITES_PER_VISIT : int
        Requests for an entry of the current queue, for an edge (one if its id is dropped by a filter), and for a vertex
        pushed (where the machine only searches, a write to mark a vertex, and another if it has neighbours).
    """

    READS_PER_ENTRY = 1
    READS_PER_EDGE = 2
    WRITES_PER_VISIT = len(Step)

    PARAMETERS = (
        Register.WORDS,
        Register.NEIGHBOURS,
        Register.CURRENT_QUEUE,
        Register.NEXT_QUEUE,
        Register.REACH_QUEUE,
        Register.CURRENT_COUNT,
        Register.CAPACITY,
    )
    WORDS = MappingProxyType(
        {KernelWord.STATE: BfsState, KernelWord.CREDITS: BfsCredits, KernelWord.RESERVATION: BfsReservation}
    )

    @classmethod
    def fifos(cls, config: AcceleratorConfig) -> tuple[Fifo, ...]:
        """Return the FIFOs of a kernel, in the order of its output `fill`."""
        found = (
            Fifo("frontier", "frontier_depth", Cause.ISSUE_1),
            Fifo("neighbours", "neighbour_depth", Cause.ISSUE_2),
            Fifo("words", "word_depth", Cause.ISSUE_3),
            Fifo("visits", "visit_depth"),
        )
        return (*found, Fifo("marks", "visit_depth")) if config.bfs_only else found

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the processes."""
        m, control = self._begin()
        config = self._config
        m.submodules.frontier_reader = frontier = FrontierReader(
            depth=config.frontier_depth, stride=config.total_bfs_kernels, instrument=self._instrument
        )
        m.submodules.neighbour_reader = neighbour = NeighbourReader(
            depth=config.neighbour_depth, instrument=self._instrument
        )
        m.submodules.word_reader = word = WordReader(depth=config.word_depth, instrument=self._instrument)
        visitor: Visitor | MarkingVisitor
        if config.bfs_only:
            visitor = MarkingVisitor(depth=config.visit_depth, instrument=self._instrument)
        else:
            visitor = Visitor(depth=config.visit_depth)
        m.submodules.visitor = visitor
        m.submodules.allocator = allocator = SlotAllocator(
            depth=config.visit_depth, blocking=config.blocking_reservation
        )
        mux = self._add_port(
            m,
            control,
            allocator,
            sources=[READ, READ, READ, WRITE] + [WRITE] * config.bfs_only,
            commands=(frontier.command, neighbour.command, word.command, visitor.command),
            answers={
                Tag.FRONTIER_WORD: frontier.response,
                Tag.NEIGHBOUR_ID: neighbour.response,
                Tag.NEIGHBOUR_WORD: word.response,
            },
        )
        connect(m, frontier.words, neighbour.words)
        neighbours: tuple[NeighbourReader | CopyFilter, ...] = (neighbour,)
        if config.remembered_ids:
            m.submodules.copy_filter = copies = CopyFilter(depth=config.remembered_ids)
            connect(m, neighbour.ids, copies.ids)
            connect(m, copies.fresh, word.ids)
            m.d.comb += copies.start.eq(control.start)
            neighbours = (neighbour, copies)
        else:
            connect(m, neighbour.ids, word.ids)
        connect(m, word.neighbours, visitor.neighbours)
        connect(m, allocator.slot, visitor.slot)

        if isinstance(visitor, MarkingVisitor):
            connect(m, visitor.mark, mux.source4)
            # The register of the reach queue's address holds the level in this machine.
            m.d.comb += visitor.distance.eq(control.register_reach_queue)
            chosen_first = visitor.marking
        else:
            m.d.comb += visitor.reach_queue.eq(control.register_reach_queue)
            chosen_first = C(0)
        if config.blocking_reservation:
            held = Signal()
            m.d.comb += mux.hold.eq(held & ~allocator.slot.valid)
            # The published multiplexer selects its next request before it knows that the last slot is used up: it then
            # takes a waiting vertex, which blocks all other requests.
            with m.If(visitor.pushed & ~allocator.reserved.any() & (visitor.level > 1) & ~chosen_first):
                m.d.sync += held.eq(1)
            with m.Elif((visitor.command.valid & visitor.command.ready) | visitor.overflow):
                m.d.sync += held.eq(0)
        m.d.comb += [
            frontier.current_queue.eq(control.register_current_queue),
            frontier.count.eq(control.register_current_count),
            frontier.first.eq(control.number),
            frontier.start.eq(control.start),
            neighbour.neighbours.eq(control.register_neighbours),
            word.words.eq(control.register_words),
            visitor.words.eq(control.register_words),
            visitor.next_queue.eq(control.register_next_queue),
            allocator.capacity.eq(control.register_capacity),
            allocator.demand.eq(visitor.demand),
        ]
        processes = (frontier, *neighbours, word, visitor, allocator)
        events = {
            Counter.ITEMS: visitor.neighbours.valid & visitor.neighbours.ready,
            Counter.PUSHED: visitor.pushed,
        }
        status = {
            KernelWord.STATE: {
                "frontier_idle": frontier.idle,
                "neighbours_idle": reduce(and_, [part.idle for part in neighbours]),
                "words_idle": word.idle,
                "visitor_idle": visitor.idle,
                "slots_idle": allocator.idle,
                "slot_awaited": visitor.waiting,
                "visits": visitor.level,
            },
            KernelWord.CREDITS: {
                "frontier": frontier.credits,
                "neighbours": neighbour.credits,
                "words": word.credits,
            },
            KernelWord.RESERVATION: {"demanded": allocator.demanded, "reserved": allocator.reserved},
        }
        reasons = {Cause.SLOT: visitor.waiting}
        self._report(m, control, mux, allocator, processes, events=events, status=status, reasons=reasons)
        if self._instrument:
            self._show_fill(
                m,
                {
                    "frontier": frontier.fill,
                    "neighbours": neighbour.fill,
                    "words": word.fill,
                    "visits": visitor.level,
                    **({"marks": visitor.fill} if isinstance(visitor, MarkingVisitor) else {}),
                },
            )
        return m
