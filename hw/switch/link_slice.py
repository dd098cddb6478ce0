"""Link slice: the crosspoint queues of one link, and the way to its memory port and back."""

from collections.abc import Sequence
from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.interfaces import drive, memory_port_signature, number_bits
from cyscc.hw.switch.wires import link_request, long_address


class LinkSlice(wiring.Component):
    """Gathers the requests of all kernels to one link, and takes the link's answers back.

    Each kernel has a queue of its own in LUT RAM, so that a kernel never waits behind another one's request to the same
    link. The arbiter goes round from the kernel after the last one that was served. Reads and writes leave one by one;
    a request that its channel does not take holds up those behind it.

    Parameters
    ----------
    kernels : int
        Kernels.
    link_bits : sequence of int
        Positions of the address bits that make the link's number, lowest first.
    depth : int
        Requests that a crosspoint queue holds at least; a power of two from 4 to 64.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    number : In(number_bits(links))
        This slice's number.
    push : In(kernels)
        The kernels that send a request. Only those for which there was `room` in the cycle before.
    request0, request1, ... : In(link_request(link_bits))
        The requests of the kernels.
    room : Out(kernels)
        The kernel's queue takes a request in the next cycle. Registered.
    port : Out(memory_port_signature(number_bits(kernels)))
        The memory port; the tag of a read is the kernel's number. Its `flush` stays low.
    answers : Out(kernels)
        The kernel whose answer comes, if one does. Registered.
    answer : Out(64)
        The answer. Registered.
    busy : Out(1)
        A request is here that the memory port has not taken.
    quiescent : Out(1), instrumented slices only
        Registered: the state stays as it is until a request or an answer arrives or the port takes a request.

    Notes
    -----
    Throughput: one request a cycle, and one answer. Latency: `LATENCY` cycles from a kernel slice's output to the port,
    `ANSWER_LATENCY` cycles back. All outputs are functions of registers alone.
    """

    LATENCY: ClassVar[int] = ArbitratedQueues.LATENCY
    ANSWER_LATENCY: ClassVar[int] = 1

    def __init__(self, *, kernels: int, link_bits: Sequence[int], depth: int, instrument: bool = False) -> None:
        if not 4 <= depth <= 64 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two from 4 to 64, not {depth!r}")
        self._kernels = kernels
        self._link_bits = tuple(link_bits)
        self._depth = depth
        self._instrument = instrument
        super().__init__(
            {
                "number": In(number_bits(1 << len(self._link_bits))),
                "push": In(kernels),
                **{f"request{kernel}": In(link_request(self._link_bits)) for kernel in range(kernels)},
                "room": Out(kernels),
                "port": Out(memory_port_signature(number_bits(kernels))),
                "answers": Out(kernels),
                "answer": Out(64),
                "busy": Out(1),
                **({"quiescent": Out(1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the queues, the way to the port, and the registers of the answers."""
        m = Module()
        read, write, response = self.port.read, self.port.write, self.port.response
        layout = link_request(self._link_bits)
        m.submodules.queues = queues = ArbitratedQueues(layout, queues=self._kernels, depth=self._depth)
        output, request = queues.output, queues.output.payload
        number = Signal.like(self.number)
        address = long_address(request.address, number[: len(self._link_bits)], self._link_bits)
        m.d.comb += [
            queues.push.eq(self.push),
            *(getattr(queues, f"entry{n}").eq(getattr(self, f"request{n}")) for n in range(self._kernels)),
            read.valid.eq(output.valid & ~request.write),
            write.valid.eq(output.valid & request.write),
            output.ready.eq(Mux(request.write, write.ready, read.ready)),
            *drive(read.payload, address=address, size=request.size, tag=queues.source),
            *drive(write.payload, address=address, size=request.size, data=request.data),
            *drive(self, room=queues.room, busy=queues.busy),
        ]
        reader = Cat(response.payload.tag == n for n in range(self._kernels))
        m.d.sync += [number.eq(self.number), self.answers.eq(Mux(response.valid, reader, 0))]
        with m.If(response.valid):
            m.d.sync += self.answer.eq(response.payload.data)
        if self._instrument:
            moving = self.push.any() | (queues.busy & (~output.valid | output.ready)) | response.valid
            m.d.sync += self.quiescent.eq(~(moving | self.answers.any()))
        return m
