"""Request skid: two registers of requests, so that nothing combinational passes from one side to the other."""

from collections.abc import Sequence

from amaranth.hdl import Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import number_bits
from cyscc.hw.switch.wires import link_of


class RequestSkid(wiring.Component):
    """Queue of two requests whose outputs are functions of registers alone.

    The registers are filled in turn, so that whether a request leaves decides about few of their bits.

    Parameters
    ----------
    shape : StructLayout
        Shape of a request; with a field `address`.
    link_bits : sequence of int
        Positions of the address bits that make the link's number, lowest first.

    Members
    -------
    input : In(stream)
        Requests in.
    output : Out(stream)
        Requests out.
    link : Out(number_bits(links))
        The link of the request at the output. Registered.
    even, odd : Out(shape)
        The registers. Registered.
    first : Out(1)
        The request at the output is the odd one. Registered.

    Notes
    -----
    Throughput one request a cycle, latency one cycle.
    """

    def __init__(self, shape: data.StructLayout, link_bits: Sequence[int]) -> None:
        self._shape = shape
        self._link_bits = tuple(link_bits)
        super().__init__(
            {
                "input": In(stream.Signature(shape)),
                "output": Out(stream.Signature(shape)),
                "link": Out(number_bits(1 << len(self._link_bits))),
                "even": Out(shape),
                "odd": Out(shape),
                "first": Out(1),
            }
        )

    @property
    def link_places(self) -> tuple[int, ...]:
        """Positions of a request's bits that make the link's number, lowest first."""
        return tuple(self._shape["address"].offset + bit for bit in self._link_bits)

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the registers, and the bits that say which one is next."""
        m = Module()
        even, odd, first = self.even, self.odd, self.first
        end = Signal()  # the odd one is filled next
        full = Signal()
        filled = self.output.valid
        taken = Signal()
        left = Signal()
        m.d.comb += [
            full.eq(filled & (first == end)),
            self.input.ready.eq(~full),
            taken.eq(self.input.valid & ~full),
            left.eq(filled & self.output.ready),
            Value.cast(self.output.payload).eq(Mux(first, Value.cast(odd), Value.cast(even))),
        ]
        m.d.sync += filled.eq(taken | full | (filled & ~left))
        for entry, mine in ((even, ~end), (odd, end)):
            with m.If(taken & mine):
                m.d.sync += Value.cast(entry).eq(Value.cast(self.input.payload))
        with m.If(taken):
            m.d.sync += end.eq(~end)
        with m.If(left):
            m.d.sync += first.eq(~first)
        with m.If(~filled | left):
            behind = Mux(first, even.address, odd.address)
            m.d.sync += self.link.eq(link_of(Mux(full, behind, self.input.payload.address), self._link_bits))
        return m
