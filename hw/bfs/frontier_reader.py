"""Process 1 of the BFS kernel: reads the words of the current queue (Attia et al. 2015, section 5.2)."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import ReadCommand
from cyscc.hw.bfs.tags import Tag
from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8
from cyscc.hw.queue import Queue
from cyscc.hw.queue_reader import QueueReader
from cyscc.hw.reading_process import ReadingProcess

__all__ = ["FrontierReader"]


class FrontierReader(ReadingProcess):
    """Requests this kernel's share of the current queue and keeps the answers for process 2.

    Parameters
    ----------
    depth : int
        Places for words in flight or waiting.
    stride : int
        BFS kernels of the machine.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    current_queue, count : In
        Address of the current queue and its number of entries.
    first, start : In
        This kernel's number, and the pulse with which it is valid and work begins.
    command : Out(stream of ReadCommand)
        To the multiplexer.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    words : Out(stream of 64 bits)
        Frontier words, in queue order.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.
    """

    def __init__(self, *, depth: int, stride: int, instrument: bool = False) -> None:
        self._stride = stride
        super().__init__(
            {
                "current_queue": In(ADDRESS_WIDTH),
                "count": In(32),
                "first": In(32),
                "start": In(1),
                "command": Out(stream.Signature(ReadCommand)),
                "response": In(stream.Signature(64, always_ready=True)),
                "words": Out(stream.Signature(64)),
            },
            depth=depth,
            instrument=instrument,
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        m.submodules.reader = reader = QueueReader(stride=self._stride)
        m.submodules.credits = credits = Credits(self._depth)
        m.submodules.fifo = fifo = Queue(64, self._depth)
        taken = self.words.valid & self.words.ready
        m.d.comb += [
            reader.count.eq(self.count),
            reader.first.eq(self.first),
            reader.start.eq(self.start),
            self.command.valid.eq(reader.index.valid & credits.available),
            reader.index.ready.eq(self.command.ready & credits.available),
            self.command.payload.base.eq(self.current_queue),
            self.command.payload.index.eq(reader.index.payload),
            self.command.payload.size.eq(SIZE_8),
            self.command.payload.tag.eq(Tag.FRONTIER_WORD),
            credits.take.eq(self.command.valid & self.command.ready),
            credits.give.eq(taken),
            fifo.input.valid.eq(self.response.valid),
            fifo.input.payload.eq(self.response.payload),
            self.words.valid.eq(fifo.output.valid),
            self.words.payload.eq(fifo.output.payload),
            fifo.output.ready.eq(self.words.ready),
            self.idle.eq(reader.finished & credits.home),
            self.moving.eq(fifo.moving | taken),
            self.credits.eq(credits.count),
        ]
        self._show(m, credits, fifo, wanted=reader.index.valid)
        return m
