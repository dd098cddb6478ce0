"""Id router: from the streams of process 2 to the planes of the exchange."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import ID_BITS, PLANES, owner_bits, rest_bits
from cyscc.hw.interfaces import drive
from cyscc.hw.switch.skid import Skid


class IdRouter(wiring.Component):
    """Hands ids to the exchange, each in the plane of its bit 0.

    Of two ids of a plane at the same time, the one of the first stream goes first. The streams are halves of a pair,
    both of which are taken before the next pair comes, so neither is held up for long. Two places in each plane keep
    what the exchange has no room for, so that no path leads from there to process 2.

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
    send_even, send_odd : Out(kernels)
        By owner: its slice takes the id of the plane, at most one. Registered.
    id_even, id_odd : Out(rest_bits(kernels))
        The id, without the bits of plane and owner. Registered.
    room_even, room_odd : In(kernels)
        By owner: its slice takes an id even if two others of this kernel are on their way to it.
    idle : Out(1)
        Each id that was taken is at its slice, or sent in this cycle.
    moving : Out(1)
        An id is held, taken or sent.
    waiting : Out(1)
        An id is held back, since its slice has no room.

    Notes
    -----
    Throughput: an id a cycle in either plane. Latency: `LATENCY` cycles.
    """

    LATENCY: ClassVar[int] = 2

    def __init__(self, *, kernels: int, lanes: int) -> None:
        self._kernels = kernels
        self._lanes = lanes
        super().__init__(
            {
                **{f"ids{lane}": In(stream.Signature(ID_BITS)) for lane in range(lanes)},
                **{f"send_{plane}": Out(kernels) for plane in PLANES},
                **{f"id_{plane}": Out(rest_bits(kernels)) for plane in PLANES},
                **{f"room_{plane}": In(kernels) for plane in PLANES},
                "idle": Out(1),
                "moving": Out(1),
                "waiting": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the way through each plane."""
        m = Module()
        inputs = [getattr(self, f"ids{lane}") for lane in range(self._lanes)]
        ready = []
        holds = []
        waiting = []
        for number, plane in enumerate(PLANES):
            m.submodules[plane] = places = Skid(ID_BITS - 1)
            wanted = [ids.valid & (ids.payload[0] == number) for ids in inputs]
            chosen = inputs[-1].payload
            for ids, wants in reversed(list(zip(inputs[:-1], wanted[:-1], strict=True))):
                chosen = Mux(wants, ids.payload, chosen)
            m.d.comb += drive(places.input, valid=Cat(wanted).any(), payload=chosen[1:])
            ready.append([places.input.ready & ~Cat(wanted[:lane]).any() for lane in range(self._lanes)])

            waits, room = places.output, getattr(self, f"room_{plane}")
            owner = owner_bits(Cat(number, waits.payload), self._kernels)
            goes = Cat(owner == kernel for kernel in range(self._kernels)) & room
            m.d.comb += waits.ready.eq(goes.any())
            m.d.sync += getattr(self, f"send_{plane}").eq(Mux(waits.valid, goes, 0))
            with m.If(waits.valid):
                m.d.sync += getattr(self, f"id_{plane}").eq(waits.payload[-rest_bits(self._kernels) :])
            holds.append(waits.valid)
            waiting.append(waits.valid & ~waits.ready)
        even, odd = ready
        m.d.comb += [ids.ready.eq(Mux(ids.payload[0], odd[lane], even[lane])) for lane, ids in enumerate(inputs)]
        held = Cat(holds).any()
        sent = self.send_even.any() | self.send_odd.any()
        taken = Cat(ids.valid & ids.ready for ids in inputs).any()
        m.d.comb += [self.idle.eq(~held), self.moving.eq(held | sent | taken), self.waiting.eq(Cat(waiting).any())]
        return m
