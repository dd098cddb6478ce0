"""Process 3 of the BFS kernel: reads the graph words of neighbours (Attia et al. 2015, section 5.2)."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.tags import Tag
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8, drive
from cyscc.hw.reading_process import ReadingProcess

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

    MEMBERS: ClassVar = {
        "words": In(ADDRESS_WIDTH),
        "ids": In(stream.Signature(32)),
    }
    RESULTS: ClassVar = {"neighbours": Out(stream.Signature(Neighbour))}

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        credits, id_fifo, word_fifo = self._add_queues(m, id_fifo=32, word_fifo=64)
        requested = self.command.valid & self.command.ready
        taken = self.neighbours.valid & self.neighbours.ready
        m.d.comb += [
            self.command.valid.eq(self.ids.valid & credits.available),
            self.ids.ready.eq(self.command.ready & credits.available),
            *drive(self.command.payload, base=self.words, index=self.ids.payload, size=SIZE_8, tag=Tag.NEIGHBOUR_WORD),
        ]
        self._read(
            m,
            credits,
            [id_fifo, word_fifo],
            requested=requested,
            kept=[id_fifo.input.valid.eq(requested), id_fifo.input.payload.eq(self.ids.payload)],
            answers=word_fifo,
            output=self.neighbours,
            taken=taken,
            joined=drive(self.neighbours.payload, word=word_fifo.output.payload, vertex=id_fifo.output.payload),
            moving=[taken],
            wanted=self.ids.valid,
        )
        return m
