"""Arbitrated queues: queues with a writer each, whose entries leave by one stream in turn."""

from amaranth.hdl import Cat, Elaboratable, Module, ShapeLike, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import drive, number_bits
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.round_robin import RoundRobin


class ArbitratedQueues(wiring.Component):
    """Gathers the entries of many writers into one stream, so that no writer waits behind another one.

    Parameters
    ----------
    shape : ShapeLike
        Shape of an entry.
    queues : int
        Writers, each with a queue of its own.
    depth : int
        Entries that a queue holds at least, see `QueueBank`.

    Members
    -------
    push : In(queues)
        An entry goes into the writer's queue. Only as `room` allows, see `QueueBank`.
    entry0, entry1, ... : In(shape)
        The entries.
    room : Out(queues)
        The queue takes an entry even if two others are on their way to it. Registered.
    output : Out(stream of shape)
        The entries. Registered.
    source : Out(number_bits(queues))
        The writer of the entry at the output. Registered.
    busy : Out(1)
        An entry is held. A function of registers.

    Notes
    -----
    Throughput an entry a cycle. Latency `LATENCY` cycles from `push` to the output. Without an entry held or coming in,
    nothing changes but `room`, one cycle later.
    """

    LATENCY = 3

    def __init__(self, shape: ShapeLike, *, queues: int, depth: int) -> None:
        self._shape = shape
        self._queues = queues
        self._depth = depth
        super().__init__(
            {
                "push": In(queues),
                **{f"entry{number}": In(shape) for number in range(queues)},
                "room": Out(queues),
                "output": Out(stream.Signature(shape)),
                "source": Out(number_bits(queues)),
                "busy": Out(1),
            }
        )

    @property
    def depth(self) -> int:
        """Entries that a queue holds at least."""
        return self._depth

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the arbiter and the bank."""
        m = Module()
        m.submodules.bank = bank = QueueBank(self._shape, queues=self._queues, depth=self._depth)
        m.submodules.arbiter = arbiter = RoundRobin(self._queues)
        advance = ~self.output.valid | self.output.ready
        m.d.comb += [
            *drive(bank, push=self.push, pull=arbiter.grant, advance=advance),
            *(getattr(bank, f"entry{n}").eq(getattr(self, f"entry{n}")) for n in range(self._queues)),
            *drive(arbiter, requests=bank.available, advance=advance),
            *drive(self, room=bank.room, busy=bank.busy | self.output.valid),
            Value.cast(self.output.payload).eq(Value.cast(bank.shown)),
        ]
        with m.If(advance):
            m.d.sync += [self.output.valid.eq(bank.pulling.any()), self.source.eq(_number(bank.pulling))]
        return m


def _number(bits: Value) -> Value:
    """Return the number of the one bit that is set."""
    places = number_bits(len(bits))
    return Cat(Cat(bits[n] for n in range(len(bits)) if n >> place & 1).any() for place in range(places))
