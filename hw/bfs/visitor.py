"""Process 4 of the BFS kernel: visits the neighbours that are new (Attia et al. 2015, section 5.2)."""

from typing import Any

from amaranth.hdl import C, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import WriteCommand
from cyscc.hw.bfs.chunk_splitter import Piece
from cyscc.hw.bfs.slot_allocator import Slot
from cyscc.hw.bfs.word_reader import Neighbour
from cyscc.hw.graph_word import GraphWord, replaced
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_4, SIZE_8, drive
from cyscc.hw.queue import Queue


class Step(enum.Enum, shape=2):
    """The write of a visit that comes next."""

    ENQUEUE = 0
    """The vertex's word into the next queue."""
    MARK = 1
    """The visited flag into the graph word."""
    REACH = 2
    """The vertex's id into the reach queue."""


class Visitor(wiring.Component):
    """Drops visited neighbours; queues the others, demands a slot for each, and makes the three writes of a visit.

    A vertex whose slot does not fit is dropped as a whole, and not marked visited, and `overflow` tells.

    With `chunk`, each piece of a vertex takes a slot of its own, where the next queue gets the piece's chunk, and the
    reach queue the vertex's id. The first piece marks the vertex; the others make two writes. Slots of a kernel ascend,
    so of a vertex the last pieces are dropped first, and a vertex that lacks pieces may be marked.

    Parameters
    ----------
    depth : int
        Vertices that can wait for a slot.
    chunk : int
        Neighbours of a chunk; 0 if vertices come whole.

    Members
    -------
    next_queue, words, reach_queue : In
        Addresses of the next queue, of R, and of the reach queue.
    neighbours : In(stream of Neighbour, or of Piece with `chunk`)
        From process 3.
    slot : In(stream of Slot)
        From the slot allocator; one is taken per vertex, or piece of one.
    command : Out(stream of WriteCommand)
        To the multiplexer.
    demand : Out(1)
        A vertex was queued.
    pushed : Out(1)
        A visit's last write was granted.
    overflow : Out(1)
        A vertex was dropped.
    waiting : Out(1)
        A vertex waits for a slot.
    idle, moving : Out
        As of process 1.
    level : Out
        Vertices queued, for the kernel's status.
    """

    def __init__(self, *, depth: int, chunk: int = 0) -> None:
        self._depth = depth
        self._chunk = chunk
        self._shape = Piece if chunk else Neighbour
        super().__init__(
            {
                "next_queue": In(ADDRESS_WIDTH),
                "words": In(ADDRESS_WIDTH),
                "reach_queue": In(ADDRESS_WIDTH),
                "neighbours": In(stream.Signature(self._shape)),
                "slot": In(stream.Signature(Slot)),
                "command": Out(stream.Signature(WriteCommand)),
                "demand": Out(1),
                "pushed": Out(1),
                "overflow": Out(1),
                "waiting": Out(1),
                "idle": Out(1),
                "moving": Out(1),
                "level": Out(range(depth + 2)),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        fifo = self._add_queue(m)
        vertex = fifo.output.payload
        slot = self.slot.payload
        ready = Signal()
        step = Signal(Step)
        m.d.comb += [
            ready.eq(fifo.output.valid & self.slot.valid),
            self.waiting.eq(fifo.output.valid & ~self.slot.valid),
            self.overflow.eq(ready & ~slot.fits),
            self.command.valid.eq(ready & slot.fits),
        ]
        granted = self.command.valid & self.command.ready
        finished = Signal()
        m.d.comb += [
            self.pushed.eq(granted & (step == Step.REACH)),
            finished.eq(self.pushed | self.overflow),
            fifo.output.ready.eq(finished),
            self.slot.ready.eq(finished),
            self.idle.eq(~fifo.level.any()),
            self.moving.eq(fifo.moving | self.demand | self.overflow),
            self.level.eq(fifo.level),
        ]

        queued = self._entry(vertex)
        command = self.command.payload
        with m.Switch(step):
            with m.Case(Step.ENQUEUE):
                m.d.comb += drive(command, base=self.next_queue, index=slot.number, size=SIZE_8, data=queued)
                with m.If(granted):
                    m.d.sync += step.eq(Step.MARK)
                    if self._chunk:
                        with m.If(vertex.further):
                            m.d.sync += step.eq(Step.REACH)
            with m.Case(Step.MARK):
                m.d.comb += [
                    command.base.eq(self.words),
                    command.index.eq(vertex.vertex),
                    command.size.eq(SIZE_8),
                    command.data.eq(replaced(GraphWord, vertex.word, visited=1)),
                ]
                with m.If(granted):
                    m.d.sync += step.eq(Step.REACH)
            with m.Default():
                m.d.comb += drive(
                    command, base=self.reach_queue, index=slot.number, size=SIZE_4, data=vertex.vertex, last=1
                )
                with m.If(granted):
                    m.d.sync += step.eq(Step.ENQUEUE)
        return m

    def _add_queue(self, m: Module) -> Queue:
        """Add the queue of vertices that wait for a slot, and fill it; return it."""
        m.submodules.fifo = fifo = Queue(self._shape, self._depth)
        visited = data.View(GraphWord, self.neighbours.payload.word).visited
        m.d.comb += [
            *drive(fifo.input, payload=self.neighbours.payload, valid=self.neighbours.valid & ~visited),
            self.neighbours.ready.eq(visited | fifo.input.ready),
            self.demand.eq(fifo.input.valid & fifo.input.ready),
        ]
        return fifo

    def _entry(self, vertex: Any) -> Value:
        """Return the entry of the next queue for a vertex or a piece of one."""
        if not self._chunk:
            return Value.cast(vertex.word)
        degree = Mux(vertex.more, C(self._chunk, 31), data.View(GraphWord, vertex.word).degree)
        return replaced(GraphWord, vertex.word, degree=degree)
