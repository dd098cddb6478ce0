"""Visited bank: which of a kernel's ids of a plane were met in this search."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import ID_BITS
from cyscc.hw.interfaces import ADDRESS_WIDTH

__all__ = ["VisitedBank"]


class VisitedBank(wiring.Component):
    """Passes on each id the first time that it comes since the bank was cleared, and drops it from then on.

    A bit for each id below `vertices` that belongs to the kernel and the plane, in rows of `ROW` bits of a block RAM
    with a read and a write port. The first of equal ids makes process 3 read the vertex's word; the vertex is then
    visited already, or the same kernel is about to visit it. So the bit is set when it is tested. Ids from `vertices`
    on have no bit, and always go on.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.
    vertices : int
        Ids with a bit in one of the AE's banks; a power of two.

    Members
    -------
    clear : In(1)
        Pulse: a search begins. The rows of all ids up to `last` are cleared, a row a cycle; meanwhile no id is taken.
        Only while `idle`, and with no id offered.
    last : In(48)
        The greatest id that may come before the next `clear`; looked at with it.
    ids : In(stream of 32 bits)
        Ids of the plane that the kernel owns. Its `ready` is a function of registers alone.
    fresh : Out(stream of 32 bits)
        Ids that had not come before; registered.
    idle : Out(1)
        No id is held.
    moving : Out(1)
        State changes in this cycle without an id being taken from `fresh`.

    Notes
    -----
    Latency `LATENCY` cycles, throughput an id a cycle, passed on or dropped, while what goes on is taken.
    """

    ROW: ClassVar[int] = 64
    LATENCY: ClassVar[int] = 2

    def __init__(self, *, kernels: int, vertices: int) -> None:
        for name, value in (("kernels", kernels), ("vertices", vertices)):
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name} must be a power of two, not {value!r}")
        self._skipped = kernels.bit_length()  # bits of plane and owner
        self._vertices = vertices
        # Small ones too have two rows, of which the second one is not used.
        self._rows = max(2, vertices // (2 * kernels * self.ROW))
        super().__init__(
            {
                "clear": In(1),
                "last": In(ADDRESS_WIDTH),
                "ids": In(stream.Signature(ID_BITS)),
                "fresh": Out(stream.Signature(ID_BITS)),
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    def _row(self, vertex: Value) -> Value:
        """Return the row of an id, and what lies beyond the bank above it."""
        return vertex[self._skipped + (self.ROW - 1).bit_length() :]

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the pipeline: a row is read when an id is taken, and written when the id is passed on."""
        m = Module()
        m.submodules.bits = bits = Memory(shape=self.ROW, depth=self._rows, init=[])
        read = bits.read_port()
        write = bits.write_port()

        held = Signal()
        vertex = Signal(ID_BITS)
        beyond = Signal()  # the id held has no bit
        clearing = Signal()
        swept = Signal(range(self._rows))  # the row that is cleared next
        end = self._row(self.last)
        with m.If(self.clear):
            m.d.sync += [clearing.eq(1), swept.eq(Mux(end < self._rows, end, self._rows - 1))]
        with m.Elif(clearing):
            m.d.sync += [clearing.eq(swept.any()), swept.eq(swept - 1)]

        # The memory's read port returns the old contents in the cycle of a write.
        written = Signal(self.ROW)
        overtaken = Signal()
        row = Signal(self.ROW)
        own = Signal(self.ROW)
        following = Signal(self.ROW)
        known = Signal()
        done = Signal()
        passed = Signal()
        # A second register behind the output, so that `ids.ready` is a function of registers alone.
        waiting = Signal()
        behind = Signal(ID_BITS)
        taken = self.ids.valid & self.ids.ready
        m.d.comb += [
            row.eq(Mux(overtaken, written, read.data)),
            own.eq(1 << vertex[self._skipped :][: (self.ROW - 1).bit_length()]),
            following.eq(row | own),
            known.eq((row & own).any() & ~beyond),
            # A known id stalls like any other, because it is recognised late.
            done.eq(held & ~waiting),
            passed.eq(done & ~known),
            self.ids.ready.eq((~held | done) & ~clearing),
            read.addr.eq(self._row(self.ids.payload)),
            read.en.eq(taken),
            write.addr.eq(Mux(clearing, swept, self._row(vertex))),
            write.data.eq(Mux(clearing, 0, following)),
            write.en.eq(clearing | (passed & ~beyond)),
            self.idle.eq(~held & ~self.fresh.valid),
            self.moving.eq(clearing | taken | done),
        ]
        with m.If(done):
            m.d.sync += [held.eq(0), written.eq(following)]
        with m.If(taken):
            m.d.sync += [
                held.eq(1),
                vertex.eq(self.ids.payload),
                beyond.eq(self.ids.payload >= self._vertices),
                overtaken.eq(write.en & (read.addr == write.addr)),
            ]
        with m.If(~self.fresh.valid | self.fresh.ready):
            m.d.sync += [
                self.fresh.valid.eq(waiting | passed),
                self.fresh.payload.eq(Mux(waiting, behind, vertex)),
                waiting.eq(0),
            ]
        with m.Elif(passed):
            m.d.sync += waiting.eq(1)
        with m.If(~waiting):
            m.d.sync += behind.eq(vertex)
        return m
