"""Visited bank: which of a kernel's ids of a plane were met in this search."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import rest_bits
from cyscc.hw.interfaces import number_bits


class VisitedBank(wiring.Component):
    """Passes on each id the first time that it comes since the bank was cleared, and drops it from then on.

    A bit for each id below `vertices` that belongs to the kernel and the plane, in rows of `ROW` bits of a block RAM
    with a read port, and a write port for parts of a row. The first of equal ids makes process 3 read the vertex's
    word; the vertex is then visited already, or the same kernel is about to visit it. So the bit is set when it is
    tested. Ids from `vertices` on have no bit, and always go on.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.
    vertices : int
        Ids with a bit in one of the AE's banks; a power of two.

    Members
    -------
    sweep : In(1)
        A row is cleared, and no id is taken. Only while `idle`, and from a cycle on in which no id is offered.
    row : In(number_bits(rows))
        The row.
    ids : In(stream of rest_bits(kernels) bits)
        Ids of the plane that the kernel owns, without the bits that say so. `ready` is a function of registers, `sweep`
        and `fresh.ready`.
    fresh : Out(stream of rest_bits(kernels) bits)
        Ids that had not come before; registered.
    idle : Out(1)
        No id is held.
    moving : Out(1)
        State changes in this cycle without an id being taken from `fresh`.

    Notes
    -----
    Latency `LATENCY` cycles, throughput an id a cycle, passed on or dropped, while what goes on is taken.

    An id's row is read when the id is taken, and its part is written back with the id's bit two cycles later, since a
    block RAM takes most of a cycle to bring its data out. So the next two ids, if they are of the same part, get it
    from that id.
    """

    ROW: ClassVar[int] = 64
    PART: ClassVar[int] = 16
    """Bits that are written together: those of a block of any FPGA's memory, so that what is read of another one while
    they are written is right."""
    LATENCY: ClassVar[int] = 3

    def __init__(self, *, kernels: int, vertices: int) -> None:
        for name, value in (("kernels", kernels), ("vertices", vertices)):
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name} must be a power of two, not {value!r}")
        self._rest = rest_bits(kernels)
        self._bits = max(1, vertices // (2 * kernels))
        super().__init__(
            {
                "sweep": In(1),
                "row": In(number_bits(self.rows)),
                "ids": In(stream.Signature(self._rest)),
                "fresh": Out(stream.Signature(self._rest)),
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    @property
    def rows(self) -> int:
        """Rows. Small banks too have two, of which the second one is not used."""
        return max(2, self._bits // self.ROW)

    @property
    def id_bits(self) -> int:
        """Bits of the ids that have a bit in the bank: it has none of an id with a bit set above these."""
        return (self._bits - 1).bit_length()

    @classmethod
    def row_of(cls, rest: Value) -> Value:
        """Return the row of an id, and what lies beyond the bank above it."""
        return rest[number_bits(cls.ROW) :]

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the pipeline, whose stages move on together: an id's row is read, then its bit is tested."""
        m = Module()
        # Of a part that is read while it is written, what the memory shows is not used.
        m.submodules.bits = bits = Memory(shape=self.ROW, depth=self.rows, init=[], attrs={"no_rw_check": 1})
        read = bits.read_port()
        write = bits.write_port(granularity=self.PART)
        bit = number_bits(self.PART)
        place = number_bits(self.ROW * self.rows)
        advance = ~self.fresh.valid | self.fresh.ready
        taken = self.ids.valid & self.ids.ready

        # An id whose row is being read, and behind that an id that is tested; whether each has a bit in the bank; and
        # whether it shares its part with the one before it, and with the one before that.
        reading = Signal()
        read_id = Signal(self._rest)
        reads_bit = Signal()
        reads_behind = Signal(2)
        testing = Signal()
        tested = Signal(self._rest)
        tests_bit = Signal()
        tests_behind = Signal(2)
        row = Signal(self.ROW, reset_less=True)  # of the id that is tested, if no id before it has a newer part
        last = Signal(self.PART)  # what was written for the one before
        second_last = Signal(self.PART)
        following = Signal(self.PART)
        known = Signal()

        def same(vertex: Value) -> Value:
            return self.ids.payload[bit:place] == vertex[bit:place]

        own = Cat(tests_bit & (tested[:bit] == number) for number in range(self.PART))
        shown = row.word_select(tested[bit : number_bits(self.ROW)], self.PART)
        newer = (last & tests_behind[0].replicate(self.PART)) | (second_last & tests_behind[1].replicate(self.PART))
        writes = advance & tests_bit
        moves = advance & (reading | testing)
        m.d.comb += [
            self.ids.ready.eq(advance & ~self.sweep),
            read.addr.eq(self.row_of(self.ids.payload)),
            read.en.eq(taken),
            following.eq(shown | newer | own),
            known.eq(((shown | newer) & own).any()),
            write.addr.eq(Mux(self.sweep, self.row, self.row_of(tested))),
            # Zeros while no id is held.
            write.data.eq(following.replicate(self.ROW // self.PART)),
            write.en.eq(
                Cat(
                    self.sweep | (writes & (tested[bit : number_bits(self.ROW)] == number))
                    for number in range(self.ROW // self.PART)
                )
            ),
            self.idle.eq(~(reading | testing | self.fresh.valid)),
            self.moving.eq(self.sweep | taken | moves),
        ]
        with m.If(taken):
            m.d.sync += [
                read_id.eq(self.ids.payload),
                reads_bit.eq(~self.ids.payload[self.id_bits :].any()),
                reads_behind.eq(Cat(reading & reads_bit & same(read_id), tests_bit & same(tested))),
            ]
        with m.If(advance):
            m.d.sync += [reading.eq(taken), self.fresh.valid.eq(testing & ~known)]
        with m.If(moves):
            m.d.sync += [
                testing.eq(reading),
                tests_bit.eq(reading & reads_bit),
                tested.eq(read_id),
                tests_behind.eq(reads_behind & reading.replicate(2)),
                last.eq(following),
                second_last.eq(last),
                self.fresh.payload.eq(tested),
            ]
            with m.If(reading & ~reads_behind.any()):
                m.d.sync += row.eq(read.data)
            with m.Else():
                m.d.sync += row.eq(0)
        return m
