"""A FIFO between two processes, as a pair of streams."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Shape, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out


class Queue(wiring.Component):
    """First-in first-out buffer with streams on both sides, on a block RAM or LUT RAM.

    A register follows the memory, since a block RAM takes most of a cycle to bring its data out.

    Parameters
    ----------
    shape : ShapeLike
        Shape of an entry.
    depth : int
        Entries that it holds at least; a power of two. Its registers hold `REGISTERS` more.

    Members
    -------
    input : In(stream)
        Entries in. `input.ready` is low when it is full.
    output : Out(stream)
        Entries out, `LATENCY` cycles after they went in at the earliest; one a cycle.
    level : Out(range(depth + REGISTERS + 1))
        Entries held.
    moving : Out(1)
        An entry is on its way to the output although nobody pushes or pops.
    """

    LATENCY: ClassVar[int] = 3
    REGISTERS: ClassVar[int] = 2

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        self._shape = shape
        self._depth = depth
        super().__init__(
            {
                "input": In(stream.Signature(shape)),
                "output": Out(stream.Signature(shape)),
                "level": Out(range(depth + self.REGISTERS + 1)),
                "moving": Out(1),
            }
        )

    @property
    def depth(self) -> int:
        """Entries that its memory holds."""
        return self._depth

    def elaborate(self, platform: object) -> Elaboratable:
        """Wrap the library's FIFO."""
        m = Module()
        # One more than the depth: the library keeps one entry in the memory's own register, so its size is a power of
        # two.
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=Shape.cast(self._shape).width, depth=self._depth + 1)
        entry = Signal(fifo.r_data.shape(), reset_less=True)
        advance = ~self.output.valid | self.output.ready
        m.d.comb += [
            fifo.w_data.eq(Value.cast(self.input.payload)),
            fifo.w_en.eq(self.input.valid),
            self.input.ready.eq(fifo.w_rdy),
            fifo.r_en.eq(advance),
            Value.cast(self.output.payload).eq(entry),
            self.level.eq(fifo.level + self.output.valid),
            self.moving.eq((fifo.level.any() & ~fifo.r_rdy) | (fifo.r_rdy & ~self.output.valid)),
        ]
        with m.If(advance):
            m.d.sync += [self.output.valid.eq(fifo.r_rdy), entry.eq(fifo.r_data)]
        return m
