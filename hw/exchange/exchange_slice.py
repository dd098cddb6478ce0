"""Exchange slice: the crosspoint queues of the ids that a kernel owns, and an arbiter for either plane."""

from typing import Any, ClassVar

from amaranth.hdl import Array, Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.exchange.wires import PLANES, SentSignature, owner_bits, rest_bits
from cyscc.hw.interfaces import drive
from cyscc.hw.switch.pulled_fifo import PulledFifo

__all__ = ["ExchangeSlice"]


class ExchangeSlice(wiring.Component):
    """Gathers the ids that a kernel owns from all kernels of its AE.

    In either plane each kernel has a queue of its own in LUT RAM, so that no kernel waits behind another one's id. The
    arbiter of a plane goes round from the kernel after the last one that was served. A queue keeps only the bits of an
    id above the plane and the owner, which are the same for all of them.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.
    depth : int
        Ids that a crosspoint queue holds; a power of two.

    Members
    -------
    number : In
        Number of the kernel that this slice belongs to.
    even0, even1, ..., odd0, odd1, ... : In(SentSignature())
        The ids of each kernel by plane; those of other owners are ignored.
    room_even, room_odd : Out(kernels)
        The kernel's queue takes an id.
    owned_even, owned_odd : Out(stream of rest_bits(kernels) bits)
        The ids, without the bits of plane and owner.
    busy : Out(1)
        An id is held.

    Notes
    -----
    Throughput: an id a cycle in either plane. Latency: `LATENCY` cycles. All outputs are functions of registers alone.
    Without an id held or coming in, nothing changes.
    """

    LATENCY: ClassVar[int] = 2
    DEPTH: ClassVar[int] = 8
    """Ids that a queue holds in a machine."""

    def __init__(self, *, kernels: int, depth: int = DEPTH) -> None:
        for name, value in (("kernels", kernels), ("depth", depth)):
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name} must be a power of two, not {value!r}")
        self._kernels = kernels
        self._depth = depth
        super().__init__(
            {
                "number": In(max(1, (kernels - 1).bit_length())),
                **{f"{plane}{kernel}": In(SentSignature()) for plane in PLANES for kernel in range(kernels)},
                **{f"room_{plane}": Out(kernels) for plane in PLANES},
                **{f"owned_{plane}": Out(stream.Signature(rest_bits(kernels))) for plane in PLANES},
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build both planes."""
        m = Module()
        m.d.comb += self.busy.eq(Cat(self._add_plane(m, plane) for plane in PLANES).any())
        return m

    def _add_plane(self, m: Module, plane: str) -> Value:
        """Add the queues, the arbiter and the output of a plane; return whether it holds an id."""
        room, output = getattr(self, f"room_{plane}"), getattr(self, f"owned_{plane}")
        taken = ~output.valid | output.ready
        queues: list[Any] = []
        filled = Signal(self._kernels, name=f"filled_{plane}")
        grant = Signal(self._kernels, name=f"grant_{plane}")
        winner = Signal(range(max(2, self._kernels)), name=f"winner_{plane}")
        for kernel in range(self._kernels):
            source = getattr(self, f"{plane}{kernel}")
            m.submodules[f"{plane}_queue{kernel}"] = queue = PulledFifo(rest_bits(self._kernels), self._depth)
            queues.append(queue)
            mine = owner_bits(source.id, self._kernels) == self.number
            m.d.comb += [
                *drive(
                    queue,
                    push=source.valid & mine & queue.room,
                    entry=source.id[-rest_bits(self._kernels) :],
                    pull=grant[kernel],
                ),
                room[kernel].eq(queue.room),
                filled[kernel].eq(queue.available),
            ]

        # Kernels above the last one that was served come first; of those that come first, the lowest does.
        above = Signal(self._kernels, name=f"above_{plane}")
        later = Signal(self._kernels, name=f"later_{plane}")
        m.d.comb += later.eq(filled & above)
        with m.If(taken):
            m.d.comb += grant.eq(Mux(later.any(), _lowest(later), _lowest(filled)))
            m.d.sync += output.valid.eq(filled.any())
        for kernel in range(self._kernels):
            with m.If(grant[kernel]):
                m.d.sync += [winner.eq(kernel), above.eq(((1 << self._kernels) - 1) & ~((2 << kernel) - 1))]
        shown = Array(queue.shown for queue in queues)[winner]
        m.d.comb += output.payload.eq(shown)
        return filled.any() | output.valid


def _lowest(bits: Value) -> Value:
    """Return the lowest bit that is set, alone."""
    return bits & (~bits + 1)[: len(bits)]
