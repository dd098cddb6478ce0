"""A memory port on the signals of the HC-2's memory controllers."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import ADDRESS_WIDTH, SIZE_8, TAG_BITS, drive, memory_port_signature


def ConveyMemorySignature() -> wiring.Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of one request port of a memory controller, seen from the AE.

    Members
    -------
    req_ld, req_st : Out(1)
        A load or a store is requested in this cycle; never both.
    req_size : Out(2)
        2: 4 bytes, 3: 8 bytes.
    req_vadr : Out(48)
        Virtual byte address.
    req_wrd_rdctl : Out(64)
        Store: the data, a 4-byte element in both halves. Load: the tag.
    rd_rq_stall, wr_rq_stall : In(1)
        No loads, or no stores, from now on; two requests may still leave, in this cycle and the next.
    rsp_push : In(1)
        A load's answer.
    rsp_data : In(64)
        Its data; a 4-byte element in the low half.
    rsp_rdctl : In(32)
        Its tag.
    rsp_stall : Out(1)
        Always low: every load has a reserved place.
    req_flush : Out(1)
        Pulse: answer when all stores so far are complete.
    rsp_flush_cmplt : In(1)
        Pulse: they are.
    """
    return wiring.Signature(
        {
            "req_ld": Out(1),
            "req_st": Out(1),
            "req_size": Out(2),
            "req_vadr": Out(ADDRESS_WIDTH),
            "req_wrd_rdctl": Out(64),
            "rd_rq_stall": In(1),
            "wr_rq_stall": In(1),
            "rsp_push": In(1),
            "rsp_data": In(64),
            "rsp_rdctl": In(32),
            "rsp_stall": Out(1),
            "req_flush": Out(1),
            "rsp_flush_cmplt": In(1),
        }
    )


class ConveyMemoryPort(wiring.Component):
    """Puts the reads and writes of a memory port onto the one request channel of a memory controller's port.

    A store goes before a load, since it makes room; a stall of the one kind does not stop the other. Everything is
    registered, the stalls included, as the vendor's samples do.

    Parameters
    ----------
    tag_bits : int
        Width of the port's tags.

    Members
    -------
    port : In(memory_port_signature(tag_bits))
        The AE's memory port.
    mc : Out(ConveyMemorySignature())
        The memory controller's.

    Notes
    -----
    Latency one cycle each way, throughput one request a cycle.
    """

    def __init__(self, tag_bits: int = TAG_BITS) -> None:
        super().__init__({"port": In(memory_port_signature(tag_bits)), "mc": Out(ConveyMemorySignature())})

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the registers and the choice."""
        m = Module()
        port, mc = self.port, self.mc
        read_stalled = Signal()
        write_stalled = Signal()
        load = Signal()
        store = Signal()
        m.d.comb += [
            port.write.ready.eq(~write_stalled),
            store.eq(port.write.valid & port.write.ready),
            port.read.ready.eq(~read_stalled & ~store),
            load.eq(port.read.valid & port.read.ready),
        ]
        data = port.write.payload.data
        m.d.sync += [
            read_stalled.eq(mc.rd_rq_stall),
            write_stalled.eq(mc.wr_rq_stall),
            *drive(mc, req_ld=load, req_st=store, req_flush=port.flush),
            port.flushed.eq(mc.rsp_flush_cmplt),
            port.response.valid.eq(mc.rsp_push),
            *drive(port.response.payload, data=mc.rsp_data, tag=mc.rsp_rdctl),
        ]
        with m.If(store):
            m.d.sync += [
                mc.req_size.eq(Cat(port.write.payload.size, 1)),
                mc.req_vadr.eq(port.write.payload.address),
                mc.req_wrd_rdctl.eq(Mux(port.write.payload.size == SIZE_8, data, data[:32].replicate(2))),
            ]
        with m.Else():
            read = port.read.payload
            m.d.sync += drive(mc, req_size=Cat(read.size, 1), req_vadr=read.address, req_wrd_rdctl=read.tag)
        return m
