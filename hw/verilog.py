"""Verilog of the hardware: readable, hierarchical, each kind of kernel once, the same from run to run."""

import re
from collections.abc import Callable, Mapping
from functools import partial

from amaranth.back import verilog
from amaranth.hdl import ClockSignal, Elaboratable, Instance, Module, ResetSignal, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from cyscc.hw.accelerator import Accelerator
from cyscc.hw.application_engine import ApplicationEngine, application_engine_signature
from cyscc.hw.axi import AxiEngine, AxiLimits
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.convey import ConveyEngine
from cyscc.hw.convey.memory_port import ConveyMemoryPort
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.interfaces import port_tag_bits
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.shell import Shell
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from cyscc.hw.switch.switch import SwitchSizes

KERNEL_NAMES: dict[type[wiring.Component], str] = {BfsKernel: "bfs_kernel", IntersectionKernel: "intersection_kernel"}
"""Module names of the kernels."""

SLICE_NAMES: dict[type[wiring.Component], str] = {
    KernelSlice: "kernel_slice",
    LinkSlice: "link_slice",
    ExchangeSlice: "exchange_slice",
}
"""Module names of the slices of switch and exchange."""


def port_names(component: wiring.Component) -> dict[str, tuple[Signal, PortDirection]]:
    """Return the ports of a component: name of path, joined by underscores, to signal and direction.

    Members that are constants (the readiness of streams that are always ready) are no ports.
    """
    ports = {}
    for path, member, value in component.signature.flatten(component):
        signal = Value.cast(value)
        if isinstance(signal, Signal):
            direction = PortDirection.Input if member.flow == In else PortDirection.Output
            ports["_".join(map(str, path))] = (signal, direction)
    return ports


class _Elsewhere(wiring.Component):
    """Stands for a component whose text is elsewhere, as the module of a name."""

    def __init__(self, name: str, signature: wiring.Signature) -> None:
        self._name = name
        super().__init__(signature)

    def elaborate(self, platform: object) -> Elaboratable:
        """Instantiate the module."""
        m = Module()
        connections = {
            f"{'i' if direction == PortDirection.Input else 'o'}_{name}": signal
            for name, (signal, direction) in port_names(self).items()
        }
        m.submodules.inner = Instance(self._name, i_clk=ClockSignal(), i_rst=ResetSignal(), **connections)
        return m


_STYLE = {
    "CASEINCOMPLETE": "values are assigned before each case, so what it leaves out keeps them",
    "PROCASSINIT": "registers have initial values besides their reset, as FPGAs allow",
    "WIDTHEXPAND": "constants are written as short as they are",
    "WIDTHTRUNC": "comparisons with zero are written as logical negations",
    "UNUSEDSIGNAL": "fields of packed payloads are named whether or not they are used",
    "DECLFILENAME": "small modules stand in the file of the module that uses them",
}
"""Verilator lint warnings about the generator's style, with the reason why each is harmless."""

_HEADER = "// Generated from the description in Amaranth; edit that instead.\n" + "".join(
    f"// verilator lint_off {code}\n//   {reason}\n" for code, reason in _STYLE.items()
)


_AWAKENER = re.compile(r"\\\$auto\$verilog_backend\.cc:\d+:dump_module\$\d+ ")
"""Name of Yosys' dummy register whose first change makes simulators evaluate combinational blocks at the start."""


_QUEUE_MEMORY = re.compile(r"^(?=  reg \[\d+:0\] storage \[\d+:0\];$)", re.MULTILINE)
"""The memory of the library's FIFO, which is the one of each `cyscc.hw.queue.Queue`.

It reads only if it holds something and writes only if it is not full, so it never reads the entry that is being
written. Synthesis cannot know that, and might keep the written word in registers and put a LUT behind every output.
"""


def _convert(
    component: wiring.Component, name: str, ports: Mapping[str, tuple[Signal, PortDirection]] | None = None
) -> str:
    # Source locations contain local paths, and would make the text differ between machines.
    text: str = verilog.convert(
        component, name=name, ports=ports or port_names(component), emit_src=False, strip_internal_attrs=False
    )
    text = _AWAKENER.sub(r"\\$initial ", text)
    # In SystemVerilog, an initial value in the declaration is set before any block runs, and does not count as a
    # change.
    text = text.replace("  reg \\$initial  = 0;\n", "  reg \\$initial ;\n  initial \\$initial = 0;\n")
    text = _QUEUE_MEMORY.sub("  (* no_rw_check *) // an entry is never read while it is written\n", text)
    return _HEADER + text


