"""The files of exported Verilog: sources, constraints, the README."""

import re
import tempfile
from pathlib import Path

from hw.axi import AxiLimits
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, application_engine_verilog, axi_verilog, convey_verilog, kernel_verilog
from sim.export.readme import Port, readme

__all__ = ["TOPS", "constraints", "declared_ports", "export_verilog"]

_XDC = """\
# Timing constraints for Vivado: a template. {clock:g} MHz is the clock of the configuration; take the board's own.
create_clock -name {port} -period {period:.3f} [get_ports {port}]

# On a board the ports lead to other logic of the same clock, and need nothing more. To implement the engine alone, give
# that logic's share of the period:
# set_input_delay  -clock {port} [expr 0.4 * {period:.3f}] [get_ports -filter {{DIRECTION == IN && NAME != {port}}}]
# set_output_delay -clock {port} [expr 0.4 * {period:.3f}] [get_ports -filter {{DIRECTION == OUT}}]
"""
_UCF = """\
# Timing constraints for ISE (Virtex-5, Virtex-6): a template. The personality's clock is {clock:g} MHz.
NET "{port}" TNM_NET = "{port}";
TIMESPEC "TS_{port}" = PERIOD "{port}" {period:.3f} ns HIGH 50%;

# The vendor's shell constrains the memory, dispatch and AE-to-AE signals: they stay on the chip. To implement the
# engine alone, give that logic's share of the period:
# OFFSET = IN {half:.3f} ns VALID {period:.3f} ns BEFORE "{port}";
# OFFSET = OUT {half:.3f} ns AFTER "{port}";
"""
_TEMPLATES = {
    "ae": ("application_engine.xdc", _XDC, "clk"),
    "convey": ("application_engine_convey.ucf", _UCF, "clk"),
    "axi": ("application_engine_axi.xdc", _XDC, "aclk"),
}


def constraints(top: str, config: AcceleratorConfig) -> tuple[str, str]:
    """Return file name and text of a top's template of constraints.

    Parameters
    ----------
    top : str
        Kind of top.
    config : AcceleratorConfig
        The machine: its clock.
    """
    name, template, port = _TEMPLATES[top]
    period = 1000 / config.clock_mhz
    return name, template.format(clock=config.clock_mhz, period=period, half=period / 2, port=port)


TOPS = ("ae", "convey", "axi")
"""Kinds of top: native ports, those of a personality of the HC-2, AXI."""


def declared_ports(text: str, module: str) -> list[Port]:
    """Return the ports that a module declares, in alphabetical order.

    Parameters
    ----------
    text : str
        Exported Verilog.
    module : str
        Name of a module in it.
    """
    begin = re.search(rf"^module {module}\b", text, re.MULTILINE)
    assert begin is not None
    body = text[begin.start() : text.index("endmodule", begin.start())]
    declared = re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", body, re.MULTILINE)
    return sorted(Port(name, direction, int(width or 0) + 1) for direction, width, name in declared)


def export_verilog(
    config: AcceleratorConfig, directory: Path, *, top: str = "ae", limits: AxiLimits | None = None
) -> list[Path]:
    """Write one Application Engine as Verilog, with a list of the files, constraints and a README of the ports.

    All AEs of a machine are the same; each gets its number from outside. The kernels and the engine have the same
    text whatever the top: the other tops are adapters around it.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    directory : Path
        Where to; made if it does not exist. Files of the same names are replaced, all or none.
    top : str
        One of `TOPS`.
    limits : AxiLimits, optional
        What each master of the ``axi`` top may have outstanding.

    Returns
    -------
    list of Path
        The files: the Verilog in an order in which it can be read, then the others.

    Raises
    ------
    ValueError
        There is no such top.
    OSError
        The directory cannot be written.
    """
    if top not in TOPS:
        raise ValueError(f"top must be one of {', '.join(TOPS)}, not {top!r}")
    limits = limits or AxiLimits()
    texts = {f"{name}.v": kernel_verilog(kind, config) for kind, name in KERNEL_NAMES.items()}
    texts["application_engine.v"] = application_engine_verilog(config)
    if top != "ae":
        adapters = convey_verilog(config) if top == "convey" else axi_verilog(config, limits)
        texts |= {f"{name}.v": text for name, text in adapters.items()}
    sources = list(texts)
    ports = declared_ports(texts[sources[-1]], sources[-1].removesuffix(".v"))
    name, text = constraints(top, config)
    texts |= {
        "files.f": "".join(f"{source}\n" for source in sources),
        name: text,
        "README.md": readme(top, config=config, limits=limits, files=sources, ports=ports),
    }
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".verilog-", dir=directory) as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        return [(Path(folder) / name).replace(directory / name) for name in texts]
