"""Process 4 of the intersection kernel: clears visited flags (Attia et al. 2015, section 5.3)."""

from amaranth.hdl import Elaboratable, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import WriteCommand
from cyscc.hw.graph_word import GraphWord, replaced
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8
from cyscc.hw.intersection.classifier import Outsider
from cyscc.hw.intersection.tags import Direction


class UnvisitWriter(wiring.Component):
    """Writes each outsider's word back with its visited flag cleared. Combinational; one write per outsider.

    Members
    -------
    words, transposed_words : In
        Addresses of R and R'.
    outsiders : In(stream of Outsider)
        From process 3.
    command : Out(stream of WriteCommand)
        To the multiplexer.
    """

    words: In(ADDRESS_WIDTH)
    transposed_words: In(ADDRESS_WIDTH)
    outsiders: In(stream.Signature(Outsider))
    command: Out(stream.Signature(WriteCommand))

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        outsider = self.outsiders.payload
        m.d.comb += [
            self.command.valid.eq(self.outsiders.valid),
            self.outsiders.ready.eq(self.command.ready),
            self.command.payload.base.eq(
                Mux(outsider.direction == Direction.FORWARD, self.words, self.transposed_words)
            ),
            self.command.payload.index.eq(outsider.vertex),
            self.command.payload.size.eq(SIZE_8),
            self.command.payload.data.eq(replaced(GraphWord, outsider.word, visited=0)),
            self.command.payload.last.eq(1),
        ]
        return m
