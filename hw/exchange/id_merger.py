"""Id merger: the new ids of both planes on their way to process 3."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import ID_BITS

__all__ = ["IdMerger"]


class IdMerger(wiring.Component):
    """Passes on ids of two streams in turn, or of one alone if the other has none.

    Members
    -------
    even, odd : In(stream of 32 bits)
        New ids of each plane.
    ids : Out(stream of 32 bits)
        To process 3, registered.
    idle : Out(1)
        No id is held.
    moving : Out(1)
        An id is taken from one of the streams.

    Notes
    -----
    Throughput: an id a cycle. Latency: 1 cycle.
    """

    even: In(stream.Signature(ID_BITS))
    odd: In(stream.Signature(ID_BITS))
    ids: Out(stream.Signature(ID_BITS))
    idle: Out(1)
    moving: Out(1)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the choice and the register."""
        m = Module()
        free = ~self.ids.valid | self.ids.ready
        turn = Signal()  # the even plane was served last
        odd = Signal()  # the odd plane is served
        m.d.comb += [
            odd.eq(self.odd.valid & (turn | ~self.even.valid)),
            self.even.ready.eq(free & ~odd),
            self.odd.ready.eq(free & odd),
            self.idle.eq(~self.ids.valid),
            self.moving.eq(free & (self.even.valid | self.odd.valid)),
        ]
        with m.If(free):
            m.d.sync += self.ids.valid.eq(self.even.valid | self.odd.valid)
            with m.If(self.even.valid | self.odd.valid):
                m.d.sync += [self.ids.payload.eq(Mux(odd, self.odd.payload, self.even.payload)), turn.eq(~odd)]
        return m
