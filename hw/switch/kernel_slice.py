"""Kernel slice: one kernel's requests to their links, and the answers back in the order of the reads."""

from collections.abc import Sequence
from typing import Any, ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.interfaces import TAG_BITS, MemoryPortSignature, ReadRequest, WriteRequest, drive, number_bits
from cyscc.hw.queue import Queue
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.switch.credit_bank import CreditBank
from cyscc.hw.switch.request_skid import RequestSkid
from cyscc.hw.switch.wires import link_request, short_address


class KernelSlice(wiring.Component):
    """Presents a kernel a memory port, and serves it through all links.

    Requests are taken into two registers each. A request goes on if its link has room for it, a read only with a place
    reserved in the response queue of its link, so that each answer finds its place in the cycle in which it comes. A
    write goes before a read that could go too. The order FIFO holds link and tag of each read and brings the answers
    back in order.

    Parameters
    ----------
    link_bits : sequence of int
        Positions of the address bits that make the link's number, lowest first.
    places : int
        Answers that the queue of a link holds at least; a power of two from 4 to 64.
    instrument : bool
        With the output that only simulation needs.

    Members
    -------
    port : In(MemoryPortSignature())
        The kernel's memory port. Its `flush` and `flushed` are the flush barrier's.
    send : Out(links)
        The link that takes the request in this cycle, if one does. Registered.
    request : Out(link_request(link_bits))
        The request. Registered.
    room : In(links)
        The link takes a request that is sent in the next cycle.
    arrives : In(links)
        The links that bring an answer.
    answer0, answer1, ... : In(64)
        The answers of the links.
    busy : Out(1)
        A request is here, or sent in this cycle.
    quiescent : Out(1), instrumented slices only
        Registered: the state stays as it is until a request or an answer arrives or `room` changes.

    Notes
    -----
    Throughput: one request a cycle, one answer a cycle to the kernel, and one from each link. Latency: `LATENCY` cycles
    from the kernel to the links, `ANSWER_LATENCY` cycles back. All outputs are functions of registers alone.
    """

    LATENCY: ClassVar[int] = 2
    ANSWER_LATENCY: ClassVar[int] = 3

    def __init__(self, *, link_bits: Sequence[int], places: int, instrument: bool = False) -> None:
        if not 4 <= places <= 64 or places & (places - 1):
            raise ValueError(f"places must be a power of two from 4 to 64, not {places!r}")
        self._link_bits = tuple(link_bits)
        self._links = 1 << len(self._link_bits)
        self._places = places
        self._instrument = instrument
        super().__init__(
            {
                "port": In(MemoryPortSignature()),
                "send": Out(self._links),
                "request": Out(link_request(self._link_bits)),
                "room": In(self._links),
                "arrives": In(self._links),
                **{f"answer{link}": In(64) for link in range(self._links)},
                "busy": Out(1),
                **({"quiescent": Out(1)} if instrument else {}),
            }
        )

    def _place(self, request: Any) -> Value:
        """Return where a request goes, as far as its link needs to know."""
        return Cat(request.size, short_address(request.address, self._link_bits))

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the way of the requests, and that of the answers."""
        m = Module()
        links = range(self._links)
        m.submodules.reads = reads = RequestSkid(ReadRequest, self._link_bits)
        m.submodules.writes = writes = RequestSkid(WriteRequest, self._link_bits)
        connect(m, flipped(self.port.read), reads.input)
        connect(m, flipped(self.port.write), writes.input)
        read, write = reads.output, writes.output

        m.submodules.answers = answers = QueueBank(64, queues=self._links, depth=self._places)
        # A read takes its credit when it is sent, a cycle after it was chosen: there may be one more than are counted.
        m.submodules.credits = credit = CreditBank(fifos=self._links, depth=answers.capacity - 1)
        # Never full, since it has a place for each answer that has one.
        layout = data.StructLayout({"link": number_bits(self._links), "tag": TAG_BITS})
        m.submodules.order = order = Queue(layout, 1 << (self._links * answers.capacity - 1).bit_length())

        def goes(link: Value, links_open: Value) -> Value:
            return Cat((link == n) & links_open[n] for n in links).any()

        open_links = Signal(self._links)
        writing = Signal()
        take = Signal()
        odd = Signal()
        m.d.comb += [
            writing.eq(write.valid & goes(writes.link, self.room)),
            open_links.eq(self.room & credit.available),
            take.eq(read.valid & goes(reads.link, open_links) & ~writing),
            write.ready.eq(writing),
            read.ready.eq(take),
            # Selected before the kind of request is, so that a bit takes one gate.
            odd.eq(Mux(writing, writes.first, reads.first)),
            credit.take.eq(Mux(self.request.write, 0, self.send)),
            self.busy.eq(read.valid | write.valid | self.send.any()),
        ]
        place = self._place
        m.d.sync += [
            self.send.eq(Cat(Mux(writing, writes.link == n, take & (reads.link == n)) for n in links)),
            self.request.write.eq(writing),
            self.request.data.eq(write.payload.data),
            Cat(self.request.size, self.request.address).eq(
                Mux(
                    odd,
                    Mux(writing, place(writes.odd), place(reads.odd)),
                    Mux(writing, place(writes.even), place(reads.even)),
                )
            ),
            *drive(order.input, valid=take, payload=Cat(reads.link, read.payload.tag)),
        ]

        response = self.port.response
        head = order.output.payload
        back = Signal()
        coming = Signal()
        pulled = Signal(TAG_BITS)  # the tag of the answer that is pulled
        tag = Signal(TAG_BITS)
        pull = Signal(self._links)
        m.d.comb += [
            pull.eq(Mux(order.output.valid, Cat(head.link == n for n in links) & answers.available, 0)),
            back.eq(pull.any()),
            order.output.ready.eq(back),
            credit.give.eq(answers.pulling),
            *drive(answers, push=self.arrives, pull=pull, advance=1),
            *(getattr(answers, f"entry{n}").eq(getattr(self, f"answer{n}")) for n in links),
            *drive(response.payload, data=answers.shown, tag=tag),
        ]
        m.d.sync += [coming.eq(back), response.valid.eq(coming)]
        with m.If(back):
            m.d.sync += pulled.eq(head.tag)
        with m.If(coming):
            m.d.sync += tag.eq(pulled)
        if self._instrument:
            entered = [channel.valid & channel.ready for channel in (self.port.read, self.port.write)]
            moving = Cat(entered, take, writing, self.send, order.moving, self.arrives, back, coming)
            m.d.sync += self.quiescent.eq(~(moving.any() | response.valid))
        return m
