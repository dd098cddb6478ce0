"""Filter of neighbour ids that repeat in a level, so that parallel edges do not multiply copies of a vertex."""

from functools import reduce
from operator import xor
from typing import ClassVar

from amaranth.hdl import C, Cat, Elaboratable, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out


class CopyFilter(wiring.Component):
    """Passes neighbour ids from process 2 to process 3, except for those that it remembers from this run.

    The first of several equal ids makes process 3 read the vertex's word; the vertex is then visited already, or this
    kernel is about to visit it. So the others can be dropped. Without the filter, each of them whose word is read
    before the first one's mark is written is pushed again, and in the next level every copy pushes its neighbours
    again.

    The filter works like a set-associative cache: an id selects a set of `WAYS` entries by a hash of all its bits, and
    the set keeps the ids passed on last. An id is evicted only after `WAYS` other ids of its set. No id is evicted
    while all ids are below `depth`, since each set then has at most as many ids as entries.

    Parameters
    ----------
    depth : int
        Ids remembered; a power of two, at least 2 * `WAYS`.
    width : int
        Bits of an id.

    Members
    -------
    start : In(1)
        A run begins: the filter is cleared, which takes a cycle for each set, in which no id is taken. Only while
        `idle`, and with no id offered.
    ids : In(stream of ids)
        Neighbour ids from process 2.
    fresh : Out(stream of ids)
        Ids that are not remembered, to process 3; registered.
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
        """Return the set of an id: all its bits, folded. Set and tag together identify the id."""
        width = (self._places - 1).bit_length()
        bits = Value.cast(vertex)
        return reduce(xor, [bits[first : first + width] for first in range(0, len(bits), width)])

    def tag(self, vertex: ValueLike) -> Value:
        """Return the tag of an id, with a valid bit above it."""
        return Cat(Value.cast(vertex)[(self._places - 1).bit_length() :], 1)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the pipeline: a set is read when an id is taken, and written when the id is passed on."""
        m = Module()
        width = len(self.tag(self.ids.payload))
        m.submodules.remembered = remembered = Memory(shape=width * self.WAYS, depth=self._places, init=[])
        read, write = remembered.read_port(), remembered.write_port()

        held = Signal()
        vertex = Signal(self._width)
        forgetting = Signal()
        swept = Signal(range(self._places))  # sets below are cleared
        with m.If(self.start):
            m.d.sync += [forgetting.eq(1), swept.eq(0)]
        with m.Elif(forgetting):
            m.d.sync += [forgetting.eq(~swept.all()), swept.eq(swept + 1)]

        # The memory's read port returns the old contents in the cycle of a write.
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
        # A second register behind the output, so that `ids.ready` is a function of registers alone.
        waiting = Signal()
        behind = Signal(self._width)
        taken = self.ids.valid & self.ids.ready
        m.d.comb += [
            copy.eq(known.any()),
            # A copy stalls like any other id, because it is recognised late.
            done.eq(held & ~waiting),
            passed.eq(done & ~copy),
            self.ids.ready.eq((~held | done) & ~forgetting),
            read.addr.eq(self.place(self.ids.payload)),
            read.en.eq(taken),
            write.addr.eq(Mux(forgetting, swept, self.place(vertex))),
            # Clearing an entry clears its valid bit.
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
