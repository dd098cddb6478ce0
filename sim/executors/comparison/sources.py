"""The machine as exported Verilog, and where its ports are in a model of it."""

import re
from collections.abc import Callable
from pathlib import Path

from hw.config import AcceleratorConfig
from hw.verilog import accelerator_verilog
from sim.export import declared_ports, export_verilog

__all__ = ["TOP", "connections_header", "export_machine"]

TOP = "accelerator"
"""The top module."""

_ENGINE_PIN = re.compile(r"e(\d+)_(?:port_(\d+)_)?(\w+)")


def export_machine(config: AcceleratorConfig, folder: Path) -> list[Path]:
    """Write the exported Application Executor and the module that links several of them.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    folder : Path
        Where to.

    Returns
    -------
    list of Path
        The Verilog, in an order in which it can be read; the last file has the module `TOP`.
    """
    sources = [path for path in export_verilog(config, folder) if path.suffix == ".v"]
    top = folder / f"{TOP}.v"
    top.write_text(accelerator_verilog(config))
    return [*sources, top]


def connections_header(top: Path, member: Callable[[str], str]) -> str:
    """Return ``connections.h``: the ports of all AEs, and how they are found in a model of the machine.

    Parameters
    ----------
    top : Path
        Verilog of the module `TOP`.
    member : callable
        Returns what the class of the machine calls a port.
    """
    engine_pins: dict[str, int] = {}
    port_pins: dict[str, int] = {}
    binds = []
    for pin in declared_ports(top.read_text(), TOP):
        match = _ENGINE_PIN.fullmatch(pin.name)
        if match is None:
            continue
        engine, port, name = match.groups()
        (engine_pins if port is None else port_pins)[name] = pin.width
        place = f"pins[{engine}]" if port is None else f"pins[{engine}].ports[{port}]"
        binds.append(f"    {place}.{name}.bind(top.{member(pin.name)});")
    return "\n".join(
        [
            "#pragma once",
            "#include <array>",
            '#include "config.h"',
            "namespace cyscc {",
            *_struct("PortPins", port_pins),
            *_struct("EnginePins", engine_pins, "    std::array<PortPins, kPorts> ports;"),
            "inline void connect(Top& top, std::array<EnginePins, kEngines>& pins) {",
            *binds,
            "}",
            "}  // namespace cyscc",
            "",
        ]
    )


def _struct(name: str, pins: dict[str, int], *more: str) -> list[str]:
    return [f"struct {name} {{", *(f"    Pin<{width}> {pin};" for pin, width in pins.items()), *more, "};"]