def kernel_verilog(kind: type[wiring.Component], config: AcceleratorConfig, *, instrument: bool = False) -> str:
    """Return the Verilog of a kind of kernel, module `KERNEL_NAMES[kind]`."""
    return _convert(kind(config, instrument=instrument), KERNEL_NAMES[kind])


def shell_verilog(config: AcceleratorConfig, *, instrument: bool = False) -> str:
    """Return the Verilog of the engine shell, module ``shell``."""
    return _convert(Shell(config, instrument=instrument), "shell")


def slice_kinds(config: AcceleratorConfig) -> tuple[type[wiring.Component], ...]:
    """Return the kinds of slices that an AE has, of `SLICE_NAMES`."""
    switch, exchange = bool(config.link_queues), bool(config.exchange_kernels)
    return (KernelSlice, LinkSlice) * switch + (ExchangeSlice,) * exchange


def slice_verilog(kind: type[wiring.Component], config: AcceleratorConfig) -> str:
    """Return the Verilog of a kind of slice of an AE that has it, module `SLICE_NAMES[kind]`."""
    part: wiring.Component
    if kind is ExchangeSlice:
        part = ExchangeSlice(kernels=config.exchange_kernels)
    else:
        sizes = SwitchSizes.of(config)
        make = sizes.kernel_slice if kind is KernelSlice else sizes.link_slice
        part = make(instrument=False)
    return _convert(part, SLICE_NAMES[kind])


def application_engine_verilog(config: AcceleratorConfig, *, slices: bool = True) -> str:
    """Return the Verilog of an Application Engine, module ``application_engine``, without the text of its kernels.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine.
    slices : bool
        With the text of the slices of switch and exchange. Else each is an instance of the module `SLICE_NAMES` has for
        its kind.
    """
    engine = ApplicationEngine(
        config,
        make_kernel=lambda kind, _: _Elsewhere(KERNEL_NAMES[kind], kind.signature_of(config)),
        make_slice=None if slices else _slice_elsewhere,
    )
    return _convert(engine, "application_engine")


def _slice_elsewhere(part: wiring.Component) -> wiring.Component:
    part._MustUse__silence = True  # Amaranth would warn that it is made for its signature alone
    return _Elsewhere(SLICE_NAMES[type(part)], part.signature)


def _engine_elsewhere(config: AcceleratorConfig) -> wiring.Component:
    return _Elsewhere("application_engine", application_engine_signature(config))


def accelerator_verilog(config: AcceleratorConfig) -> str:
    """Return the Verilog of the AEs and their link, module ``accelerator``, without the text of the AEs.

    The ports of AE number n are those of ``application_engine`` with ``e<n>_`` in front; it knows its number, and is
    linked.
    """
    accelerator = Accelerator(config, make_engine=_engine_elsewhere)
    inner = ("engine", "link_in", "link_out")
    ports = port_names(accelerator) | {
        f"e{number}_{name}": port
        for number, engine in enumerate(accelerator.engines)
        for name, port in port_names(engine).items()
        if not name.startswith(inner)
    }
    return _convert(accelerator, "accelerator", ports)


def convey_verilog(config: AcceleratorConfig) -> dict[str, str]:
    """Return the Verilog of the adapters to the HC-2 by module name, the top ``application_engine_convey`` last."""
    return _adapted("convey", ConveyMemoryPort(port_tag_bits(config)), partial(ConveyEngine, config))


def axi_verilog(config: AcceleratorConfig, limits: AxiLimits) -> dict[str, str]:
    """Return the Verilog of the adapters to AXI by module name, the top ``application_engine_axi`` last."""
    return _adapted("axi", AxiMemoryPort(limits, port_tag_bits(config)), partial(AxiEngine, config, limits))


def _adapted(name: str, port: wiring.Component, engine: Callable[..., wiring.Component]) -> dict[str, str]:
    """Return the Verilog of the adapter of a memory port, and of an AE with adapters but without their text."""
    adapter, top = f"{name}_memory_port", f"application_engine_{name}"
    adapted = engine(make_engine=_engine_elsewhere, make_port=lambda *_: _Elsewhere(adapter, port.signature))
    return {adapter: _convert(port, adapter), top: _convert(adapted, top)}
