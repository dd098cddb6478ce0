"""Application Engine: everything on one FPGA (Attia et al. 2015, figure 2)."""

from collections.abc import Callable

from amaranth.hdl import Elaboratable, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.dispatch import host_members
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.interfaces import FILL_WIDTH, LINK, drive, memory_port_signature, port_tag_bits
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.port_share import PortShare
from cyscc.hw.shell import STATION_BITS, Shell
from cyscc.hw.switch.switch import Switch, SwitchSizes

KernelFactory = Callable[[type[wiring.Component], AcceleratorConfig], wiring.Component]
"""Function that makes a kernel of the given class, or a substitute with the same signature."""

SliceFactory = Callable[[wiring.Component], wiring.Component]
"""Function that returns a slice of switch or exchange, or a substitute with the same signature."""


def application_engine_signature(config: AcceleratorConfig, *, instrument: bool = False) -> wiring.Signature:
    """Return the signature of `ApplicationEngine`, whose members are described there."""
    members = {
        "engine": In(2),
        **host_members(),
        "port": Out(memory_port_signature(port_tag_bits(config))).array(config.ports),
    }
    if config.engines > 1:
        members |= {"link_in": In(LINK), "link_out": Out(LINK)}
    if instrument:
        members["cause"] = Out(Cause).array(config.bfs_kernels + config.intersection_kernels)
        for name, kind, kernels in (
            ("bfs", BfsKernel, config.bfs_kernels),
            ("intersection", IntersectionKernel, config.intersection_kernels),
        ):
            members[f"{name}_fill"] = Out(FILL_WIDTH * len(kind.fifos(config))).array(kernels)
            members[f"{name}_arrival"] = Out(1)
    return wiring.Signature(members)


