"""The published multiplexer's way to a slot: a vertex chosen before is written at once, another is popped first."""

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.slot_allocator import Slot


class SlotGate(wiring.Component):
    """Withholds the first slot of a reservation for the two cycles in which its vertex is popped from a FIFO.

    The published multiplexer chooses a vertex when a slot is reserved, pops it in the next cycle, and writes it in the
    one after that. A vertex that it had taken before (`held`) is written at once.

    Members
    -------
    reserved : In(stream of Slot)
        From the slot allocator.
    slot : Out(stream of Slot)
        To process 4.
    held : In(1)
        The multiplexer has taken a vertex that waits for its slot.
    idle : Out(1)
        There is no slot.
    moving : Out(1)
        State changes in this cycle without a slot being taken.
    """

    reserved: In(stream.Signature(Slot))
    slot: Out(stream.Signature(Slot))
    held: In(1)
    idle: Out(1)
    moving: Out(1)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the gate."""
        m = Module()
        popped = Signal()  # a slot was there in the cycle before
        opened = Signal()
        m.d.sync += [
            popped.eq(self.reserved.valid),
            opened.eq(self.reserved.valid & (popped | opened | self.held)),
        ]
        m.d.comb += [
            self.slot.valid.eq(self.reserved.valid & (opened | self.held)),
            self.slot.payload.eq(self.reserved.payload),
            self.reserved.ready.eq(self.slot.ready),
            self.idle.eq(~self.reserved.valid),
            self.moving.eq((popped != self.reserved.valid) | (opened != self.reserved.valid)),
        ]
        return m
