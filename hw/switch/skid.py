"""Skid queue: two registers between streams, so that nothing combinational passes from one side to the other."""

from amaranth.hdl import Elaboratable, Module, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


class Skid(wiring.Component):
    """Queue of two entries whose `input.ready` and `output` are functions of registers alone.

    Parameters
    ----------
    shape : ShapeLike
        Shape of an entry.

    Members
    -------
    input : In(stream)
        Entries in.
    output : Out(stream)
        Entries out, registered.

    Notes
    -----
    Throughput one entry a cycle, latency one cycle.
    """

    def __init__(self, shape: ShapeLike) -> None:
        self._shape = shape
        super().__init__({"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the register of the output and the one behind it."""
        m = Module()
        behind = Signal()
        entry = Signal(self._shape)
        given, shown = Value.cast(self.input.payload), Value.cast(self.output.payload)
        m.d.comb += self.input.ready.eq(~behind)
        with m.If(~self.output.valid | self.output.ready):
            m.d.sync += [self.output.valid.eq(self.input.valid | behind), behind.eq(0)]
            with m.If(behind):
                m.d.sync += shown.eq(Value.cast(entry))
            with m.Elif(self.input.valid):
                m.d.sync += shown.eq(given)
        with m.Elif(self.input.valid & ~behind):
            m.d.sync += [behind.eq(1), Value.cast(entry).eq(given)]
        return m
