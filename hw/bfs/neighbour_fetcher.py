"""The published process 4's way of taking neighbours: every second cycle, and the late notice that it took the last."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.word_reader import Neighbour


class NeighbourFetcher(wiring.Component):
    """Takes a neighbour from process 3, and shows it to process 4 a cycle later.

    The published process 4 pops both of its FIFOs in one cycle and looks at what they give in the next. When a kernel's
    work is done, each of its processes tells the next one, the multiplexer counts to three, and only then asks for a
    flush: `SETTLING` cycles more than ours, counted from the last neighbour.

    Members
    -------
    neighbours : In(stream of Neighbour)
        From process 3.
    fetched : Out(stream of Neighbour)
        To process 4, registered.
    idle : Out(1)
        No neighbour is held, and the last one was shown more than `SETTLING` cycles ago.
    moving : Out(1)
        State changes in this cycle.

    Notes
    -----
    Latency one cycle, throughput a neighbour every second cycle.
    """

    SETTLING: ClassVar[int] = 5

    neighbours: In(stream.Signature(Neighbour))
    fetched: Out(stream.Signature(Neighbour))
    idle: Out(1)
    moving: Out(1)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the register and the delay of `idle`."""
        m = Module()
        settling = Signal(self.SETTLING)
        passed = self.fetched.valid & self.fetched.ready
        m.d.comb += [
            self.neighbours.ready.eq(~self.fetched.valid),
            self.idle.eq(~self.fetched.valid & ~settling.any()),
            self.moving.eq((self.neighbours.valid & self.neighbours.ready) | passed | settling.any()),
        ]
        m.d.sync += settling.eq(Cat(passed, settling[:-1]))
        with m.If(self.neighbours.valid & self.neighbours.ready):
            m.d.sync += [self.fetched.valid.eq(1), self.fetched.payload.eq(self.neighbours.payload)]
        with m.Elif(passed):
            m.d.sync += self.fetched.valid.eq(0)
        return m
