"""The Application Engine with the signals that a personality of the HC-2 has."""

from collections.abc import Callable

from amaranth.hdl import ClockDomain, Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.convey.dispatch import ConveyDispatch, ConveyDispatchSignature
from cyscc.hw.convey.link import ConveyLink, ConveyLinkSignature
from cyscc.hw.convey.memory_port import ConveyMemoryPort, ConveyMemorySignature
from cyscc.hw.dispatch import connect_host
from cyscc.hw.interfaces import drive, port_tag_bits
from cyscc.hw.registers import kernel_register


def _port_members(number: int) -> dict[str, tuple[str, wiring.Member]]:
    """Return the vendor's name and the member for each signal of a memory port: mc0_req_ld_e, mc0_req_ld_o, ..."""
    controller, half = divmod(number, 2)
    return {
        f"mc{controller}_{name}_{'eo'[half]}": (name, member)
        for name, member in ConveyMemorySignature().members.items()
    }


class ConveyEngine(wiring.Component):
    """An AE whose ports have the names and the meaning of the vendor's ``cae_pers``.

    Memory port n of the AE is port n / 2 of memory controllers 0 to 7, even or odd.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    make_engine : callable, optional
        Makes what stands for the AE instead of the AE itself.
    make_port : callable, optional
        Makes what stands for the adapter of a memory port instead of the adapter itself, given the width of its tags.

    Members
    -------
    clk, i_reset : In(1)
        The personality's clock, and its synchronous reset, active high.
    i_aeid : In(2)
        Number of this AE.
    inst_*, cae_*, err_unimpl
        See `cyscc.hw.convey.dispatch.ConveyDispatchSignature`.
    mc<c>_*_e, mc<c>_*_o
        See `cyscc.hw.convey.memory_port.ConveyMemorySignature`.
    nxtae_*, prvae_*
        See `cyscc.hw.convey.link.ConveyLinkSignature`; only if there are several AEs.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        *,
        make_engine: Callable[[AcceleratorConfig], wiring.Component] = ApplicationEngine,
        make_port: Callable[[int], wiring.Component] = ConveyMemoryPort,
    ) -> None:
        self._config = config
        self._make_engine = make_engine
        self._make_port = make_port
        members: dict[str, wiring.Member] = {"clk": In(1), "i_reset": In(1), "i_aeid": In(2)}
        members |= dict(ConveyDispatchSignature().members.items())
        if config.engines > 1:
            members |= dict(ConveyLinkSignature().members.items())
        for number in range(config.ports):
            members |= {name: member for name, (_, member) in _port_members(number).items()}
        super().__init__(members)

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the AE and its adapters."""
        m = Module()
        config = self._config
        m.domains.sync = domain = ClockDomain(local=True)
        m.submodules.engine = engine = self._make_engine(config)
        kernels = config.bfs_kernels + config.intersection_kernels
        m.submodules.dispatch = dispatch = ConveyDispatch(registers=kernel_register(kernels, 0))
        m.d.comb += [
            *drive(domain, clk=self.clk, rst=self.i_reset),
            engine.engine.eq(self.i_aeid),
            dispatch.idle.eq(engine.idle),
        ]
        connect_host(m, dispatch, engine)
        self._expose(m, dispatch.cae, {name: name for name in ConveyDispatchSignature().members})
        for number, port in enumerate(engine.port):
            m.submodules[f"port{number}"] = adapter = self._make_port(port_tag_bits(config))
            connect(m, port, adapter.port)
            self._expose(m, adapter.mc, {outer: name for outer, (name, _) in _port_members(number).items()})
        if config.engines > 1:
            m.submodules.link = link = ConveyLink()
            connect(m, engine.link_out, link.link_out)
            connect(m, link.link_in, engine.link_in)
            self._expose(m, link.ae, {name: name for name in ConveyLinkSignature().members})
        return m

    def _expose(self, m: Module, inner: wiring.PureInterface, names: dict[str, str]) -> None:
        """Connect members of an inner interface, by their outer names."""
        for outer, name in names.items():
            mine, its = getattr(self, outer), getattr(inner, name)
            m.d.comb += mine.eq(its) if inner.signature.members[name].flow == Out else its.eq(mine)
