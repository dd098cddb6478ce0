"""Sharing of a memory port between a BFS kernel and an intersection kernel (Attia et al. 2015, section 5.1)."""

from amaranth.hdl import Elaboratable, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import MemoryPortSignature, drive


class PortShare(wiring.Component):
    """Connects the module that owns the ports to a port; the modules never run at once. Combinational.

    Members
    -------
    intersection_owns : In(1)
        The intersection kernel has the port, else the BFS kernel.
    bfs, intersection : In(MemoryPortSignature())
        The kernels' ports.
    port : Out(MemoryPortSignature())
        The memory port.
    """

    intersection_owns: In(1)
    bfs: In(MemoryPortSignature())
    intersection: In(MemoryPortSignature())
    port: Out(MemoryPortSignature())

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the selection."""
        m = Module()
        for name in ("read", "write"):
            channel = getattr(self.port, name)
            first = getattr(self.bfs, name)
            second = getattr(self.intersection, name)
            m.d.comb += [
                channel.valid.eq(Mux(self.intersection_owns, second.valid, first.valid)),
                channel.payload.eq(Mux(self.intersection_owns, second.payload.as_value(), first.payload.as_value())),
                first.ready.eq(channel.ready & ~self.intersection_owns),
                second.ready.eq(channel.ready & self.intersection_owns),
            ]
        m.d.comb += self.port.flush.eq(Mux(self.intersection_owns, self.intersection.flush, self.bfs.flush))
        for user, owns in ((self.bfs, ~self.intersection_owns), (self.intersection, self.intersection_owns)):
            m.d.comb += [
                *drive(user.response, valid=self.port.response.valid & owns, payload=self.port.response.payload),
                user.flushed.eq(self.port.flushed & owns),
            ]
        return m
