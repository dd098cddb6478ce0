"""Link slice: the crosspoint queues of one link, and the arbiter of its memory port."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import drive, memory_port_signature
from cyscc.hw.switch.wires import AnswerSignature, LinkRequest, RequestSignature, number_bits

__all__ = ["LinkSlice"]


class LinkSlice(wiring.Component):
    """Gathers the requests of all kernels to one link, and takes the link's answers back.

    Each kernel has a queue of its own in LUT RAM, so that a kernel never waits behind another one's request to the same
    link. The arbiter goes round from the kernel after the last one that was served, and passes over a kernel whose next
    request needs a channel that is stalled.

    Parameters
    ----------
    kernels : int
        Kernels.
    links : int
        Link slices of the switch.
    depth : int
        Requests that a crosspoint queue holds; a power of two.

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
    moving : Out(1)
        The state changes in this cycle.

    Notes
    -----
    Throughput: one request a cycle, and one answer. Latency: `LATENCY` cycles from a kernel slice's output to the port,
    `ANSWER_LATENCY` cycles back. All outputs are functions of registers alone except `moving`.
    """

    LATENCY: ClassVar[int] = 2
    ANSWER_LATENCY: ClassVar[int] = 1

    def __init__(self, *, kernels: int, links: int, depth: int) -> None:
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        self._kernels = kernels
        self._depth = depth
        super().__init__(
            {
                "number": In(number_bits(links)),
                **{f"request{kernel}": In(RequestSignature(links)) for kernel in range(kernels)},
                "room": Out(kernels),
                "port": Out(memory_port_signature(number_bits(kernels))),
                "answer": Out(AnswerSignature(kernels)),
                "busy": Out(1),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the queues, the arbiter and the registers towards the port."""
        m = Module()
        read, write, answer = self.port.read, self.port.write, self.port.response
        read_free = ~read.valid | read.ready
        write_free = ~write.valid | write.ready

        queues = []
        arrives = Signal(self._kernels)
        eligible = Signal(self._kernels)
        grant = Signal(self._kernels)
        for kernel in range(self._kernels):
            queue = SyncFIFO(width=LinkRequest.size, depth=self._depth)
            m.submodules[f"queue{kernel}"] = queue
            queues.append(queue)
            source = getattr(self, f"request{kernel}")
            head = View(LinkRequest, queue.r_data)
            m.d.comb += [
                arrives[kernel].eq(source.valid & (source.link == self.number)),
                queue.w_data.eq(source.request),
                queue.w_en.eq(arrives[kernel]),
                queue.r_en.eq(grant[kernel]),
                self.room[kernel].eq(queue.w_rdy),
                eligible[kernel].eq(queue.r_rdy & Mux(head.write, write_free, read_free)),
            ]

        # Kernels above the last one that was served come first; of those that come first, the lowest does.
        above = Signal(self._kernels)
        later = Signal(self._kernels)
        m.d.comb += [
            later.eq(eligible & above),
            grant.eq(Mux(later.any(), _lowest(later), _lowest(eligible))),
        ]
        chosen = Signal(LinkRequest)
        winner = Signal(number_bits(self._kernels))
        for kernel, queue in enumerate(queues):
            with m.If(grant[kernel]):
                m.d.comb += [Value.cast(chosen).eq(queue.r_data), winner.eq(kernel)]
                m.d.sync += above.eq(((1 << self._kernels) - 1) & ~((2 << kernel) - 1))

        with m.If(read_free):
            m.d.sync += read.valid.eq(grant.any() & ~chosen.write)
            m.d.sync += drive(read.payload, address=chosen.address, size=chosen.size, tag=winner)
        with m.If(write_free):
            m.d.sync += write.valid.eq(grant.any() & chosen.write)
            m.d.sync += drive(write.payload, address=chosen.address, size=chosen.size, data=chosen.data)
        m.d.sync += self.answer.valid.eq(answer.valid)
        with m.If(answer.valid):
            m.d.sync += drive(self.answer, kernel=answer.payload.tag, data=answer.payload.data)

        waiting = Cat(queue.r_rdy for queue in queues).any()
        m.d.comb += [
            self.busy.eq(waiting | read.valid | write.valid),
            self.moving.eq(
                (arrives & self.room).any()
                | grant.any()
                | (read.valid & read.ready)
                | (write.valid & write.ready)
                | answer.valid
                | self.answer.valid
            ),
        ]
        return m


def _lowest(bits: Value) -> Value:
    """Return the lowest bit that is set, alone."""
    return bits & (~bits + 1)[: len(bits)]
