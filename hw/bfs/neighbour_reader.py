"""Process 2 of the BFS kernel: reads the neighbour ids of frontier vertices (Attia et al. 2015, section 5.2)."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Signal, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.tags import Tag
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_4, drive
from cyscc.hw.reading_process import ReadingProcess


class NeighbourReader(ReadingProcess):
    """Expands each frontier word into reads of its neighbour ids and keeps the answers for process 3.

    A word waits decoded while the one before it is being expanded, so only one cycle without a request lies between two
    vertices; three if it is `fetching`. A vertex without out-edges takes one cycle and asks for nothing.

    Parameters
    ----------
    depth : int
        Places for neighbour ids in flight or waiting.
    fetching : bool
        The published behaviour: it looks for the next word only when the last one is expanded.
    registered : bool
        As of every `ReadingProcess`.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    neighbours : In
        Address of C.
    words : In(stream of 64 bits)
        Frontier words from process 1.
    command : Out(stream of ReadCommand)
        To the multiplexer.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    ids : Out(stream of 32 bits)
        Neighbour ids.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.
    """

    MEMBERS: ClassVar = {
        "neighbours": In(ADDRESS_WIDTH),
        "words": In(stream.Signature(64)),
    }
    RESULTS: ClassVar = {"ids": Out(stream.Signature(32))}

    def __init__(
        self, *, depth: int, fetching: bool = False, registered: bool = False, instrument: bool = False
    ) -> None:
        self._fetching = fetching
        super().__init__(depth=depth, registered=registered, instrument=instrument)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        credits, fifo = self._add_queues(m, fifo=32)

        decoded = Signal()
        start = Signal(GraphWord["start"].width)
        size = Signal(GraphWord["degree"].width)
        pointer = Signal(32)
        ahead = Signal(signed(32), init=-1)  # neighbours left to request, less one
        expanding = ~ahead[-1]

        requested = self.command.valid & self.command.ready
        load = decoded & ~expanding
        with m.If(load):
            m.d.sync += [pointer.eq(start), ahead.eq(size - 1)]
        with m.Elif(requested):
            m.d.sync += [pointer.eq(pointer + 1), ahead.eq(ahead - 1)]

        word = data.View(GraphWord, self.words.payload)
        expanded = Signal()  # in the cycle before
        if self._fetching:
            m.d.sync += expanded.eq(expanding)
            m.d.comb += self.words.ready.eq(~decoded & ~expanding & ~expanded)
        else:
            m.d.comb += self.words.ready.eq(~decoded | load)
        with m.If(self.words.ready):
            m.d.sync += [
                decoded.eq(self.words.valid),
                start.eq(word.start),
                size.eq(word.degree),
            ]
        if self._fetching:
            with m.Elif(load):
                m.d.sync += decoded.eq(0)

        taken = self.ids.valid & self.ids.ready
        m.d.comb += [
            self.command.valid.eq(expanding & credits.available),
            *drive(self.command.payload, base=self.neighbours, index=pointer, size=SIZE_4, tag=Tag.NEIGHBOUR_ID),
        ]
        self._read(
            m,
            credits,
            [fifo],
            requested=requested,
            answers=fifo,
            output=self.ids,
            taken=taken,
            joined=[self.ids.payload.eq(fifo.output.payload)],
            idle=[~decoded, ~expanding],
            moving=[taken, load, self.words.valid & self.words.ready, *([expanded != expanding] * self._fetching)],
            wanted=expanding,
        )
        return m
