"""Process 2 of the BFS kernel where it reads neighbour ids in pairs: half as many reads for the same ids."""

from typing import Any, ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.tags import Tag
from cyscc.hw.graph_word import GraphWord
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8, drive
from cyscc.hw.reading_process import ReadingProcess


class _PairReader(ReadingProcess):
    """Expands each frontier word into reads of aligned pairs of its neighbour ids.

    A pair is 64 bits of C, the id of even index in the low half. Of a vertex whose ids start at an odd index, the low
    half of the first pair is another vertex's; of one whose ids end before an odd index, the high half of the last pair
    is another's, or lies behind the end of C. Which halves count is kept beside each read.
    """

    MEMBERS: ClassVar = {
        "neighbours": In(ADDRESS_WIDTH),
        "words": In(stream.Signature(64)),
    }

    def _hand_on(self, m: Module, pair: Any, counts: Value) -> tuple[Value, Value]:
        """Connect the outputs; return whether an id is taken in this cycle, and the last one of a pair.

        Parameters
        ----------
        m : Module
            The process.
        pair : stream of 64 bits
            Pairs, in the order of C.
        counts : Value, 2 bits
            Which halves of the pair count: at least one.
        """
        raise NotImplementedError

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        credits, half_fifo, fifo = self._add_queues(m, half_fifo=2, fifo=64)

        decoded = Signal()
        start = Signal(GraphWord["start"].width)
        size = Signal(GraphWord["degree"].width)
        odd = Signal()  # the first pair's low half is another vertex's
        pointer = Signal(31)
        ahead = Signal(signed(32), init=-1)  # pairs left to request, less one
        late = Signal()  # the low half of the next pair does not count
        short = Signal()  # the high half of the last pair does not count
        expanding = ~ahead[-1]

        requested = self.command.valid & self.command.ready
        load = decoded & ~expanding
        with m.If(load):
            m.d.sync += [
                pointer.eq(start[1:]),
                # Rounded down, so that none are left of a vertex without neighbours.
                ahead.eq((size + odd - 1) >> 1),
                late.eq(odd),
                short.eq(start[0] ^ size[0]),
            ]
        with m.Elif(requested):
            m.d.sync += [pointer.eq(pointer + 1), ahead.eq(ahead - 1), late.eq(0)]

        word = data.View(GraphWord, self.words.payload)
        m.d.comb += self.words.ready.eq(~decoded | load)
        with m.If(self.words.ready):
            m.d.sync += [
                decoded.eq(self.words.valid),
                start.eq(word.start),
                size.eq(word.degree),
                odd.eq(word.start[0] & word.degree.any()),
            ]

        last = ~ahead.any()
        pair = stream.Signature(64).create(path=("pair",))
        handed, done = self._hand_on(m, pair, half_fifo.output.payload)
        m.d.comb += [
            self.command.valid.eq(expanding & credits.available),
            *drive(self.command.payload, base=self.neighbours, index=pointer, size=SIZE_8, tag=Tag.NEIGHBOUR_ID),
        ]
        self._read(
            m,
            credits,
            [half_fifo, fifo],
            requested=requested,
            answers=fifo,
            output=pair,
            taken=done,
            joined=[pair.payload.eq(fifo.output.payload)],
            kept=drive(half_fifo.input, valid=requested, payload=Cat(~late, ~(last & short))),
            idle=[~decoded, ~expanding],
            moving=[handed, load, self.words.valid & self.words.ready],
            wanted=expanding,
        )
        return m


class PairReader(_PairReader):
    """Expands each frontier word into reads of aligned pairs of its neighbour ids and hands the ids on one by one.

    A vertex without out-edges takes one cycle and asks for nothing; another takes as many reads as there are aligned
    pairs with an id of its own: `degree / 2`, rounded up, or one more if its ids start at an odd index and their number
    is even.

    Parameters
    ----------
    depth : int
        Places for pairs in flight or waiting.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    neighbours : In
        Address of C, a multiple of 8 bytes. If C has an odd number of ids, the 4 bytes behind it may be read.
    words : In(stream of 64 bits)
        Frontier words from process 1.
    command : Out(stream of ReadCommand)
        To the multiplexer; its index is that of a pair.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    ids : Out(stream of 32 bits)
        Neighbour ids, in the order of C.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.

    Notes
    -----
    Throughput one read and one id a cycle, with one cycle without a read between two vertices.
    """

    RESULTS: ClassVar = {"ids": Out(stream.Signature(32))}

    def _hand_on(self, m: Module, pair: Any, counts: Value) -> tuple[Value, Value]:
        second = Signal()  # the low half of the pair was taken
        upper = second | ~counts[0]
        last = upper | ~counts[1]
        handed = self.ids.valid & self.ids.ready
        m.d.comb += [
            self.ids.valid.eq(pair.valid),
            self.ids.payload.eq(Mux(upper, pair.payload[32:], pair.payload[:32])),
        ]
        with m.If(handed):
            m.d.sync += second.eq(~last)
        return handed, handed & last


class LanePairReader(_PairReader):
    """The same with a stream for either half of a pair, for two ids a cycle.

    The next pair is offered when all ids of a pair are taken; which is taken first does not matter.

    Parameters
    ----------
    depth, instrument
        As of `PairReader`.

    Members
    -------
    neighbours, words, command, response : In, Out
        As of `PairReader`.
    low, high : Out(stream of 32 bits)
        Neighbour ids of even and of odd index in C, in its order. Neither `valid` waits for a `ready`.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.

    Notes
    -----
    Throughput one read and two ids a cycle, with one cycle without a read between two vertices.
    """

    RESULTS: ClassVar = {"low": Out(stream.Signature(32)), "high": Out(stream.Signature(32))}

    def _hand_on(self, m: Module, pair: Any, counts: Value) -> tuple[Value, Value]:
        earlier = Signal(2)  # halves of the pair that were taken in cycles before
        for lane, output in enumerate((self.low, self.high)):
            m.d.comb += [
                output.valid.eq(pair.valid & counts[lane] & ~earlier[lane]),
                output.payload.eq(pair.payload.word_select(lane, 32)),
            ]
        taken = Cat(output.valid & output.ready for output in (self.low, self.high))
        last = (earlier | taken | ~counts).all()
        handed = taken.any()
        with m.If(handed):
            m.d.sync += earlier.eq(Mux(last, 0, earlier | taken))
        return handed, handed & last
