"""A FIFO of the reads that a process asks for, between it and the multiplexer."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import ReadCommand
from cyscc.hw.interfaces import drive
from cyscc.hw.queue import Queue


class RequestQueue(wiring.Component):
    """Keeps the indices of reads; the rest of a command is the same for all of a process.

    Parameters
    ----------
    depth : int
        Reads that can wait for the multiplexer; a power of two.

    Members
    -------
    command : In(stream of ReadCommand)
        From the process. All of the payload but the index is steady in a run.
    request : Out(stream of ReadCommand)
        To the multiplexer, `cyscc.hw.queue.Queue.LATENCY` cycles later at the earliest.
    level : Out
        Reads held.
    idle : Out(1)
        None is held.
    moving : Out(1)
        State changes in this cycle.
    """

    def __init__(self, *, depth: int) -> None:
        self._depth = depth
        super().__init__(
            {
                "command": In(stream.Signature(ReadCommand)),
                "request": Out(stream.Signature(ReadCommand)),
                "level": Out(range(depth + Queue.REGISTERS + 1)),
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the FIFO."""
        m = Module()
        m.submodules.fifo = fifo = Queue(32, self._depth)
        command, request = self.command, self.request
        m.d.comb += [
            *drive(fifo.input, valid=command.valid, payload=command.payload.index),
            command.ready.eq(fifo.input.ready),
            request.payload.eq(command.payload),
            request.payload.index.eq(fifo.output.payload),
            request.valid.eq(fifo.output.valid),
            fifo.output.ready.eq(request.ready),
            self.level.eq(fifo.level),
            self.idle.eq(~fifo.level.any()),
            self.moving.eq(fifo.moving | (command.valid & command.ready) | (request.valid & request.ready)),
        ]
        return m
