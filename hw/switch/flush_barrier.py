"""Flush barrier: one flush of all memory ports for the flushes of all kernels of a module."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class FlushBarrier(wiring.Component):
    """Flushes all ports when all kernels at work have asked, and answers them when all ports have answered.

    Each kernel asks once a run, after its last write, so nothing is written while the ports flush.

    Parameters
    ----------
    kernels : int
        Kernels of a module.
    links : int
        Memory ports.

    Members
    -------
    asks : In(kernels)
        Pulse a kernel: it asks for a flush. Not again before it is answered.
    working : In(kernels)
        The kernels of the module at work; the others do not ask.
    busy : In(1)
        A request is in the switch and not taken by its port. A function of registers that shows a request from the
        cycle after the kernel's port took it.
    flush : Out(1)
        Pulse to all ports, registered.
    answers : In(links)
        Pulse a port: it is flushed.
    flushed : Out(kernels)
        Pulse to all kernels at work, registered.
    moving : Out(1)
        The state changes in this cycle, or as soon as `busy` falls.

    Notes
    -----
    Latency: two cycles from the last request to `flush` if nothing is in the switch, two from the last answer to
    `flushed`.
    """

    def __init__(self, *, kernels: int, links: int) -> None:
        self._kernels = kernels
        self._links = links
        super().__init__(
            {
                "asks": In(kernels),
                "working": In(kernels),
                "busy": In(1),
                "flush": Out(1),
                "answers": In(links),
                "flushed": Out(self._kernels),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the registers of who has asked and who has answered."""
        m = Module()
        asked = Signal(self._kernels)
        answered = Signal(self._links)
        start = Signal()
        finish = Signal()
        complete = Signal()
        m.d.comb += [
            complete.eq(asked.any() & (asked | ~self.working).all()),
            start.eq(complete & ~self.busy),
            finish.eq(answered.all()),
            self.moving.eq(
                self.asks.any() | complete | self.flush | self.answers.any() | finish | self.flushed.any(),
            ),
        ]
        m.d.sync += [self.flush.eq(start), self.flushed.eq(Mux(finish, self.working, 0))]
        with m.If(start):
            m.d.sync += asked.eq(0)
        with m.Else():
            m.d.sync += asked.eq(asked | self.asks)
        with m.If(finish):
            m.d.sync += answered.eq(0)
        with m.Else():
            m.d.sync += answered.eq(answered | self.answers)
        return m
