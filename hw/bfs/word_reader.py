"""Process 3 of the BFS kernel: reads the graph words of neighbours (Attia et al. 2015, section 5.2)."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import ReadCommand
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8
from cyscc.hw.queue import Queue
from cyscc.hw.reading_process import ReadingProcess

__all__ = ["Neighbour", "WordReader"]

Neighbour = data.StructLayout({"word": 64, "vertex": 32})
"""A vertex with its graph word."""


class WordReader(ReadingProcess):
    """Requests the graph word of each neighbour, keeps the id beside it, and joins the two for process 4.

    Parameters
    ----------
    depth : int
        Places for neighbours whose word is in flight or waiting.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    words : In
        Address of R.
    ids : In(stream of 32 bits)
        Neighbour ids from process 2.
    command : Out(stream of ReadCommand)
        To the multiplexer.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    neighbours : Out(stream of Neighbour)
        Neighbours with their words.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.
    """

    def __init__(self, *, depth: int, instrument: bool = False) -> None:
        super().__init__(
            {
                "words": In(ADDRESS_WIDTH),
                "ids": In(stream.Signature(32)),
                "command": Out(stream.Signature(ReadCommand)),
                "response": In(stream.Signature(64, always_ready=True)),
                "neighbours": Out(stream.Signature(Neighbour)),
            },
            depth=depth,
            instrument=instrument,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        m.submodules.credits = credits = Credits(self._depth)
        m.submodules.id_fifo = id_fifo = Queue(32, self._depth)
        m.submodules.word_fifo = word_fifo = Queue(64, self._depth)

        requested = self.command.valid & self.command.ready
        taken = self.neighbours.valid & self.neighbours.ready
        m.d.comb += [
            self.command.valid.eq(self.ids.valid & credits.available),
            self.ids.ready.eq(self.command.ready & credits.available),
            self.command.payload.base.eq(self.words),
            self.command.payload.index.eq(self.ids.payload),
            self.command.payload.size.eq(SIZE_8),
            self.command.payload.tag.eq(Tag.NEIGHBOUR_WORD),
            credits.take.eq(requested),
            credits.give.eq(taken),
            id_fifo.input.valid.eq(requested),
            id_fifo.input.payload.eq(self.ids.payload),
            word_fifo.input.valid.eq(self.response.valid),
            word_fifo.input.payload.eq(self.response.payload),
            self.neighbours.valid.eq(id_fifo.output.valid & word_fifo.output.valid),
            self.neighbours.payload.word.eq(word_fifo.output.payload),
            self.neighbours.payload.vertex.eq(id_fifo.output.payload),
            id_fifo.output.ready.eq(taken),
            word_fifo.output.ready.eq(taken),
            self.idle.eq(credits.home),
            self.moving.eq(id_fifo.moving | word_fifo.moving | taken),
            self.credits.eq(credits.count),
        ]
        self._show(m, credits, word_fifo, wanted=self.ids.valid)
        return m
