"""Kernel slice: one kernel's requests to their links, and the answers back in the order of the reads."""

from collections.abc import Sequence
from typing import ClassVar

from amaranth.hdl import Array, Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import TAG_BITS, MemoryPortSignature, ReadRequest, WriteRequest, drive, number_bits
from cyscc.hw.queue import Queue
from cyscc.hw.switch.pulled_fifo import PulledFifo
from cyscc.hw.switch.skid import Skid
from cyscc.hw.switch.wires import AnswerSignature, RequestSignature

__all__ = ["KernelSlice"]


class KernelSlice(wiring.Component):
    """Presents a kernel a memory port, and serves it through all links.

    Requests are taken into two registers each. A read goes on only with a place reserved in the response FIFO of its
    link, so that each answer finds its place in the cycle in which it comes. The order FIFO holds link and tag of each
    read and brings the answers back in order. A write goes before a read, but if its link does not take it, lets a read
    go every other cycle.

    Parameters
    ----------
    kernels : int
        Kernel slices of the switch.
    link_bits : sequence of int
        Positions of the address bits that make the link's number, lowest first.
    places : int
        Places of the response FIFO of a link; a power of two.
    outstanding : int
        Reads that may be in flight to all links at least; a power of two.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    number : In(number_bits(kernels))
        This slice's number.
    port : In(MemoryPortSignature())
        The kernel's memory port. Its `flush` and `flushed` are the flush barrier's.
    request : Out(RequestSignature(links))
        The requests. One that is not taken may give way to one of the other kind.
    room : In(links)
        The link takes a request of this kernel.
    answer0, answer1, ... : In(AnswerSignature(kernels))
        The links' answers; those to other kernels are ignored.
    busy : Out(1)
        A request waits for its link to take it.
    quiescent : Out(1), instrumented slices only
        Registered: the state stays as it is until a request or an answer arrives or `room` changes.

    Notes
    -----
    Throughput: one request a cycle, one answer a cycle to the kernel, and one from each link. Latency: `LATENCY` cycle
    from the kernel to the links, `ANSWER_LATENCY` cycles back. All outputs are functions of registers alone.
    """

    LATENCY: ClassVar[int] = 1
    ANSWER_LATENCY: ClassVar[int] = 2

    def __init__(
        self, *, kernels: int, link_bits: Sequence[int], places: int, outstanding: int, instrument: bool = False
    ) -> None:
        for name, value in (("places", places), ("outstanding", outstanding)):
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name} must be a power of two, not {value!r}")
        self._link_bits = tuple(link_bits)
        self._links = 1 << len(self._link_bits)
        self._places = places
        self._instrument = instrument
        self._outstanding = outstanding
        super().__init__(
            {
                "number": In(number_bits(kernels)),
                "port": In(MemoryPortSignature()),
                "request": Out(RequestSignature(self._links)),
                "room": In(self._links),
                **{f"answer{link}": In(AnswerSignature(kernels)) for link in range(self._links)},
                "busy": Out(1),
                **({"quiescent": Out(1)} if instrument else {}),
            }
        )

    def _link_of(self, address: Value) -> Value:
        """Return the number of the link of an address."""
        return Cat(address[bit] for bit in self._link_bits)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the request's register, the response FIFOs with their credits, and the order FIFO."""
        m = Module()
        m.submodules.reads = reads = Skid(ReadRequest)
        m.submodules.writes = writes = Skid(WriteRequest)
        connect(m, flipped(self.port.read), reads.input)
        connect(m, flipped(self.port.write), writes.input)
        read, write = reads.output, writes.output
        read_link = Signal(number_bits(self._links))
        write_link = Signal(number_bits(self._links))
        m.d.comb += [
            read_link.eq(self._link_of(read.payload.address)),
            write_link.eq(self._link_of(write.payload.address)),
        ]

        order = Queue(data.StructLayout({"link": number_bits(self._links), "tag": TAG_BITS}), self._outstanding)
        m.submodules.order = order
        fifos, credits = [], []
        arrives = Signal(self._links)
        for link in range(self._links):
            answer = getattr(self, f"answer{link}")
            m.submodules[f"fifo{link}"] = fifo = PulledFifo(64, self._places)
            m.submodules[f"credits{link}"] = credit = Credits(self._places)
            fifos.append(fifo)
            credits.append(credit)
            m.d.comb += [
                arrives[link].eq(answer.valid & (answer.kernel == self.number)),
                *drive(fifo, push=arrives[link], entry=answer.data),
            ]

        request = self.request
        readable = Signal()
        writing = Signal()
        refused = Signal()  # the last request was a write that its link did not take
        sent = Signal()
        take = Signal()
        m.d.comb += [
            readable.eq(read.valid & order.input.ready & Array(credit.available for credit in credits)[read_link]),
            # A write that waits for its link lets a read go every other cycle.
            writing.eq(write.valid & ~(refused & readable)),
            request.valid.eq(writing | readable),
            request.link.eq(Mux(writing, write_link, read_link)),
            *drive(
                request.request,
                write=writing,
                size=Mux(writing, write.payload.size, read.payload.size),
                address=Mux(writing, write.payload.address, read.payload.address),
                data=write.payload.data,
            ),
            sent.eq(Array(self.room)[request.link]),
            write.ready.eq(writing & sent),
            take.eq(readable & ~writing & sent),
            read.ready.eq(take),
            order.input.valid.eq(take),
            order.input.payload.eq(Cat(read_link, read.payload.tag)),
            self.busy.eq(read.valid | write.valid),
        ]
        m.d.sync += refused.eq(writing & ~sent)

        response = self.port.response
        head = order.output.payload
        back = Signal()
        shown = Signal(number_bits(self._links))  # the link of the answer that is shown
        tag = Signal(TAG_BITS)
        m.d.comb += [
            back.eq(order.output.valid & Array(fifo.available for fifo in fifos)[head.link]),
            order.output.ready.eq(back),
            *drive(response.payload, data=Array(fifo.shown for fifo in fifos)[shown], tag=tag),
        ]
        m.d.sync += response.valid.eq(back)
        with m.If(back):
            m.d.sync += [shown.eq(head.link), tag.eq(head.tag)]
        for link, (fifo, credit) in enumerate(zip(fifos, credits, strict=True)):
            m.d.comb += [
                credit.take.eq(take & (read_link == link)),
                fifo.pull.eq(back & (head.link == link)),
                credit.give.eq(fifo.pull),
            ]
        if self._instrument:
            entered = [channel.valid & channel.ready for channel in (self.port.read, self.port.write)]
            left = take | (writing & sent) | (refused != (writing & ~sent))
            moving = Cat(entered, left, order.moving, arrives, back, response.valid).any()
            m.d.sync += self.quiescent.eq(~moving)
        return m
