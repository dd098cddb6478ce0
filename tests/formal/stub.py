"""Stubs of components, whose outputs a harness drives, so that a proof is about what is around them."""

from functools import cached_property
from typing import Any, Self

from amaranth.hdl import Elaboratable, Module
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from cyscc.hw.verilog import port_names
from tests.formal.harness import Harness


class Stub(wiring.Component):
    """Stub with the ports of a component, which connects them to those of its twin."""

    @classmethod
    def of(cls, component: Any) -> Self:
        """Return the stub of a component that was made for its signature alone."""
        component._MustUse__silence = True  # Amaranth would warn that it is not used
        return cls(component.signature)

    @cached_property
    def twin(self) -> Any:
        """The opposite ports, by which a harness drives and reads the component."""
        return self.signature.create(path=("twin",))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect both."""
        m = Module()
        for name, (port, way) in port_names(self).items():
            inner, _ = port_names(self.twin)[name]
            # A mere wire would leave no part in the netlist, with pins that may be faulty.
            m.d.comb += port.eq(inner | 0) if way == PortDirection.Output else inner.eq(port | 0)
        return m


def free_ports(h: Harness, name: str, component: Any, way: PortDirection) -> None:
    """Drive the ports of a direction with anything."""
    for port, (value, its) in port_names(component).items():
        if its == way:
            h.m.d.comb += value.eq(h.free(len(value), f"{name}_{port}"))
