"""Hardware that has the hazards of the published machine: our components, each with one rule broken.

A variant stands in for a component under the name by which its parent knows it; `install` puts it there. It wraps the
component or adds to it, so that all but the broken rule is the shipped hardware.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import In, connect, flipped

from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.queue import Queue
from cyscc.hw.request_mux import RequestMux
from cyscc.sim.executors.amaranth import elaborated


def install(monkeypatch: pytest.MonkeyPatch, variants: dict[str, type]) -> None:
    """Put variants into the places of components until the test ends.

    Parameters
    ----------
    monkeypatch : pytest.MonkeyPatch
        Of the test.
    variants : dict
        By place: a module below `cyscc.hw` and the name in it, such as ``"bfs.kernel.Visitor"``.
    """
    for place, variant in variants.items():
        monkeypatch.setattr(f"cyscc.hw.{place}", variant)
    # A machine elaborated before has the components themselves, and this one is for nobody else.
    monkeypatch.setattr("cyscc.sim.executors.amaranth.elaborated", elaborated.__wrapped__)


def _around(outer: Any, inner: Any, *, but: Sequence[str]) -> Module:
    """Return a module with `inner` in it, whose members are those of `outer`, except those named."""
    m = Module()
    m.submodules.inner = inner
    for name, member in outer.signature.members.items():
        if name in but:
            continue
        ours, its = getattr(outer, name), getattr(inner, name)
        if member.is_signature:
            connect(m, its, flipped(ours))
        else:
            m.d.comb += its.eq(ours) if member.flow is In else ours.eq(its)
    return m


class SplitNeighbourReader(NeighbourReader):
    """Hazard 1: starts and counts wait in two queues, and a vertex without out-edges enters only one of them."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Put the two queues before the process."""
        inner = NeighbourReader(depth=self._depth, instrument=self._instrument)
        m = _around(self, inner, but=("words", "idle"))
        m.submodules.starts = starts = Queue(32, self._depth)
        m.submodules.counts = counts = Queue(31, self._depth)
        room = starts.input.ready & counts.input.ready
        start, count = self.words.payload[32:], self.words.payload[1:32]
        both = starts.output.valid & counts.output.valid
        m.d.comb += [
            self.words.ready.eq(room),
            starts.input.valid.eq(self.words.valid & room),
            starts.input.payload.eq(start),
            counts.input.valid.eq(self.words.valid & room & count.any()),
            counts.input.payload.eq(count),
            inner.words.valid.eq(both),
            inner.words.payload.eq(Cat(Const(0, 1), counts.output.payload, starts.output.payload)),
            starts.output.ready.eq(both & inner.words.ready),
            counts.output.ready.eq(both & inner.words.ready),
            self.idle.eq(inner.idle & ~starts.level.any() & ~counts.level.any()),
        ]
        return m


class EmptyFifoVisitor(Visitor):
    """Hazard 2: idle when nothing stands behind the vertex at the head, which is popped and waits for its slot."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Change what idle means."""
        inner = Visitor(depth=self._depth)
        m = _around(self, inner, but=("idle",))
        m.d.comb += self.idle.eq(self.level <= 1)
        return m


class EmptyFifoAllocator(SlotAllocator):
    """Hazard 2: has no part in whether a kernel is done, and lets the token pass once it is."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Add a way round the station."""
        inner = SlotAllocator(depth=self._depth, blocking=self._blocking)
        m = _around(self, inner, but=("idle", "token_in", "token_out"))
        passing = Signal()
        token = Signal.like(self.token_in.payload)
        m.d.sync += [passing.eq(self.token_in.valid & self.done), token.eq(self.token_in.payload)]
        m.d.comb += [
            self.idle.eq(1),
            inner.token_in.valid.eq(self.token_in.valid & ~self.done),
            inner.token_in.payload.eq(self.token_in.payload),
            self.token_out.valid.eq(inner.token_out.valid | passing),
            self.token_out.payload.eq(inner.token_out.payload),
        ]
        with m.If(passing):
            m.d.comb += self.token_out.payload.eq(token)
        return m


class SharedChannelMux(RequestMux):
    """Hazard 8: reads and writes leave through one register, so that one that the port does not take stops both."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Put the register behind the multiplexer."""
        inner = RequestMux(sources=self._kinds, issue_interval=self._issue_interval)
        m = _around(self, inner, but=("read", "write", "busy"))
        full = Signal()
        writes = Signal()
        free = ~full | Mux(writes, self.write.ready, self.read.ready)
        m.d.comb += [
            self.write.valid.eq(full & writes),
            self.read.valid.eq(full & ~writes),
            inner.write.ready.eq(free),
            inner.read.ready.eq(free & ~inner.write.valid),
            self.busy.eq(inner.busy | full),
        ]
        with m.If(free):
            m.d.sync += [
                full.eq(inner.read.valid | inner.write.valid),
                writes.eq(inner.write.valid),
                self.write.payload.eq(inner.write.payload),
                self.read.payload.eq(inner.read.payload),
            ]
        return m
