"""A memory port as an AXI4 master."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.axi.limits import AxiLimits
from cyscc.hw.axi.signatures import Axi4Signature, Resp
from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import SIZE_8, TAG_BITS, drive, memory_port_signature
from cyscc.hw.queue import Queue

_INCREMENTING = 1
_BUFFERABLE_MODIFIABLE = 0b0011


class AxiMemoryPort(wiring.Component):
    """Makes an AXI4 transaction of one beat of each read and write.

    All have ID 0, so answers come in the order of the requests, as the AE wants them. A 4-byte access is a narrow
    transfer on the half of the bus that its address names. Writes that are answered are visible to every master: a
    flush waits for all answers. Data of a read that fails are replaced by zeros, so that what an interconnect puts
    there sends no kernel anywhere.

    Parameters
    ----------
    limits : AxiLimits
        How much may be outstanding.
    tag_bits : int
        Width of the port's tags.

    Members
    -------
    port : In(memory_port_signature(tag_bits))
        The AE's memory port.
    axi : Out(Axi4Signature())
        The master.
    read_failed, write_failed : Out(1)
        Pulses: an answer other than OKAY.

    Notes
    -----
    Latency one cycle each way, reads at least three cycles from the request to the first cycle in which an answer is
    taken. Throughput one read and one write a cycle. All outputs of `axi` are registered but ``rready``, which is a
    function of registers.
    """

    def __init__(self, limits: AxiLimits, tag_bits: int = TAG_BITS) -> None:
        self._limits = limits
        self._tag_bits = tag_bits
        super().__init__(
            {
                "port": In(memory_port_signature(tag_bits)),
                "axi": Out(Axi4Signature()),
                "read_failed": Out(1),
                "write_failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build both directions."""
        m = Module()
        axi = self.axi
        for prefix in ("aw", "ar"):
            m.d.comb += [
                getattr(axi, f"{prefix}burst").eq(_INCREMENTING),
                getattr(axi, f"{prefix}cache").eq(_BUFFERABLE_MODIFIABLE),
            ]
        self._read(m)
        self._write(m)
        return m

    def _read(self, m: Module) -> None:
        """Add requests and answers of reads."""
        axi, port = self.axi, self.port
        m.submodules.read_credits = credits = Credits(self._limits.outstanding_reads)
        note_layout = data.StructLayout({"tag": self._tag_bits, "size": 1, "upper": 1})
        m.submodules.notes = notes = Queue(note_layout, self._limits.outstanding_reads)
        accepted = port.read.valid & port.read.ready
        request = port.read.payload
        m.d.comb += [
            port.read.ready.eq(credits.available & (~axi.arvalid | axi.arready)),
            credits.take.eq(accepted),
            notes.input.valid.eq(accepted),
            *drive(notes.input.payload, tag=request.tag, size=request.size, upper=request.address[2]),
        ]
        with m.If(axi.arready):
            m.d.sync += axi.arvalid.eq(0)
        with m.If(accepted):
            m.d.sync += drive(axi, arvalid=1, araddr=request.address, arsize=Mux(request.size == SIZE_8, 3, 2))

        answered = Signal()
        failed = Signal()
        note = notes.output.payload
        m.d.comb += [
            axi.rready.eq(notes.output.valid),
            answered.eq(axi.rvalid & axi.rready),
            failed.eq(axi.rresp != Resp.OKAY),
            notes.output.ready.eq(answered),
            credits.give.eq(answered),
        ]
        element = axi.rdata.word_select(note.upper, 32)
        m.d.sync += [
            self.read_failed.eq(answered & failed),
            port.response.valid.eq(answered),
            *drive(port.response.payload, tag=note.tag, data=Mux(note.size == SIZE_8, axi.rdata, element)),
        ]
        with m.If(failed):
            m.d.sync += port.response.payload.data.eq(0)

    def _write(self, m: Module) -> None:
        """Add requests and answers of writes, and the flush."""
        axi, port = self.axi, self.port
        m.submodules.write_credits = credits = Credits(self._limits.outstanding_writes)
        accepted = port.write.valid & port.write.ready
        request = port.write.payload
        element = request.data[:32]
        m.d.comb += [
            port.write.ready.eq(
                credits.available & (~axi.awvalid | axi.awready) & (~axi.wvalid | axi.wready),
            ),
            *drive(axi, wlast=1, bready=1),
            *drive(credits, take=accepted, give=axi.bvalid),
        ]
        with m.If(axi.awready):
            m.d.sync += axi.awvalid.eq(0)
        with m.If(axi.wready):
            m.d.sync += axi.wvalid.eq(0)
        with m.If(accepted):
            upper = request.address[2]
            m.d.sync += [
                axi.awvalid.eq(1),
                axi.wvalid.eq(1),
                axi.awaddr.eq(request.address),
                axi.awsize.eq(Mux(request.size == SIZE_8, 3, 2)),
                axi.wdata.eq(Mux(request.size == SIZE_8, request.data, Cat(element, element))),
                axi.wstrb.eq(Mux(request.size == SIZE_8, 0xFF, Mux(upper, 0xF0, 0x0F))),
            ]
        flushing = Signal()
        m.d.sync += [
            self.write_failed.eq(axi.bvalid & (axi.bresp != Resp.OKAY)),
            port.flushed.eq(flushing & credits.home),
        ]
        with m.If(port.flush):
            m.d.sync += flushing.eq(1)
        with m.Elif(credits.home):
            m.d.sync += flushing.eq(0)
