"""Drops neighbour ids that come again in a level, so that repeated edges do not multiply copies of a vertex."""

from functools import reduce
from operator import xor
from typing import ClassVar

from amaranth.hdl import C, Cat, Elaboratable, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["CopyFilter"]


class CopyFilter(wiring.Component):
    """Passes neighbour ids on from process 2 to process 3, but those that it remembers from this run.

    The first of equal ids makes process 3 read the vertex's word; then the vertex is visited already, or this kernel is
    about to visit it. So the others need not be looked at: without this part, each whose word is read before the first
    one's mark is written is pushed again, and in the next level every copy pushes as many of its neighbours.

    An id has a place of `WAYS` entries, chosen by all its bits. The place keeps the ids that were passed on last. So an
    id is forgotten only when as many others of its place have been passed on since, and as long as all ids are below
    `depth` none is: these are as many to each place as it has entries.

    Parameters
    ----------
    depth : int
        Ids remembered; a power of two, at least 2 * `WAYS`.
    width : int
        Bits of an id.

    Members
    -------
    start : In(1)
        A run begins: everything is forgotten, which takes a cycle for each place, in which no id is taken. Only while
        `idle`, and with no id offered.
    ids : In(stream of ids)
        Neighbour ids from process 2.
    fresh : Out(stream of ids)
        Those of them that are not remembered, to process 3; registered.
    idle : Out(1)
        No id is held.
    moving : Out(1)
        State changes in this cycle without an id being taken from `fresh`.

    Notes
    -----
    Latency `LATENCY` cycles, throughput one id a cycle, passed on or dropped, while process 3 takes what goes on.
    """

    WAYS: ClassVar[int] = 4
    LATENCY: ClassVar[int] = 2

    def __init__(self, *, depth: int, width: int = 32) -> None:
        if depth < 2 * self.WAYS or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from {2 * self.WAYS} on, not {depth!r}")
        self._width = width
        self._places = depth // self.WAYS
        super().__init__(
            {
                "start": In(1),
                "ids": In(stream.Signature(width)),
                "fresh": Out(stream.Signature(width)),
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    def place(self, vertex: ValueLike) -> Value:
        """Return the number of an id's place: all its bits, folded. Place and tag together tell the id."""
        width = (self._places - 1).bit_length()
        bits = Value.cast(vertex)
        return reduce(xor, [bits[first : first + width] for first in range(0, len(bits), width)])

    def tag(self, vertex: ValueLike) -> Value:
        """Return what an entry of a place keeps of an id, and above it a one, which says that the entry is used."""
        return Cat(Value.cast(vertex)[(self._places - 1).bit_length() :], 1)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the pipeline: a place is read when its id is taken, and written when that is passed on."""
        m = Module()
        width = len(self.tag(self.ids.payload))
        m.submodules.remembered = remembered = Memory(shape=width * self.WAYS, depth=self._places, init=[])
        read, write = remembered.read_port(), remembered.write_port()

        held = Signal()
        vertex = Signal(self._width)
        forgetting = Signal()
        swept = Signal(range(self._places))  # places below have been forgotten
        with m.If(self.start):
            m.d.sync += [forgetting.eq(1), swept.eq(0)]
        with m.Elif(forgetting):
            m.d.sync += [forgetting.eq(~swept.all()), swept.eq(swept + 1)]

        # The memory shows what was there before a write in the same cycle.
        written = Signal(width * self.WAYS)
        overtaken = Signal()
        row = Signal(width * self.WAYS)
        m.d.comb += row.eq(Mux(overtaken, written, read.data))
        entries = [row[width * way : width * (way + 1)] for way in range(self.WAYS)]
        known = Cat(entry == self.tag(vertex) for entry in entries)
        following = Signal(width * self.WAYS)
        m.d.comb += following.eq(Cat(self.tag(vertex), row))

        copy = Signal()
        done = Signal()
        passed = Signal()
        # A second place behind the output, so that `ids.ready` hangs on registers alone.
        waiting = Signal()
        behind = Signal(self._width)
        taken = self.ids.valid & self.ids.ready
        m.d.comb += [
            copy.eq(known.any()),
            # A copy waits as any other id does: whether it is one is known late.
            done.eq(held & ~waiting),
            passed.eq(done & ~copy),
            self.ids.ready.eq((~held | done) & ~forgetting),
            read.addr.eq(self.place(self.ids.payload)),
            read.en.eq(taken),
            write.addr.eq(Mux(forgetting, swept, self.place(vertex))),
            # To forget an entry is to take the bit away that says that it is used.
            write.data.eq(following & Cat(C(-1, width - 1), ~forgetting).replicate(self.WAYS)),
            write.en.eq(forgetting | passed),
            self.idle.eq(~held & ~self.fresh.valid),
            self.moving.eq(forgetting | taken | done),
        ]
        with m.If(done):
            m.d.sync += [held.eq(0), written.eq(following)]
        with m.If(taken):
            m.d.sync += [
                held.eq(1),
                vertex.eq(self.ids.payload),
                overtaken.eq(passed & (read.addr == write.addr)),
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
