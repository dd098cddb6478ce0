"""The machine as exported Verilog, and what C++ needs to know of its ports."""

import re
from collections.abc import Callable
from pathlib import Path

from hw.config import AcceleratorConfig
from hw.verilog import accelerator_verilog
from sim.export import declared_ports, export_verilog
from sim.memory import memory_header

__all__ = ["TOP", "export_machine", "pins_header"]

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


def pins_header(config: AcceleratorConfig, top: Path, member: Callable[[str], str]) -> str:
    """Return a C++ header with what is shared with the memory, sizes and the ports of all AEs.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
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
    sizes = {"kEngines": config.engines, "kPorts": config.ports}
    return "\n".join(
        [
            memory_header(),
            "namespace cyscc {",
            *(f"inline constexpr int {name} = {value};" for name, value in sizes.items()),
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
