"""FIFO whose head is read on demand, for LUT RAM with a register behind it."""

from amaranth.hdl import Elaboratable, Module, ShapeLike, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["PulledFifo"]


class PulledFifo(wiring.Component):
    """FIFO that shows an entry from the cycle after it was pulled until the next one is.

    An arbiter can so choose among many of them by registers alone, and only the entries that it chooses are read.

    Parameters
    ----------
    shape : ShapeLike
        Shape of an entry.
    depth : int
        Entries that it holds; a power of two.

    Members
    -------
    push, entry : In(1), In(shape)
        An entry goes in. Only with `room`.
    pull : In(1)
        The oldest entry leaves. Only if `available`.
    shown : Out(shape)
        The entry that was pulled last.
    available, room : Out(1)
        There is an entry; there is a free place. Functions of registers.

    Notes
    -----
    An entry is available in the cycle after it was pushed. Throughput one entry a cycle.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        self._shape = shape
        self._depth = depth
        super().__init__(
            {
                "push": In(1),
                "entry": In(shape),
                "pull": In(1),
                "shown": Out(shape),
                "available": Out(1),
                "room": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the memory and its pointers, which count one bit further than its addresses."""
        m = Module()
        m.submodules.entries = entries = Memory(shape=self._shape, depth=self._depth, init=[])
        write = entries.write_port()
        read = entries.read_port()
        bits = (self._depth - 1).bit_length()
        first = Signal(bits + 1)
        end = Signal(bits + 1)
        m.d.comb += [
            write.addr.eq(end[:bits]),
            write.data.eq(self.entry),
            write.en.eq(self.push),
            read.addr.eq(first[:bits]),
            read.en.eq(self.pull),
            self.shown.eq(read.data),
            self.available.eq(first != end),
            self.room.eq((first ^ end) != self._depth),
        ]
        with m.If(self.push):
            m.d.sync += end.eq(end + 1)
        with m.If(self.pull):
            m.d.sync += first.eq(first + 1)
        return m
