"""The CyGraph BFS kernel: one share of a level of a breadth-first search (Attia et al. 2015, section 5.2, figure 4)."""

from amaranth.hdl import C, Elaboratable, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect, flipped

from hw.bfs.frontier_reader import FrontierReader
from hw.bfs.marking_visitor import MarkingVisitor
from hw.bfs.neighbour_reader import NeighbourReader
from hw.bfs.slot_allocator import SlotAllocator
from hw.bfs.tags import Tag
from hw.bfs.visitor import Visitor
from hw.bfs.word_reader import WordReader
from hw.causes import Cause
from hw.config import AcceleratorConfig
from hw.interfaces import KernelSignature
from hw.kernel_control import KernelControl
from hw.registers import Counter, Register
from hw.request_mux import READ, WRITE, RequestMux
from hw.response_decoder import ResponseDecoder

__all__ = ["PARAMETERS", "BfsCredits", "BfsReservation", "BfsState", "Kernel"]

PARAMETERS = (
    Register.WORDS,
    Register.NEIGHBOURS,
    Register.CURRENT_QUEUE,
    Register.NEXT_QUEUE,
    Register.REACH_QUEUE,
    Register.CURRENT_COUNT,
    Register.CAPACITY,
)
"""Parameters of a level."""

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


class Kernel(wiring.Component):
    """Processes 1 to 4 with their multiplexer, decoder and slot allocator.

    In a machine that only searches (`config.bfs_only`), process 4 is `MarkingVisitor`, and otherwise `Visitor`.

    Work is counted by credits: a credit is given back only after what it stood for has taken its place in the next
    process, so "all idle" cannot be seen while anything is under way.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    See `hw.interfaces.KernelSignature`.

    Notes
    -----
    Throughput: one request every `config.issue_interval` cycles; one request per frontier entry, two per edge, three
    per pushed vertex (two where the machine only searches).
    """

    def __init__(self, config: AcceleratorConfig, *, instrument: bool = False) -> None:
        self._config = config
        self._instrument = instrument
        super().__init__(KernelSignature(instrument=instrument))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the processes."""
        m = Module()
        config = self._config
        m.submodules.control = control = KernelControl(parameters=PARAMETERS, instrument=self._instrument)
        m.submodules.frontier_reader = frontier = FrontierReader(
            depth=config.frontier_depth, stride=config.total_bfs_kernels
        )
        m.submodules.neighbour_reader = neighbour = NeighbourReader(depth=config.neighbour_depth)
        m.submodules.word_reader = word = WordReader(depth=config.word_depth)
        visitor = (MarkingVisitor if config.bfs_only else Visitor)(depth=config.visit_depth)
        m.submodules.visitor = visitor
        m.submodules.allocator = allocator = SlotAllocator(
            depth=config.visit_depth, blocking=config.blocking_reservation
        )
        sources = [READ, READ, READ, WRITE] + [WRITE] * config.bfs_only
        m.submodules.mux = mux = RequestMux(sources=sources, issue_interval=config.issue_interval)
        m.submodules.decoder = decoder = ResponseDecoder(len(Tag))

        connect(m, flipped(self.chain_in), control.chain_in)
        connect(m, control.chain_out, flipped(self.chain_out))
        connect(m, flipped(self.token_in), allocator.token_in)
        connect(m, allocator.token_out, flipped(self.token_out))
        connect(m, frontier.command, mux.source0)
        connect(m, neighbour.command, mux.source1)
        connect(m, word.command, mux.source2)
        connect(m, visitor.command, mux.source3)
        connect(m, mux.read, flipped(self.port.read))
        connect(m, mux.write, flipped(self.port.write))
        connect(m, flipped(self.port.response), decoder.response)
        connect(m, decoder.process0, frontier.response)
        connect(m, decoder.process1, neighbour.response)
        connect(m, decoder.process2, word.response)
        connect(m, frontier.words, neighbour.words)
        connect(m, neighbour.ids, word.ids)
        connect(m, word.neighbours, visitor.neighbours)
        connect(m, allocator.slot, visitor.slot)

        if isinstance(visitor, MarkingVisitor):
            connect(m, visitor.mark, mux.source4)
            # The register that the search for components needs for its reach queue holds the level here.
            m.d.comb += visitor.distance.eq(control.register_reach_queue)
            chosen_first = visitor.marking
        else:
            m.d.comb += visitor.reach_queue.eq(control.register_reach_queue)
            chosen_first = C(0)
        if config.blocking_reservation:
            held = Signal()
            m.d.comb += mux.hold.eq(held & ~allocator.slot.valid)
            # The published multiplexer chooses its next request before it knows that the last slot is used up: a vertex
            # that is waiting then is taken, and nothing else gets past it.
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
            allocator.done.eq(control.done),
            allocator.epoch.eq(control.epoch),
            control.idle.eq(frontier.idle & neighbour.idle & word.idle & visitor.idle & allocator.idle & ~mux.busy),
            control.overflow.eq(visitor.overflow),
            self.port.flush.eq(control.flush),
            control.flushed.eq(self.port.flushed),
            self.done.eq(control.done),
            self.error.eq(control.error),
            control.events[Counter.ENTRIES].eq(mux.source0.valid & mux.source0.ready),
            control.events[Counter.ITEMS].eq(visitor.neighbours.valid & visitor.neighbours.ready),
            control.events[Counter.PUSHED].eq(visitor.pushed),
            control.events[Counter.REQUESTS].eq(mux.granted),
        ]

        state = data.View(BfsState, control.state[: BfsState.size])
        credits = data.View(BfsCredits, control.credits[: BfsCredits.size])
        reservation = data.View(BfsReservation, control.reservation[: BfsReservation.size])
        m.d.comb += [
            state.done.eq(control.done),
            state.started.eq(control.busy),
            state.frontier_idle.eq(frontier.idle),
            state.neighbours_idle.eq(neighbour.idle),
            state.words_idle.eq(word.idle),
            state.visitor_idle.eq(visitor.idle),
            state.slots_idle.eq(allocator.idle),
            state.requests_idle.eq(~mux.busy),
            state.error.eq(control.error),
            state.read_stalled.eq(self.port.read.valid & ~self.port.read.ready),
            state.write_stalled.eq(self.port.write.valid & ~self.port.write.ready),
            state.slot_awaited.eq(visitor.waiting),
            state.visits.eq(visitor.level),
            credits.frontier.eq(frontier.credits),
            credits.neighbours.eq(neighbour.credits),
            credits.words.eq(word.credits),
            reservation.demanded.eq(allocator.demanded),
            reservation.reserved.eq(allocator.reserved),
        ]
        if self._instrument:
            m.d.comb += [
                control.moving.eq(
                    frontier.moving
                    | neighbour.moving
                    | word.moving
                    | visitor.moving
                    | allocator.moving
                    | mux.moving
                    | mux.granted
                    | mux.resting
                    | self.port.response.valid
                    | self.token_in.valid
                ),
                control.reasons[Cause.SLOT].eq(visitor.waiting),
                control.reasons[Cause.BACKPRESSURE].eq(mux.blocked),
                control.reasons[Cause.INTERVAL].eq(mux.resting),
                control.reasons[Cause.REQUEST].eq(mux.granted),
                self.quiescent.eq(control.quiescent),
                self.cause.eq(control.cause),
            ]
        return m
