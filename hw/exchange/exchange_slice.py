"""Exchange slice: the queues of the ids that a kernel owns, and an arbiter for either plane."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.exchange.wires import PLANES, rest_bits


class ExchangeSlice(wiring.Component):
    """Gathers the ids that a kernel owns from all kernels of its AE.

    In either plane each kernel has a queue of its own, so that no kernel waits behind another one's id, and they are
    served in turn. A queue keeps only the bits of an id above the plane and the owner, which are the same for all of
    them.

    Parameters
    ----------
    kernels : int
        Kernels of the AE, a power of two.
    depth : int
        Ids that a queue holds; a power of two, at least 4.

    Members
    -------
    push_even, push_odd : In(kernels)
        By kernel: its id of the plane goes into its queue. Only as `room` allows, see `cyscc.hw.queue_bank.QueueBank`.
    even0, even1, ..., odd0, odd1, ... : In(rest_bits(kernels))
        The ids of each kernel by plane.
    room_even, room_odd : Out(kernels)
        By kernel: its queue takes an id even if two others are on their way to it. Registered.
    owned_even, owned_odd : Out(stream of rest_bits(kernels) bits)
        The ids, without the bits of plane and owner. Registered.
    busy : Out(1)
        An id is held. A function of registers.

    Notes
    -----
    Throughput: an id a cycle in either plane. Latency: `LATENCY` cycles. Without an id held or coming in, nothing
    changes but the room, one cycle later.
    """

    LATENCY: ClassVar[int] = ArbitratedQueues.LATENCY
    DEPTH: ClassVar[int] = 8
    """Ids that a queue holds in a machine."""

    def __init__(self, *, kernels: int, depth: int = DEPTH) -> None:
        if kernels < 1 or kernels & (kernels - 1):
            raise ValueError(f"kernels must be a power of two, not {kernels!r}")
        self._kernels = kernels
        self._depth = depth
        rest = rest_bits(kernels)
        super().__init__(
            {
                **{f"push_{plane}": In(kernels) for plane in PLANES},
                **{f"{plane}{kernel}": In(rest) for plane in PLANES for kernel in range(kernels)},
                **{f"room_{plane}": Out(kernels) for plane in PLANES},
                **{f"owned_{plane}": Out(stream.Signature(rest)) for plane in PLANES},
                "busy": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build both planes."""
        m = Module()
        busy = []
        for plane in PLANES:
            queues = ArbitratedQueues(rest_bits(self._kernels), queues=self._kernels, depth=self._depth)
            m.submodules[plane] = queues
            m.d.comb += [
                queues.push.eq(getattr(self, f"push_{plane}")),
                *(getattr(queues, f"entry{k}").eq(getattr(self, f"{plane}{k}")) for k in range(self._kernels)),
                getattr(self, f"room_{plane}").eq(queues.room),
            ]
            connect(m, queues.output, flipped(getattr(self, f"owned_{plane}")))
            busy.append(queues.busy)
        m.d.comb += self.busy.eq(Cat(busy).any())
        return m
