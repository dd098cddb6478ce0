"""Between processes 3 and 4 of the BFS kernel: vertices with many neighbours are queued in chunks of their list."""

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.word_reader import Neighbour
from cyscc.hw.graph_word import GraphWord, replaced
from cyscc.hw.interfaces import drive

Piece = data.StructLayout({"word": 64, "vertex": 32, "more": 1, "further": 1})
"""A vertex from one of its chunks on: `word` has the neighbours from there to the end. `more` says that other chunks
follow, so that this one is full; `further`, that it is not the first."""


class ChunkSplitter(wiring.Component):
    """Turns a new vertex into as many pieces as its list of neighbours has chunks; passes visited ones on as they are.

    The first piece has the vertex's own graph word. A vertex without neighbours is one piece.

    Parameters
    ----------
    chunk : int
        Neighbours of a chunk.

    Members
    -------
    neighbours : In(stream of Neighbour)
        From process 3.
    pieces : Out(stream of Piece)
        To process 4, in order.
    idle : Out(1)
        No vertex has pieces left that were not passed on.
    moving : Out(1)
        State changes in this cycle.

    Notes
    -----
    Latency 0 cycles; throughput one piece a cycle.
    """

    def __init__(self, *, chunk: int) -> None:
        if chunk < 1:
            raise ValueError(f"chunk must be at least 1, not {chunk!r}")
        self._chunk = chunk
        super().__init__(
            {
                "neighbours": In(stream.Signature(Neighbour)),
                "pieces": Out(stream.Signature(Piece)),
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the splitter."""
        m = Module()
        busy = Signal()  # a vertex has pieces left
        start = Signal(32)
        degree = Signal(31)
        vertex = Signal(32)
        first = data.View(GraphWord, self.neighbours.payload.word)
        piece = self.pieces.payload
        passed = self.pieces.valid & self.pieces.ready
        m.d.comb += [
            self.pieces.valid.eq(busy | self.neighbours.valid),
            self.neighbours.ready.eq(~busy & self.pieces.ready),
            self.idle.eq(~busy),
            self.moving.eq(passed),
        ]
        with m.If(busy):
            rest = replaced(GraphWord, self.neighbours.payload.word, visited=0, degree=degree, start=start)
            m.d.comb += drive(piece, word=rest, vertex=vertex, more=degree > self._chunk, further=1)
        with m.Else():
            m.d.comb += [
                piece.word.eq(self.neighbours.payload.word),
                piece.vertex.eq(self.neighbours.payload.vertex),
                piece.more.eq(~first.visited & (first.degree > self._chunk)),
            ]
        with m.If(passed):
            m.d.sync += busy.eq(piece.more)
            with m.If(busy):
                m.d.sync += [start.eq(start + self._chunk), degree.eq(degree - self._chunk)]
            with m.Else():
                m.d.sync += [
                    start.eq(first.start + self._chunk),
                    degree.eq(first.degree - self._chunk),
                    vertex.eq(self.neighbours.payload.vertex),
                ]
        return m
