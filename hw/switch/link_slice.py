"""Link slice: the crosspoint queues of one link, and the arbiter of its memory port."""

from typing import ClassVar

from amaranth.hdl import Array, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import drive, memory_port_signature, number_bits
from cyscc.hw.switch.pulled_fifo import PulledFifo
from cyscc.hw.switch.wires import AnswerSignature, LinkRequest, RequestSignature

__all__ = ["LinkSlice"]


class LinkSlice(wiring.Component):
    """Gathers the requests of all kernels to one link, and takes the link's answers back.

    Each kernel has a queue of its own in LUT RAM, so that a kernel never waits behind another one's request to the same
    link. The arbiter goes round from the kernel after the last one that was served. Reads and writes leave one by one;
    a request that its channel does not take holds up those behind it.

    Parameters
    ----------
    kernels : int
        Kernels.
    links : int
        Link slices of the switch.
    depth : int
        Requests that a crosspoint queue holds; a power of two.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    number : In(number_bits(links))
        This slice's number.
    request0, request1, ... : In(RequestSignature(links))
        The kernels' requests; those to other links are ignored.
    room : Out(kernels)
        The kernel's queue takes a request.
    port : Out(memory_port_signature(number_bits(kernels)))
        The memory port; the tag of a read is the kernel's number. Its `flush` stays low.
    answer : Out(AnswerSignature(kernels))
        The answers, registered.
    busy : Out(1)
        A request waits for the memory port to take it.
    quiescent : Out(1), instrumented slices only
        Registered: the state stays as it is until a request or an answer arrives or the port takes a request.

    Notes
    -----
    Throughput: one request a cycle, and one answer. Latency: `LATENCY` cycles from a kernel slice's output to the port,
    `ANSWER_LATENCY` cycles back. All outputs are functions of registers alone.
    """

    LATENCY: ClassVar[int] = 2
    ANSWER_LATENCY: ClassVar[int] = 1

    def __init__(self, *, kernels: int, links: int, depth: int, instrument: bool = False) -> None:
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        self._kernels = kernels
        self._depth = depth
        self._instrument = instrument
        super().__init__(
            {
                "number": In(number_bits(links)),
                **{f"request{kernel}": In(RequestSignature(links)) for kernel in range(kernels)},
                "room": Out(kernels),
                "port": Out(memory_port_signature(number_bits(kernels))),
                "answer": Out(AnswerSignature(kernels)),
                "busy": Out(1),
                **({"quiescent": Out(1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the queues, the arbiter and the way to the port."""
        m = Module()
        read, write, answer = self.port.read, self.port.write, self.port.response
        holds = Signal()  # a request is at the port
        winner = Signal(number_bits(self._kernels))
        taken = Signal()

        queues = []
        arrives = Signal(self._kernels)
        available = Signal(self._kernels)
        grant = Signal(self._kernels)
        for kernel in range(self._kernels):
            m.submodules[f"queue{kernel}"] = queue = PulledFifo(LinkRequest, self._depth)
            queues.append(queue)
            source = getattr(self, f"request{kernel}")
            m.d.comb += [
                arrives[kernel].eq(source.valid & (source.link == self.number) & queue.room),
                *drive(queue, push=arrives[kernel], entry=source.request, pull=grant[kernel]),
                self.room[kernel].eq(queue.room),
                available[kernel].eq(queue.available),
            ]

        # Kernels above the last one that was served come first; of those that come first, the lowest does.
        above = Signal(self._kernels)
        later = Signal(self._kernels)
        m.d.comb += later.eq(available & above)
        with m.If(~holds | taken):
            m.d.comb += grant.eq(Mux(later.any(), _lowest(later), _lowest(available)))
            m.d.sync += holds.eq(available.any())
        for kernel in range(self._kernels):
            with m.If(grant[kernel]):
                m.d.sync += [winner.eq(kernel), above.eq(((1 << self._kernels) - 1) & ~((2 << kernel) - 1))]

        request = Signal(LinkRequest)
        m.d.comb += [
            Value.cast(request).eq(Array(Value.cast(queue.shown) for queue in queues)[winner]),
            read.valid.eq(holds & ~request.write),
            write.valid.eq(holds & request.write),
            *drive(read.payload, address=request.address, size=request.size, tag=winner),
            *drive(write.payload, address=request.address, size=request.size, data=request.data),
            taken.eq(Mux(request.write, write.ready, read.ready)),
        ]
        m.d.sync += self.answer.valid.eq(answer.valid)
        with m.If(answer.valid):
            m.d.sync += drive(self.answer, kernel=answer.payload.tag, data=answer.payload.data)

        m.d.comb += self.busy.eq(available.any() | holds)
        if self._instrument:
            moving = arrives.any() | grant.any() | (holds & taken) | answer.valid | self.answer.valid
            m.d.sync += self.quiescent.eq(~moving)
        return m


def _lowest(bits: Value) -> Value:
    """Return the lowest bit that is set, alone."""
    return bits & (~bits + 1)[: len(bits)]
