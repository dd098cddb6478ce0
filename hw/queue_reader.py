"""Interleaved reading of a queue in memory by many kernels."""

from amaranth.hdl import Elaboratable, Module, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


class QueueReader(wiring.Component):
    """Indices of the queue entries that belong to one kernel: its number, and on from there by the number of kernels.

    Parameters
    ----------
    stride : int
        Kernels that read the queue together.

    Members
    -------
    count : In(32)
        Entries of the queue. Steady from one cycle before `start` on.
    first : In(32)
        This kernel's number; looked at with `start`.
    start : In(1)
        Begin.
    index : Out(stream of 32 bits)
        The indices.
    finished : Out(1)
        All indices have been taken. High after reset.

    Notes
    -----
    Source: Attia et al. 2015, section 5.2 ("kernels interleave reading from the current queue"). One index a cycle. The
    entries left are counted down as a signed number, so that a sign bit replaces a comparison.
    """

    count: In(32)
    first: In(32)
    start: In(1)
    index: Out(stream.Signature(32))
    finished: Out(1)

    def __init__(self, *, stride: int) -> None:
        if stride < 1:
            raise ValueError(f"stride must be at least 1, not {stride!r}")
        self._stride = stride
        super().__init__()

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the counters."""
        m = Module()
        ahead = Signal(signed(34), init=-1)
        beyond = Signal(signed(34))
        m.d.sync += beyond.eq(self.count - 1)
        m.d.comb += [self.index.valid.eq(~ahead[-1]), self.finished.eq(ahead[-1])]
        with m.If(self.start):
            m.d.sync += [self.index.payload.eq(self.first), ahead.eq(beyond - self.first)]
        with m.Elif(self.index.valid & self.index.ready):
            m.d.sync += [self.index.payload.eq(self.index.payload + self._stride), ahead.eq(ahead - self._stride)]
        return m
