"""Slot allocator of the BFS kernel: its station on the token ring (Attia et al. 2015, section 5.4 and figure 7)."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import RING

Slot = data.StructLayout({"number": 32, "fits": 1})
"""A slot of the next queue and of the reach queue, and whether it lies below their capacity."""


class SlotAllocator(wiring.Component):
    """Reserves as many slots as vertices are waiting when the token comes by, and hands them out one by one.

    The token is passed on `LATENCY` cycles after it came, whatever the kernel is doing. With `blocking` it is used only
    when the last reservation has been used up, as on the published machine; otherwise as soon as the place for one more
    reservation is free, so that the next slots are there when the last ones are used up.

    Parameters
    ----------
    depth : int
        Vertices that can wait for a slot at a time; a power of two.
    blocking : bool
        The published behaviour.

    Members
    -------
    demand : In(1)
        One more vertex needs a slot.
    capacity : In(32)
        Slots below this number may be written.
    done, epoch : In(1)
        This kernel has finished its work; the run that it speaks of.
    token_in : In(stream of Token, always ready)
        From the previous kernel.
    token_out : Out(stream of Token, always ready)
        To the next kernel, registered.
    slot : Out(stream of Slot)
        Reserved slots.
    idle : Out(1)
        No demand, no reservation.
    moving : Out(1)
        State changes in this cycle without a token.
    demanded, reserved : Out
        Vertices without a slot, and slots not yet handed out, for the kernel's status.
    """

    LATENCY: ClassVar[int] = 1

    def __init__(self, *, depth: int, blocking: bool) -> None:
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        self._depth = depth
        self._blocking = blocking
        # A vertex counts from its demand until its slot is used: the queue's depth, its registers, and one in
        # use.
        count = range(depth + 5)
        super().__init__(
            {
                "demand": In(1),
                "capacity": In(32),
                "done": In(1),
                "epoch": In(1),
                "token_in": In(RING),
                "token_out": Out(RING),
                "slot": Out(stream.Signature(Slot)),
                "idle": Out(1),
                "moving": Out(1),
                "demanded": Out(count),
                "reserved": Out(count),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the station."""
        m = Module()
        number = Signal(32)  # next slot of the reservation in use
        following = Signal(32)  # first slot of the reservation after that
        booked = Signal.like(self.reserved)  # slots of that reservation

        empty = Signal()  # no slot is left, and none offered
        m.d.comb += empty.eq(~self.reserved.any() & ~booked.any() & ~self.slot.valid)
        room = empty if self._blocking else ~booked.any()
        token = self.token_in.payload
        reserve = Signal()
        m.d.comb += reserve.eq(self.token_in.valid & self.demanded.any() & room)
        with m.If(reserve):
            m.d.sync += self.demanded.eq(self.demand)
            with m.If(~empty):
                m.d.sync += [following.eq(token.value), booked.eq(self.demanded)]
        with m.Else():
            m.d.sync += self.demanded.eq(self.demanded + self.demand)

        m.d.sync += self.token_out.valid.eq(self.token_in.valid)
        with m.If(self.token_in.valid):
            m.d.sync += [
                self.token_out.payload.value.eq(token.value + Mux(reserve, self.demanded, 0)),
                self.token_out.payload.done.eq(token.done & self.done & (token.epoch == self.epoch)),
                self.token_out.payload.epoch.eq(token.epoch),
            ]

        change = Signal()
        direct = Signal()  # the first slot of a new reservation is handed out at once
        hand_out = Signal()
        m.d.comb += [
            change.eq(~self.reserved.any() & booked.any()),
            direct.eq(reserve & empty),
            hand_out.eq(direct | (self.reserved.any() & (~self.slot.valid | self.slot.ready))),
            self.idle.eq(~(self.demanded.any() | booked.any() | self.reserved.any() | self.slot.valid)),
            self.moving.eq(self.demand | hand_out | change | (self.slot.valid & self.slot.ready)),
        ]
        with m.If(change):
            m.d.sync += [number.eq(following), self.reserved.eq(booked), booked.eq(0)]
        with m.If(self.slot.ready):
            m.d.sync += self.slot.valid.eq(0)
        with m.If(hand_out):
            m.d.sync += [
                self.slot.valid.eq(1),
                # Add and compare both candidates before the late select signal.
                self.slot.payload.number.eq(Mux(direct, token.value, number)),
                self.slot.payload.fits.eq(Mux(direct, token.value < self.capacity, number < self.capacity)),
                number.eq(Mux(direct, token.value + 1, number + 1)),
                self.reserved.eq(Mux(direct, self.demanded - 1, self.reserved - 1)),
            ]
        return m
