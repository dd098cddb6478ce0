"""Hardware that has the hazards of the published machine: our components, each with one rule broken.

A variant stands in for a component under the name by which its parent knows it; `install` puts it there. It wraps the
component or adds to it, so that all but the broken rule is the shipped hardware.
"""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from amaranth.hdl import Assert, Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal
from amaranth.lib.wiring import In, connect, flipped

from cyscc.hw.bfs.frontier_reader import FrontierReader
from cyscc.hw.bfs.kernel import Kernel
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.bfs.word_reader import WordReader
from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import Response
from cyscc.hw.queue import Queue
from cyscc.hw.request_mux import RequestMux
from cyscc.hw.response_decoder import ResponseDecoder
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.shell import Shell
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


def _around(outer: Any, inner: Any, *, but: Sequence[str] = (), reset: Any = None) -> Module:
    """Return a module with `inner` in it, whose members are those of `outer`, except those named."""
    m = Module()
    m.submodules.inner = inner if reset is None else ResetInserter(reset)(inner)
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


class _FlushedMux(RequestMux):
    """A multiplexer with an input for the flush."""

    def __init__(self, **sizes: Any) -> None:
        super().__init__(**sizes)
        self.flushing = Signal()


class ForgetfulMux(_FlushedMux):
    """Hazard 3: never busy; requests on their way to the port are dropped when the kernel flushes."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Reset the multiplexer with the flush."""
        inner = RequestMux(sources=self._kinds, issue_interval=self._issue_interval)
        return _around(self, inner, but=("busy",), reset=self.flushing)


class FlushedEarlyKernel(Kernel):
    """Hazard 3: flushes while a write is on its way to the port. Needs `ForgetfulMux`."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Tell the multiplexer of the flush."""
        m: Any = super().elaborate(platform)
        m.d.comb += m.submodules.mux.flushing.eq(m.submodules.control.flush)
        return m


class RepeatingMux(_FlushedMux):
    """Hazard 3: repeats the last write until the flush is answered."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Keep the last write."""
        inner = RequestMux(sources=self._kinds, issue_interval=self._issue_interval)
        m = _around(self, inner, but=("write",))
        written = Signal()
        last = Signal.like(self.write.payload)
        with m.If(inner.write.valid):
            m.d.sync += [written.eq(1), last.eq(inner.write.payload)]
            m.d.comb += self.write.payload.eq(inner.write.payload)
        with m.Else():
            m.d.comb += self.write.payload.eq(last)
        m.d.comb += [
            self.write.valid.eq(inner.write.valid | (written & self.flushing)),
            inner.write.ready.eq(self.write.ready),
        ]
        return m


class RepeatingKernel(Kernel):
    """Hazard 3: reports to its `RepeatingMux` how long it flushes."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Note the flush."""
        m: Any = super().elaborate(platform)
        flushing = m.submodules.mux.flushing
        with m.If(m.submodules.control.flush):
            m.d.sync += flushing.eq(1)
        with m.Elif(self.port.flushed):
            m.d.sync += flushing.eq(0)
        return m


class SleepyRingMaster(RingMaster):
    """Hazard 4: no longer passes the token on in an AE that is done, unless it leads."""

    def __init__(self, **sizes: Any) -> None:
        super().__init__(**sizes)
        self.asleep = Signal()

    def elaborate(self, platform: object) -> Elaboratable:
        """Stop the token at the entrance."""
        inner = RingMaster(stages=self._stages, initial=self._initial)
        m = _around(self, inner, but=("ring_in",))
        m.d.comb += [
            inner.ring_in.valid.eq(self.ring_in.valid & (self.lead | ~self.asleep)),
            inner.ring_in.payload.eq(self.ring_in.payload),
        ]
        return m


class SleepyShell(Shell):
    """Hazard 4: reports to its `SleepyRingMaster` that the AE's kernels are done."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the signal."""
        m: Any = super().elaborate(platform)
        m.d.comb += m.submodules.bfs_ring.asleep.eq(m.submodules.bfs_master.complete)
        return m


