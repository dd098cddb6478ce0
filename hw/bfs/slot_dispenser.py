"""Slot dispenser of a BFS kernel whose AE has one station on the token ring for all of them."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.slot_allocator import Slot
from cyscc.hw.interfaces import BLOCK


class SlotDispenser(wiring.Component):
    """Tells the station of each vertex that needs a slot, and hands out the slots of the blocks that come.

    While the slots of a block are handed out there is room for one block more.

    Parameters
    ----------
    depth : int
        Vertices that can wait for a slot at a time; a power of two.

    Members
    -------
    demand : In(1)
        One more vertex needs a slot.
    capacity : In(32)
        Slots below this number may be written.
    asked : Out(1)
        `demand`, registered.
    room : Out(1)
        A block can come; a function of registers.
    block : In(stream of Block, always ready)
        A block, only if there was room since the last one.
    slot : Out(stream of Slot)
        Slots of the blocks, in order.
    idle : Out(1)
        No vertex waits, and no slot is left.
    moving : Out(1)
        State changes in this cycle without a block.
    demanded, reserved : Out
        Vertices without a slot, and slots not yet handed out, for the kernel's status.

    Notes
    -----
    Latency 1 cycle from a block to its first slot; then a slot a cycle, and one or two cycles of pause between blocks.
    """

    def __init__(self, *, depth: int) -> None:
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        # As of the slot allocator: the queue's depth, its registers, and one in use.
        count = range(depth + 5)
        super().__init__(
            {
                "demand": In(1),
                "capacity": In(32),
                "asked": Out(1),
                "room": Out(1),
                "block": In(BLOCK),
                "slot": Out(stream.Signature(Slot)),
                "idle": Out(1),
                "moving": Out(1),
                "demanded": Out(count),
                "reserved": Out(count),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the dispenser."""
        m = Module()
        number = Signal(32)  # next slot of the block in use
        following = Signal(32)  # first slot of the block after that
        booked = Signal.like(self.reserved)  # slots of that block
        block = self.block.payload
        first, count = block.first, block.count
        m.d.sync += [
            self.asked.eq(self.demand),
            self.demanded.eq(self.demanded + self.demand - Mux(self.block.valid, count, 0)),
        ]

        empty = Signal()  # no slot is left, and none offered
        change = Signal()
        direct = Signal()  # the first slot of a new block is handed out at once
        hand_out = Signal()
        m.d.comb += [
            empty.eq(~self.reserved.any() & ~booked.any() & ~self.slot.valid),
            self.room.eq(~booked.any()),
            change.eq(~self.reserved.any() & booked.any()),
            direct.eq(self.block.valid & empty),
            hand_out.eq(direct | (self.reserved.any() & (~self.slot.valid | self.slot.ready))),
            self.idle.eq(~(self.demanded.any() | booked.any() | self.reserved.any() | self.slot.valid)),
            self.moving.eq(self.demand | self.asked | hand_out | change | (self.slot.valid & self.slot.ready)),
        ]
        with m.If(self.block.valid & ~empty):
            m.d.sync += [following.eq(first), booked.eq(count)]
        with m.If(change):
            m.d.sync += [number.eq(following), self.reserved.eq(booked), booked.eq(0)]
        with m.If(self.slot.ready):
            m.d.sync += self.slot.valid.eq(0)
        with m.If(hand_out):
            m.d.sync += [
                self.slot.valid.eq(1),
                # Add and compare both candidates before the late select signal.
                self.slot.payload.number.eq(Mux(direct, first, number)),
                self.slot.payload.fits.eq(Mux(direct, first < self.capacity, number < self.capacity)),
                number.eq(Mux(direct, first + 1, number + 1)),
                self.reserved.eq(Mux(direct, count - 1, self.reserved - 1)),
            ]
        return m
