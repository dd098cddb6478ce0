"""Process 1 of the intersection kernel: reads the reach queues, forward first (Attia et al. 2015, section 5.3)."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_4, drive
from cyscc.hw.intersection.tags import Direction, ReachEntry, Tag
from cyscc.hw.queue_reader import QueueReader
from cyscc.hw.reading_process import ReadingProcess


class ReachReader(ReadingProcess):
    """Requests this kernel's share of the forward reach queue, then of the backward one, and joins ids and directions.

    No barrier lies between the two: a word's visited flag is only ever cleared for a vertex that the other search did
    not reach, so a vertex of the component is coloured by whichever pass meets it first.

    Parameters
    ----------
    depth : int
        Places for entries in flight or waiting.
    stride : int
        Intersection kernels of the machine.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    forward_queue, forward_count, backward_queue, backward_count : In
        Addresses of the reach queues and their numbers of entries.
    first, start : In
        This kernel's number, and the pulse with which it is valid and work begins.
    command : Out(stream of ReadCommand)
        To the multiplexer.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    entries : Out(stream of ReachEntry)
        Reached vertices.
    idle, moving, credits, starved, fill : Out
        As of every `ReadingProcess`.
    """

    MEMBERS: ClassVar = {
        "forward_queue": In(ADDRESS_WIDTH),
        "forward_count": In(32),
        "backward_queue": In(ADDRESS_WIDTH),
        "backward_count": In(32),
        "first": In(32),
        "start": In(1),
    }
    RESULTS: ClassVar = {"entries": Out(stream.Signature(ReachEntry))}

    def __init__(self, *, depth: int, stride: int, instrument: bool = False) -> None:
        self._stride = stride
        super().__init__(depth=depth, instrument=instrument)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the process."""
        m = Module()
        m.submodules.forward = forward = QueueReader(stride=self._stride)
        m.submodules.backward = backward = QueueReader(stride=self._stride)
        credits, id_fifo, direction_fifo = self._add_queues(m, id_fifo=32, direction_fifo=Direction)

        direction = Signal(Direction)
        m.d.comb += direction.eq(Mux(forward.index.valid, Direction.FORWARD, Direction.BACKWARD))
        requested = self.command.valid & self.command.ready
        taken = self.entries.valid & self.entries.ready
        for reader, count in ((forward, self.forward_count), (backward, self.backward_count)):
            m.d.comb += drive(reader, count=count, first=self.first, start=self.start)
        m.d.comb += [
            self.command.valid.eq((forward.index.valid | backward.index.valid) & credits.available),
            forward.index.ready.eq(requested),
            backward.index.ready.eq(requested & ~forward.index.valid),
            self.command.payload.base.eq(Mux(forward.index.valid, self.forward_queue, self.backward_queue)),
            self.command.payload.index.eq(Mux(forward.index.valid, forward.index.payload, backward.index.payload)),
            self.command.payload.size.eq(SIZE_4),
            self.command.payload.tag.eq(Tag.REACH_ENTRY),
        ]
        self._read(
            m,
            credits,
            [id_fifo, direction_fifo],
            requested=requested,
            kept=[direction_fifo.input.valid.eq(requested), direction_fifo.input.payload.eq(direction)],
            answers=id_fifo,
            output=self.entries,
            taken=taken,
            joined=drive(self.entries.payload, vertex=id_fifo.output.payload, direction=direction_fifo.output.payload),
            idle=[forward.finished, backward.finished],
            moving=[taken],
            wanted=forward.index.valid | backward.index.valid,
        )
        return m
