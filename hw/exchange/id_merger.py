"""Id merger: the new ids of both planes on their way to process 3."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import ID_BITS, rest_bits
from cyscc.hw.interfaces import drive
from cyscc.hw.switch.skid import Skid


class IdMerger(wiring.Component):
    """Passes on ids of two streams in turn, or of one alone if the other has none.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.

    Members
    -------
    owner : In
        Number of the kernel, which owns the ids; as many bits as they lack besides the one of the plane.
    even, odd : In(stream of rest_bits(kernels) bits)
        New ids of each plane, without the bits of plane and owner. Their `ready` is a function of registers and of the
        streams' `valid`.
    ids : Out(stream of 32 bits)
        To process 3, registered but for the bits of the owner.
    idle : Out(1)
        No id is held.
    moving : Out(1)
        An id is taken from one of the streams.

    Notes
    -----
    Throughput: an id a cycle. Latency: 1 cycle.
    """

    def __init__(self, *, kernels: int) -> None:
        self._rest = rest_bits(kernels)
        super().__init__(
            {
                "owner": In(ID_BITS - 1 - self._rest),
                "even": In(stream.Signature(self._rest)),
                "odd": In(stream.Signature(self._rest)),
                "ids": Out(stream.Signature(ID_BITS)),
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the choice and the places behind it."""
        m = Module()
        m.submodules.places = places = Skid(1 + self._rest)
        turn = Signal()  # the even plane was served last
        odd = Signal()  # the odd plane is served
        taken = Signal()
        chosen, shown = places.input, places.output
        m.d.comb += [
            odd.eq(self.odd.valid & (turn | ~self.even.valid)),
            *drive(
                chosen,
                valid=self.even.valid | self.odd.valid,
                payload=Cat(odd, Mux(odd, self.odd.payload, self.even.payload)),
            ),
            self.even.ready.eq(chosen.ready & ~odd),
            self.odd.ready.eq(chosen.ready & odd),
            taken.eq(chosen.valid & chosen.ready),
            *drive(self.ids, valid=shown.valid, payload=Cat(shown.payload[0], self.owner, shown.payload[1:])),
            shown.ready.eq(self.ids.ready),
            self.idle.eq(~shown.valid),
            self.moving.eq(taken),
        ]
        with m.If(taken):
            m.d.sync += turn.eq(~odd)
        return m
