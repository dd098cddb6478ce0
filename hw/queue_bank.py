"""Queue bank: queues with a writer each and one reader, in LUT RAM."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from cyscc.hw.or_gate import OrGate

_FEEDBACK = {3: 1, 4: 2, 5: 2, 6: 4, 7: 5}
"""By length of a shift register, the bit that is fed back beside the last one to pass all states but 0."""


class QueueBank(wiring.Component):
    """Queues that are filled at the same time, and emptied one entry a cycle.

    The reader pulls an entry by a bit that is registered before the memories are read, so that its choice may take a
    cycle, and reading another. What it has pulled is no longer `available` in the next cycle.

    Parameters
    ----------
    shape : ShapeLike
        Shape of an entry.
    queues : int
        Queues.
    depth : int
        Entries that a queue holds at least; a power of two from 4 to 64. It holds `capacity`.

    Members
    -------
    push : In(queues)
        An entry goes into the queue. Only if it holds fewer than `capacity`.
    entry0, entry1, ... : In(shape)
        The entries that go in.
    pull : In(queues)
        The oldest entry of a queue is wanted: one bit at most, only of a queue that is `available`. Looked at if
        `advance`.
    advance : In(1)
        What was pulled moves on: from the choice to `pulling`, and from there to `shown`.
    available : Out(queues)
        The queue has an entry that was not pulled. Registered.
    pulling : Out(queues)
        The queue whose entry is read: it is `shown` after the next `advance`. Registered.
    shown : Out(shape)
        The entry that was read last; all bits 0 if none was at the last `advance`. Registered.
    room : Out(queues)
        The queue takes an entry even if `SLACK` others are on their way to it. Registered.
    busy : Out(1)
        A queue holds an entry, `shown` left out. A function of registers.

    Notes
    -----
    Latency: an entry that is pushed is available in the next cycle, and shown two cycles after it was pulled.
    Throughput: an entry a cycle into each queue, and one out of one of them.

    A producer that looks at `room`, registers its entry and pushes it in the next cycle never overflows a queue: when
    it looks, two of its entries may not be counted yet.

    A memory has twice as many places as the depth: a LUT of the LX330 has 32 anyway. The order of places is that of a
    shift register with feedback, which takes one gate where a counter takes one for each bit, and leaves out place 0.
    A queue that is not read shows that place, which nobody writes, so that a gate for each bit joins all queues where a
    multiplexer would take two LUTs more.
    """

    SLACK = 2

    def __init__(self, shape: ShapeLike, *, queues: int, depth: int) -> None:
        if queues < 1:
            raise ValueError(f"queues must be at least 1, not {queues!r}")
        if not 4 <= depth <= 64 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 4 to 64, not {depth!r}")
        self._shape = shape
        self._queues = queues
        self._depth = depth
        super().__init__(
            {
                "push": In(queues),
                **{f"entry{number}": In(shape) for number in range(queues)},
                "pull": In(queues),
                "advance": In(1),
                "available": Out(queues),
                "pulling": Out(queues),
                "shown": Out(shape),
                "room": Out(queues, init=(1 << queues) - 1),
                "busy": Out(1),
            }
        )

    @property
    def depth(self) -> int:
        """Entries that a queue holds at least."""
        return self._depth

    @property
    def capacity(self) -> int:
        """Entries that a queue holds: as many as its memory has places, but place 0."""
        return 2 * self._depth - 1

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the memories with their pointers, and the way to the output."""
        m = Module()
        bits = self._depth.bit_length()
        heads: list[Value] = []
        for number in range(self._queues):
            m.submodules[f"entries{number}"] = entries = Memory(shape=self._shape, depth=2 * self._depth, init=[])
            write = entries.write_port()
            read = entries.read_port(domain="comb")
            first = Signal(bits, init=1, name=f"first{number}")  # the next one that is pulled
            end = Signal(bits, init=1, name=f"end{number}")
            place = Signal(bits, reset_less=True, name=f"place{number}")
            count = Signal(bits, name=f"count{number}")
            heads.append(Value.cast(read.data))
            push, available = self.push[number], self.available[number]
            pulled = self.pull[number] & self.advance
            left = self.pulling[number] & self.advance
            m.d.comb += [
                write.addr.eq(end),
                write.data.eq(getattr(self, f"entry{number}")),
                write.en.eq(push),
                read.addr.eq(place),
            ]
            m.d.sync += [
                available.eq(push | (available & (~pulled | (_following(first) != end)))),
                count.eq(counted(count, up=push & ~left, down=left & ~push)),
                self.room[number].eq(count < self.capacity - self.SLACK),
            ]
            with m.If(push):
                m.d.sync += end.eq(_following(end))
            with m.If(pulled):
                m.d.sync += first.eq(_following(first))
            with m.If(self.advance):
                m.d.sync += place.eq(Mux(self.pull[number], first, 0))
        shown = _joined(m, heads)
        with m.If(self.advance):
            m.d.sync += [self.pulling.eq(self.pull), Value.cast(self.shown).eq(shown)]
        m.d.comb += self.busy.eq((self.available | self.pulling).any())
        return m


def _joined(m: Module, heads: list[Value]) -> Value:
    """Return all entries joined bit by bit."""
    while len(heads) > 1:
        words, rest = heads[: OrGate.MOST], heads[OrGate.MOST :]
        m.submodules[f"join{len(heads)}"] = gate = OrGate(len(words[0]), inputs=len(words))
        m.d.comb += [getattr(gate, f"word{n}").eq(word) for n, word in enumerate(words)]
        heads = [*rest, gate.joined]
    return heads[0]


def _following(place: Value) -> Value:
    """Return the place behind another one, in a circle of all but place 0."""
    return Cat(place[-1] ^ place[_FEEDBACK[len(place)]], place[:-1])


def counted(value: Value, *, up: Value, down: Value | int = 0) -> Value:
    """Return a small number, one more or less, in gates: a carry chain takes more time.

    Parameters
    ----------
    value : Value
        The number, which wraps around.
    up, down : Value or int
        One more, one less; not both.
    """
    return Cat(value[bit] ^ ((up & value[:bit].all()) | (down & ~value[:bit].any())) for bit in range(len(value)))