class ApplicationEngine(wiring.Component):
    """Shell, kernels and port sharing of an AE, and the exchange of ids with `config.visited_filter`.

    Intersection kernel k shares the memory port of BFS kernel k. With `config.link_queues` a `Switch` stands between
    these ports and those of the memory.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    instrument : bool
        With the outputs that only simulation needs.
    make_kernel : KernelFactory, optional
        Makes a substitute for each kernel.
    make_slice : SliceFactory, optional
        Makes a substitute for each slice of switch and exchange.

    Members
    -------
    engine, write, read, data, instruction, idle, exception, link_in, link_out
        See `cyscc.hw.shell.Shell`.
    port : array of Out(memory_port_signature(port_tag_bits(config)))
        Memory ports.
    cause : array of Out(Cause), instrumented engines only
        Of each kernel, BFS kernels first.
    bfs_fill, intersection_fill : array of Out, instrumented engines only
        Entries held in the FIFOs of each kernel, see `cyscc.hw.interfaces.KernelSignature`.
    bfs_arrival, intersection_arrival : Out(1), instrumented engines only
        The token arrives at the module's first kernel, or at the station of its kernels.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        *,
        instrument: bool = False,
        make_kernel: KernelFactory | None = None,
        make_slice: SliceFactory | None = None,
    ) -> None:
        self._config = config
        self._instrument = instrument
        self._make_slice = make_slice or (lambda part: part)
        self._make_kernel = make_kernel or (lambda kind, config: kind(config, instrument=instrument))
        super().__init__(application_engine_signature(config, instrument=instrument))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect shell, kernels and ports."""
        m = Module()
        config = self._config
        m.submodules.shell = shell = Shell(config)
        bfs = self._add_kernels(m, name="bfs", kind=BfsKernel, count=config.bfs_kernels, place=shell.bfs)
        intersection = self._add_kernels(
            m,
            name="intersection",
            kind=IntersectionKernel,
            count=config.intersection_kernels,
            place=shell.intersection,
        )
        ports = self._add_switch(m, shell) if config.link_queues else [flipped(port) for port in self.port]
        if config.exchange_kernels:
            self._add_exchange(m, shell, bfs)
        for number, port in enumerate(ports):
            if number < len(intersection):
                m.submodules[f"share{number}"] = share = PortShare()
                m.d.comb += share.intersection_owns.eq(shell.intersection_owns)
                connect(m, bfs[number].port, share.bfs)
                connect(m, intersection[number].port, share.intersection)
                connect(m, share.port, port)
            else:
                connect(m, bfs[number].port, port)

        for name in ("write", "read", "instruction", "link_in"):
            if hasattr(self, name):
                connect(m, flipped(getattr(self, name)), getattr(shell, name))
        for name in ("data", "link_out"):
            if hasattr(self, name):
                connect(m, getattr(shell, name), flipped(getattr(self, name)))
        m.d.comb += [
            shell.engine.eq(self.engine),
            self.idle.eq(shell.idle),
            self.exception.eq(shell.exception),
        ]
        if self._instrument:
            m.d.comb += [out.eq(kernel.cause) for out, kernel in zip(self.cause, bfs + intersection, strict=True)]
            for name, kernels in (("bfs", bfs), ("intersection", intersection)):
                fills = getattr(self, f"{name}_fill")
                m.d.comb += [out.eq(kernel.fill) for out, kernel in zip(fills, kernels, strict=True)]
                m.d.comb += getattr(self, f"{name}_arrival").eq(_arrival(getattr(shell, name)))
        return m

    def _add_switch(self, m: Module, shell: Shell) -> list[wiring.PureInterface]:
        """Add the switch before the memory ports, and return the ports that it has for the kernels."""
        m.submodules.switch = switch = Switch(
            SwitchSizes.of(self._config), instrument=self._instrument, make_slice=self._make_slice
        )
        for number, port in enumerate(self.port):
            connect(m, getattr(switch, f"port{number}"), flipped(port))
        m.d.comb += [
            *drive(shell, asks=switch.asks, busy=switch.busy, answers=switch.answers),
            *drive(switch, flush=shell.flush, flushed=shell.flushed),
        ]
        return [getattr(switch, f"kernel{number}") for number in range(self._config.bfs_kernels)]

    def _add_exchange(self, m: Module, shell: Shell, kernels: list[wiring.Component]) -> None:
        """Add the exchange of ids between BFS kernels: a slice for each owner."""
        for owner, kernel in enumerate(kernels):
            m.submodules[f"exchange{owner}"] = part = self._make_slice(ExchangeSlice(kernels=len(kernels)))
            m.d.comb += [
                shell.exchange_busy[owner].eq(part.busy),
                shell.read_epoch[owner].eq(kernel.read_epoch),
                kernel.drained.eq(shell.drained),
            ]
            for plane in PLANES:
                connect(m, getattr(part, f"owned_{plane}"), getattr(kernel, f"owned_{plane}"))
                for source, other in enumerate(kernels):
                    m.d.comb += [
                        getattr(part, f"push_{plane}")[source].eq(getattr(other, f"send_{plane}")[owner]),
                        getattr(part, f"{plane}{source}").eq(getattr(other, f"id_{plane}")),
                        getattr(other, f"room_{plane}")[owner].eq(getattr(part, f"room_{plane}")[source]),
                    ]

    def _add_kernels(
        self,
        m: Module,
        *,
        name: str,
        kind: type[wiring.Component],
        count: int,
        place: wiring.PureInterface,
    ) -> list[wiring.Component]:
        """Add a module's kernels in their order on chain and ring."""
        kernels = []
        chain, token = place.chain_out, getattr(place, "token_out", None)
        for number in range(count):
            kernel = self._make_kernel(kind, self._config)
            m.submodules[f"{name}{number}"] = kernel
            connect(m, chain, kernel.chain_in)
            if token is None:
                connect(m, getattr(place, f"block{number}"), kernel.block)
                m.d.comb += [getattr(place, name)[number].eq(getattr(kernel, name)) for name in STATION_BITS]
            else:
                connect(m, token, kernel.token_in)
                token = kernel.token_out
            m.d.comb += [place.done[number].eq(kernel.done), place.error[number].eq(kernel.error)]
            chain = kernel.chain_out
            kernels.append(kernel)
        connect(m, chain, place.chain_in)
        if token is not None:
            connect(m, token, place.token_in)
        return kernels


def _arrival(place: wiring.PureInterface) -> Value:
    """Return whether the token arrives at the kernels of a module, or at their station."""
    return place.token_out.valid if hasattr(place, "token_out") else place.arrival
