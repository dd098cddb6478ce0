"""The Application Engine with AXI ports, for boards whose memory and host speak AXI."""

from collections.abc import Callable

from amaranth.hdl import ClockDomain, Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.axi.control import AxiControl
from cyscc.hw.axi.limits import AxiLimits
from cyscc.hw.axi.link import AxiLink
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.axi.signatures import Axi4LiteSignature, Axi4Signature, AxiStreamSignature
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.dispatch import connect_host
from cyscc.hw.interfaces import drive, port_tag_bits


class AxiEngine(wiring.Component):
    """An AE with an AXI4 master for each memory port and an AXI4-Lite slave for its registers.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    limits : AxiLimits
        How much each master may have outstanding.
    make_engine : callable, optional
        Makes what stands for the AE instead of the AE itself.
    make_port : callable, optional
        Makes what stands for the adapter of a memory port instead of the adapter itself, given the width of its tags
        besides.

    Members
    -------
    aclk, aresetn : In(1)
        Clock, and reset, active low, synchronous to the clock.
    s_axi_control : In(Axi4LiteSignature())
        Registers; see `cyscc.hw.axi.registers`.
    m00_axi, m01_axi, ... : Out(Axi4Signature())
        Memory ports.
    m_axis_link, s_axis_link : AxiStreamSignature()
        Token ring, to the next AE and from the previous one; only if there are several AEs.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        limits: AxiLimits,
        *,
        make_engine: Callable[[AcceleratorConfig], wiring.Component] = ApplicationEngine,
        make_port: Callable[[AxiLimits, int], wiring.Component] = AxiMemoryPort,
    ) -> None:
        self._config = config
        self._limits = limits
        self._make_engine = make_engine
        self._make_port = make_port
        members: dict[str, wiring.Member] = {"aclk": In(1), "aresetn": In(1), "s_axi_control": In(Axi4LiteSignature())}
        if config.engines > 1:
            members |= {"m_axis_link": Out(AxiStreamSignature()), "s_axis_link": In(AxiStreamSignature())}
        members |= {f"m{number:02}_axi": Out(Axi4Signature()) for number in range(config.ports)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the AE and its adapters."""
        m = Module()
        m.domains.sync = domain = ClockDomain(local=True)
        m.submodules.engine = engine = self._make_engine(self._config)
        m.submodules.control = control = AxiControl(self._config)
        m.d.comb += [
            *drive(domain, clk=self.aclk, rst=~self.aresetn),
            engine.engine.eq(control.engine),
            *drive(control, idle=engine.idle, exception=engine.exception),
        ]
        connect(m, flipped(self.s_axi_control), control.axi)
        connect_host(m, control, engine)
        for number, port in enumerate(engine.port):
            m.submodules[f"port{number}"] = adapter = self._make_port(self._limits, port_tag_bits(self._config))
            connect(m, port, adapter.port)
            connect(m, adapter.axi, flipped(getattr(self, f"m{number:02}_axi")))
            m.d.comb += [
                control.read_failed[number].eq(adapter.read_failed),
                control.write_failed[number].eq(adapter.write_failed),
            ]
        if self._config.engines > 1:
            m.submodules.link = link = AxiLink()
            connect(m, engine.link_out, link.link_out)
            connect(m, link.link_in, engine.link_in)
            connect(m, link.next_engine, flipped(self.m_axis_link))
            connect(m, flipped(self.s_axis_link), link.previous_engine)
        return m
