"""Process 1 of the BFS kernel: reads the words of the current queue (Attia et al. 2015, section 5.2)."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.bfs.tags import Tag
from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8, drive
from cyscc.hw.queue_reader import QueueReader
from cyscc.hw.reading_process import ReadingProcess


class FrontierReader(ReadingProcess):
    """Requests this kernel's share of the current queue and keeps the answers for process 2.

    Parameters
    ----------
    depth : int
        Places for words in flight or waiting.
    stride : int
        BFS kernels of the machine.
    fetching : bool
        The published behaviour: it begins a cycle after `start`.
    registered : bool
        As of every `ReadingProcess`.
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

    MEMBERS: ClassVar = {
        "current_queue": In(ADDRESS_WIDTH),
        "count": In(32),
        "first": In(32),
        "start": In(1),
    }
    RESULTS: ClassVar = {"words": Out(stream.Signature(64))}

    def __init__(
        self, *, depth: int, stride: int, fetching: bool = False, registered: bool = False, instrument: bool = False
    ) -> None:
        self._stride = stride
        self._fetching = fetching
        super().__init__(depth=depth, registered=registered, instrument=instrument)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        m.submodules.reader = reader = QueueReader(stride=self._stride)
        credits, fifo = self._add_queues(m, fifo=64)
        index = reader.index
        taken = self.words.valid & self.words.ready
        start = self.start
        if self._fetching:
            start = Signal(name="late_start")
            m.d.sync += start.eq(self.start)
        m.d.comb += [
            *drive(reader, count=self.count, first=self.first, start=start),
            self.command.valid.eq(index.valid & credits.available),
            index.ready.eq(self.command.ready & credits.available),
            *drive(
                self.command.payload, base=self.current_queue, index=index.payload, size=SIZE_8, tag=Tag.FRONTIER_WORD
            ),
        ]
        self._read(
            m,
            credits,
            [fifo],
            requested=self.command.valid & self.command.ready,
            answers=fifo,
            output=self.words,
            taken=taken,
            joined=[self.words.payload.eq(fifo.output.payload)],
            idle=[reader.finished],
            moving=[taken, *([start] * self._fetching)],
            wanted=index.valid,
        )
        return m