class LeakyRingMaster(RingMaster):
    """Hazard 5: sends the token on with which the run has ended, and takes it off only if no other run has begun."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Add a way round the master for it."""
        inner = RingMaster(stages=self._stages, initial=self._initial)
        m = _around(self, inner, but=("ring_out",))
        leak = Signal()
        token = Signal.like(self.ring_in.payload)
        m.d.sync += [
            leak.eq(self.lead & self.running & self.ring_in.valid & self.ring_in.payload.done),
            token.eq(self.ring_in.payload),
        ]
        m.d.comb += [
            self.ring_out.valid.eq(inner.ring_out.valid | leak),
            self.ring_out.payload.eq(inner.ring_out.payload),
        ]
        with m.If(leak):
            m.d.comb += self.ring_out.payload.eq(token)
        return m


class EpochBlindAllocator(SlotAllocator):
    """Hazard 5: takes every token for one of its own run."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Compare the token's epoch with itself."""
        inner = SlotAllocator(depth=self._depth, blocking=self._blocking)
        m = _around(self, inner, but=("epoch",))
        m.d.comb += inner.epoch.eq(self.token_in.payload.epoch)
        return m


class UnreservedCredits(Credits):
    """Hazard 6: enough places that requests are never held back; it only counts entries in flight or stored."""

    def __init__(self, depth: int, *, registered: bool = False) -> None:
        super().__init__(64 * depth, registered=registered)


class RoomTellingNeighbourReader(NeighbourReader):
    """Hazard 6: reports whether its FIFO can accept a response."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.room = Signal()

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the signal."""
        m: Any = super().elaborate(platform)
        m.d.comb += self.room.eq(m.submodules.fifo.input.ready)
        return m


class InOrderDecoder(ResponseDecoder):
    """Hazard 6: a response for which there is no room waits, and all that follow wait behind it."""

    def __init__(self, processes: int) -> None:
        super().__init__(processes)
        self.room = Signal()

    def elaborate(self, platform: object) -> Elaboratable:
        """Put a queue before the decoder, as long as all that can be in flight."""
        inner = ResponseDecoder(self._processes)
        m = _around(self, inner, but=("response",))
        m.submodules.waiting = waiting = Queue(Response, 1024)
        head = waiting.output
        passes = (head.payload.tag != Tag.NEIGHBOUR_ID) | self.room
        m.d.comb += [
            waiting.input.valid.eq(self.response.valid),
            waiting.input.payload.eq(self.response.payload),
            inner.response.valid.eq(head.valid & passes),
            inner.response.payload.eq(head.payload),
            head.ready.eq(passes),
        ]
        return m


class InOrderKernel(Kernel):
    """Hazard 6: reports the room in the neighbour-id FIFO to its `InOrderDecoder`."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the signal."""
        m: Any = super().elaborate(platform)
        m.d.comb += m.submodules.decoder.room.eq(m.submodules.neighbour_reader.room)
        return m


class GenerousCredits(Credits):
    """Hazard 7: promises every place of a FIFO four times, as if most responses in flight took none."""

    def __init__(self, depth: int, *, registered: bool = False) -> None:
        super().__init__(4 * depth, registered=registered)


def on_credits(kind: Any, credits: type[Credits]) -> type:
    """Return a process that reads on other credits than its own."""

    class OnCredits(kind):
        """The process with these credits."""

        def _add_queues(self, m: Module, **shapes: Any) -> list[Any]:
            with patch("cyscc.hw.reading_process.Credits", credits):
                found: list[Any] = super()._add_queues(m, **shapes)
            return found

    return OnCredits


def _watched(kind: Any, **fifos: str) -> type:
    """Return a process with assertions that its FIFOs of these names are never written when they are full."""

    class Watched(kind):
        """The process with the watch."""

        def elaborate(self, platform: object) -> Elaboratable:
            """Add the watch."""
            m: Any = super().elaborate(platform)
            for told, name in fifos.items():
                fifo = getattr(m.submodules, name)
                m.d.sync += Assert(~fifo.input.valid | fifo.input.ready, f"overflow of the {told} FIFO")
            return m

    return Watched


WATCHED = {
    "bfs.kernel.FrontierReader": _watched(FrontierReader, frontier="fifo"),
    "bfs.kernel.NeighbourReader": _watched(NeighbourReader, neighbour="fifo"),
    "bfs.kernel.WordReader": _watched(WordReader, id="id_fifo", word="word_fifo"),
}
"""The processes that read, each with a watch on its FIFOs, by their places."""


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
