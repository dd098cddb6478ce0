"""Switch: slices for kernels and memory ports, wired to each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from amaranth.hdl import Cat, Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.interfaces import MemoryPortSignature, memory_port_signature, number_bits
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice


@dataclass(frozen=True, kw_only=True)
class SwitchSizes:
    """Sizes of a switch.

    Parameters
    ----------
    kernels : int
        Kernels.
    link_bits : tuple of int
        Positions of the address bits that make the link's number, lowest first: `n` bits for `2**n` memory ports.
    depth : int
        Requests that a crosspoint queue holds at least; a power of two from 4 to 64.
    places : int
        Reads of a kernel that may be in flight to one link at least; a power of two from 4 to 64.
    """

    kernels: int
    link_bits: tuple[int, ...]
    depth: int
    places: int = 16

    @classmethod
    def of(cls, config: AcceleratorConfig) -> Self:
        """Return the sizes of the switch of an AE."""
        return cls(kernels=config.bfs_kernels, link_bits=config.link_bits, depth=config.link_queues)

    @property
    def links(self) -> int:
        """Memory ports."""
        return 1 << len(self.link_bits)

    def kernel_slice(self, *, instrument: bool) -> KernelSlice:
        """Return a kernel slice, of which a switch has one for each kernel."""
        return KernelSlice(link_bits=self.link_bits, places=self.places, instrument=instrument)

    def link_slice(self, *, instrument: bool) -> LinkSlice:
        """Return a link slice, of which a switch has one for each memory port."""
        return LinkSlice(kernels=self.kernels, link_bits=self.link_bits, depth=self.depth, instrument=instrument)


class Switch(wiring.Component):
    """Brings each request of a kernel to the memory port of its address's link, and the answers back in order.

    A kernel sees a memory port like any other. What it asks to be flushed is for a `FlushBarrier` outside to decide.

    Parameters
    ----------
    sizes : SwitchSizes
        Sizes.
    instrument : bool
        With the outputs of slices that only simulation needs.
    make_slice : callable, optional
        Returns a substitute for a slice, with the same signature.

    Members
    -------
    kernel0, kernel1, ... : In(MemoryPortSignature())
        The kernels' ports.
    port0, port1, ... : Out(memory_port_signature(number_bits(kernels)))
        The memory ports. Answers of one port come in the order of its reads, those of different ports in any.
    asks, flush, answers, flushed : Out(kernels), In(1), Out(links), In(kernels)
        To and from the flush barrier, see there.
    busy : Out(1)
        A request is in the switch and not taken by its port.

    Notes
    -----
    Throughput: one request a cycle and kernel, one a cycle and port, one answer a cycle and kernel. Latency: a read
    takes `LATENCY` cycles longer, there and back, than at the memory port itself.
    """

    LATENCY: ClassVar[int] = (
        KernelSlice.LATENCY + LinkSlice.LATENCY + LinkSlice.ANSWER_LATENCY + KernelSlice.ANSWER_LATENCY
    )

    def __init__(
        self,
        sizes: SwitchSizes,
        *,
        instrument: bool = False,
        make_slice: Callable[[wiring.Component], wiring.Component] | None = None,
    ) -> None:
        self._sizes = sizes
        self._instrument = instrument
        self._make_slice = make_slice or (lambda part: part)
        kernels, links = sizes.kernels, sizes.links
        super().__init__(
            {
                **{f"kernel{kernel}": In(MemoryPortSignature()) for kernel in range(kernels)},
                **{f"port{link}": Out(memory_port_signature(number_bits(kernels))) for link in range(links)},
                "asks": Out(kernels),
                "flush": In(1),
                "answers": Out(links),
                "flushed": In(kernels),
                "busy": Out(1),
                **({"quiescent": Out(1)} if instrument else {}),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Wire the slices."""
        m = Module()
        sizes, instrument, make = self._sizes, self._instrument, self._make_slice
        kernels = [make(sizes.kernel_slice(instrument=instrument)) for _ in range(sizes.kernels)]
        links = [make(sizes.link_slice(instrument=instrument)) for _ in range(sizes.links)]
        for number, kernel in enumerate(kernels):
            m.submodules[f"kernel{number}"] = kernel
            outside = getattr(self, f"kernel{number}")
            for channel in ("read", "write"):
                connect(m, getattr(kernel.port, channel), flipped(getattr(outside, channel)))
            connect(m, kernel.port.response, flipped(outside.response))
            m.d.comb += [
                kernel.room.eq(Cat(link.room[number] for link in links)),
                kernel.arrives.eq(Cat(link.answers[number] for link in links)),
                self.asks[number].eq(outside.flush),
                outside.flushed.eq(self.flushed[number]),
            ]
        for number, link in enumerate(links):
            m.submodules[f"link{number}"] = link
            outside = getattr(self, f"port{number}")
            for channel in ("read", "write", "response"):
                connect(m, getattr(link.port, channel), flipped(getattr(outside, channel)))
            m.d.comb += [
                link.number.eq(number),
                outside.flush.eq(self.flush),
                self.answers[number].eq(outside.flushed),
            ]
            m.d.comb += link.push.eq(Cat(kernel.send[number] for kernel in kernels))
            for other, kernel in enumerate(kernels):
                m.d.comb += [
                    getattr(link, f"request{other}").eq(kernel.request),
                    getattr(kernel, f"answer{number}").eq(link.answer),
                ]
        slices: list[Any] = [*kernels, *links]
        m.d.comb += self.busy.eq(Cat(part.busy for part in slices).any())
        if self._instrument:
            m.d.comb += self.quiescent.eq(Cat(part.quiescent for part in slices).all())
        return m
