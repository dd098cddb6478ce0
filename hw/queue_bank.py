"""Queue bank: queues with a writer each and one reader, in LUT RAM."""

from amaranth.hdl import Cat, Elaboratable, Module, ShapeLike, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["QueueBank", "counted"]


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
        Entries that a queue holds; a power of two, at least 4.

    Members
    -------
    push : In(queues)
        An entry goes into the queue. Only if it holds fewer than `depth`.
    entry0, entry1, ... : In(shape)
        The entries that go in.
    pull : In(queues)
        The oldest entry of a queue is wanted: one bit at most, only of a queue that is `available`. Looked at if
        `advance`.
    advance : In(1)
        What was pulled moves on: from the choice to `pulling`, and from there to `shown`.
    available : Out(queues)
        The queue has an entry that was not pulled. A function of registers.
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

    A queue that is not read shows the upper half of its memory, which nobody writes, so that a gate for each bit joins
    all queues where a multiplexer would take two LUTs more. A LUT of the LX330 has 32 places anyway.
    """

    SLACK = 2

    def __init__(self, shape: ShapeLike, *, queues: int, depth: int) -> None:
        if queues < 1:
            raise ValueError(f"queues must be at least 1, not {queues!r}")
        if depth < 4 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two of at least 4, not {depth!r}")
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
        """Entries that a queue holds."""
        return self._depth

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the memories with their pointers and counts, and the way to the output."""
        m = Module()
        bits = (self._depth - 1).bit_length()
        heads: list[Value] = []
        counts: list[Signal] = []
        for number in range(self._queues):
            m.submodules[f"entries{number}"] = entries = Memory(shape=self._shape, depth=2 * self._depth, init=[])
            write = entries.write_port()
            read = entries.read_port(domain="comb")
            first = Signal(bits, name=f"first{number}")
            end = Signal(bits, name=f"end{number}")
            count = Signal(bits + 1, name=f"count{number}")
            heads.append(Value.cast(read.data))
            counts.append(count)
            push, reads = self.push[number], self.pulling[number]
            left = reads & self.advance
            m.d.comb += [
                write.addr.eq(end),
                write.data.eq(getattr(self, f"entry{number}")),
                write.en.eq(push),
                read.addr.eq(Cat(first, ~reads)),
                self.available[number].eq(count[1:].any() | (count[0] & ~reads)),
            ]
            m.d.sync += [
                end.eq(counted(end, up=push)),
                first.eq(counted(first, up=left)),
                count.eq(counted(count, up=push & ~left, down=left & ~push)),
                self.room[number].eq(count < self._depth - self.SLACK),
            ]
        shown = Cat(Cat(head[bit] for head in heads).any() for bit in range(len(heads[0])))
        with m.If(self.advance):
            m.d.sync += [self.pulling.eq(self.pull), Value.cast(self.shown).eq(shown)]
        m.d.comb += self.busy.eq(Cat(counts).any())
        return m


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
