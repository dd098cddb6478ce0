"""Address generation: from a base and an element's index to the request on a channel of the memory port."""

from typing import ClassVar

from amaranth.hdl import Elaboratable, Module, Mux
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import ADDRESS_WIDTH, ReadRequest, WriteRequest, drive

ReadCommand = data.StructLayout({"base": ADDRESS_WIDTH, "index": 32, "size": 1, "tag": 2})
"""Read element `index` of the array at `base`; `size` says whether its elements have 4 or 8 bytes."""

WriteCommand = data.StructLayout({"data": 64, "base": ADDRESS_WIDTH, "index": 32, "size": 1, "last": 1})
"""Write element `index` of the array at `base`; `last` ends a group of writes that are granted back to back."""


class AddressGenerator(wiring.Component):
    """Two registers with the address adder between them, so that neither side of the adder has logic before it.

    Parameters
    ----------
    writes : bool
        For the write channel, else for the read channel.

    Members
    -------
    command : In(stream of ReadCommand or WriteCommand)
        Commands in.
    request : Out(stream of ReadRequest or WriteRequest)
        Requests out, registered.
    busy : Out(1)
        A request is on its way.
    moving : Out(1)
        A request moves on in this cycle.

    Notes
    -----
    Latency `LATENCY` cycles, throughput one request a cycle.
    """

    LATENCY: ClassVar[int] = 2

    def __init__(self, *, writes: bool) -> None:
        self._writes = writes
        self._command = WriteCommand if writes else ReadCommand
        super().__init__(
            {
                "command": In(stream.Signature(self._command)),
                "request": Out(stream.Signature(WriteRequest if writes else ReadRequest)),
                "busy": Out(1),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the pipeline."""
        m = Module()
        staged = stream.Signature(self._command).create(path=("staged",))
        request = self.request
        m.d.comb += [
            staged.ready.eq(~request.valid | request.ready),
            self.command.ready.eq(~staged.valid | staged.ready),
            self.busy.eq(staged.valid | request.valid),
            self.moving.eq((staged.valid & staged.ready) | (request.valid & request.ready)),
        ]
        with m.If(self.command.ready):
            m.d.sync += staged.valid.eq(self.command.valid)
            with m.If(self.command.valid):
                m.d.sync += staged.payload.eq(self.command.payload)
        with m.If(staged.ready):
            m.d.sync += request.valid.eq(staged.valid)
            with m.If(staged.valid):
                offset = Mux(staged.payload.size, staged.payload.index << 3, staged.payload.index << 2)
                m.d.sync += drive(request.payload, address=staged.payload.base + offset, size=staged.payload.size)
                if self._writes:
                    m.d.sync += request.payload.data.eq(staged.payload.data)
                else:
                    m.d.sync += request.payload.tag.eq(staged.payload.tag)
        return m
