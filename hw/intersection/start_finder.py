"""Process 5 of the intersection kernel: offers a next start to the ring (Attia et al. 2015, sections 5.3 and 5.4)."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import RING
from cyscc.hw.registers import NO_START


class StartFinder(wiring.Component):
    """Keeps the first vertex that its kernel left uncoloured, and puts it on the token if no other kernel has.

    The token is passed on one cycle after it came, whatever the kernel is doing.

    Members
    -------
    start : In(1)
        A run begins: the vertex found is cleared.
    rejected, rejected_vertex : In
        A vertex was left uncoloured.
    done, epoch : In(1)
        This kernel has finished its work; the run that it speaks of.
    token_in, token_out : stream of Token, always ready
        The token ring; the value is `NO_START` while no kernel has found a next start.
    """

    start: In(1)
    rejected: In(1)
    rejected_vertex: In(32)
    done: In(1)
    epoch: In(1)
    token_in: In(RING)
    token_out: Out(RING)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        found = Signal()
        vertex = Signal(32)
        with m.If(self.start):
            m.d.sync += found.eq(0)
        with m.Elif(self.rejected & ~found):
            m.d.sync += [found.eq(1), vertex.eq(self.rejected_vertex)]

        token = self.token_in.payload
        current = token.epoch == self.epoch
        m.d.sync += self.token_out.valid.eq(self.token_in.valid)
        with m.If(self.token_in.valid):
            m.d.sync += [
                self.token_out.payload.value.eq(Mux(found & current & (token.value == NO_START), vertex, token.value)),
                self.token_out.payload.done.eq(token.done & self.done & current),
                self.token_out.payload.epoch.eq(token.epoch),
            ]
        return m
