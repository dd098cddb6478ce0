"""The token ring between Application Engines as AXI4-Streams."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.axi.signatures import AxiStreamSignature
from cyscc.hw.interfaces import LINK


class AxiLink(wiring.Component):
    """Holds a leaving token until the stream takes it; an arriving one is always taken.

    Members
    -------
    link_in : Out(stream of LinkToken, always ready)
        To the AE.
    link_out : In(stream of LinkToken, always ready)
        From the AE; one token at a time, since there is one on a ring and the modules never run at once.
    next_engine : Out(AxiStreamSignature())
        To the next AE.
    previous_engine : In(AxiStreamSignature())
        From the previous one.

    Notes
    -----
    Latency one cycle each way.
    """

    link_in: Out(LINK)
    link_out: In(LINK)
    next_engine: Out(AxiStreamSignature())
    previous_engine: In(AxiStreamSignature())

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the two registers."""
        m = Module()
        leaving, arriving = self.next_engine, self.previous_engine
        with m.If(leaving.tready):
            m.d.sync += leaving.tvalid.eq(0)
        with m.If(self.link_out.valid):
            m.d.sync += [leaving.tvalid.eq(1), leaving.tdata.eq(self.link_out.payload)]
        m.d.comb += arriving.tready.eq(1)
        m.d.sync += [self.link_in.valid.eq(arriving.tvalid), self.link_in.payload.eq(arriving.tdata)]
        return m
