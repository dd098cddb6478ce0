"""Id router: from the streams of process 2 to the planes of the exchange."""

from amaranth.hdl import Array, Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import ID_BITS, PLANES, SentSignature, owner_bits

__all__ = ["IdRouter"]


class IdRouter(wiring.Component):
    """Hands ids to the exchange, each in the plane of its bit 0.

    Of two ids of a plane at the same time, the one of the first stream goes first. The streams are halves of a pair,
    both of which are taken before the next pair comes, so neither is held up for long.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.
    lanes : int
        Streams of ids.

    Members
    -------
    ids0, ids1, ... : In(stream of 32 bits)
        Neighbour ids from process 2.
    sent_even, sent_odd : Out(SentSignature())
        To the exchange, registered.
    room_even, room_odd : In(kernels)
        Which slices have room for an id of this kernel, by owner.
    idle : Out(1)
        No id is held.
    moving : Out(1)
        An id is held or taken.

    Notes
    -----
    Throughput: an id a cycle in either plane. Latency: 1 cycle.
    """

    def __init__(self, *, kernels: int, lanes: int) -> None:
        self._kernels = kernels
        self._lanes = lanes
        super().__init__(
            {
                **{f"ids{lane}": In(stream.Signature(ID_BITS)) for lane in range(lanes)},
                **{f"sent_{plane}": Out(SentSignature()) for plane in PLANES},
                **{f"room_{plane}": In(kernels) for plane in PLANES},
                "idle": Out(1),
                "moving": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the register of each plane."""
        m = Module()
        inputs = [getattr(self, f"ids{lane}") for lane in range(self._lanes)]
        ready = [Signal(len(PLANES), name=f"ready{lane}") for lane in range(self._lanes)]
        for number, plane in enumerate(PLANES):
            sent, room = getattr(self, f"sent_{plane}"), getattr(self, f"room_{plane}")
            free = Signal(name=f"free_{plane}")
            m.d.comb += free.eq(~sent.valid | Array(room)[owner_bits(sent.id, self._kernels)])
            wanted = [ids.valid & (ids.payload[0] == number) for ids in inputs]
            earlier = [Cat(wanted[:lane]).any() for lane in range(self._lanes)]
            m.d.comb += [ready[lane][number].eq(free & ~earlier[lane]) for lane in range(self._lanes)]
            with m.If(free):
                m.d.sync += sent.valid.eq(Cat(wanted).any())
                for lane in reversed(range(self._lanes)):
                    with m.If(wanted[lane]):
                        m.d.sync += sent.id.eq(inputs[lane].payload)
        for lane, ids in enumerate(inputs):
            m.d.comb += ids.ready.eq(Mux(ids.payload[0], ready[lane][1], ready[lane][0]))
        held = self.sent_even.valid | self.sent_odd.valid
        m.d.comb += [self.idle.eq(~held), self.moving.eq(held | Cat(ids.valid & ids.ready for ids in inputs).any())]
        return m
