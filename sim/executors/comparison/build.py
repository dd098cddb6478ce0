"""The machine as exported Verilog, built as one model by Verilator."""

import re
from pathlib import Path

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.verilog import accelerator_verilog
from cyscc.sim.caching.headers import header
from cyscc.sim.caching.tools import Steps, Toolchain
from cyscc.sim.executors.cache import cached_library, cached_runtime, digest_sources, machine_headers, write_headers
from cyscc.sim.export import declared_ports, export_verilog

TOP = "accelerator"
"""The top module."""

_ENGINE_PIN = re.compile(r"e(\d+)_(?:port_(\d+)_)?(\w+)")


def export_machine(config: AcceleratorConfig, folder: Path) -> list[Path]:
    """Write the exported Application Engine and a top module that links several of them.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    folder : Path
        Target folder.

    Returns
    -------
    list of Path
        The Verilog files in compilation order; the last file has the module `TOP`.
    """
    sources = [path for path in export_verilog(config, folder) if path.suffix == ".v"]
    top = folder / f"{TOP}.v"
    top.write_text(accelerator_verilog(config))
    return [*sources, top]


def connections_header(top: Path) -> str:
    """Return ``connections.h``, which maps the ports of all AEs to members of the machine's model.

    Parameters
    ----------
    top : Path
        Verilog of the module `TOP`.
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
        binds.append(f"    {place}.{name}.bind(top.{pin.name});")
    return header(
        [
            *_struct("PortPins", port_pins),
            *_struct("EnginePins", engine_pins, "    std::array<PortPins, kPorts> ports;"),
            "inline void connect(Top& top, std::array<EnginePins, kEngines>& pins) {",
            *binds,
            "}",
        ],
        before=["#include <array>", '#include "config.h"'],
    )


def _struct(name: str, pins: dict[str, int], *more: str) -> list[str]:
    return [f"struct {name} {{", *(f"    Pin<{width}> {pin};" for pin, width in pins.items()), *more, "};"]


# Split functions: otherwise some are so long that compiling one takes half an hour.
_VERILATOR_OPTIONS = ("--output-split-cfuncs", "500")

_SETTINGS = "`verilator_config\n" + "".join(
    f'no_inline -module "{name}"\n' for name in ("bfs_kernel", "intersection_kernel")
)
"""Verilator configuration: each kind of kernel stays a module, which makes a model 1.7 times as fast as one in which
all are dissolved."""

_NATIVE = Path(__file__).parent / "native"

# Computed when the hardware is imported: this process does not build later changes of the files.
_SOURCES = digest_sources()


def build_whole_model(config: AcceleratorConfig) -> Path:
    """Return the shared library of a machine as one model, built now if it is not in the cache.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    tools = Toolchain.find(verilator=True)
    return cached_library(
        "whole",
        config,
        tools,
        parts=(_VERILATOR_OPTIONS, _SETTINGS),
        sources=_SOURCES,
        build=lambda folder: _build(config, folder, tools),
    )


def _build(config: AcceleratorConfig, folder: Path, tools: Toolchain) -> Path:
    """Compile the model together with the native code for memory and host."""
    sources = export_machine(config, folder)
    write_headers(machine_headers(config), folder)
    (folder / "connections.h").write_text(connections_header(sources[-1]))
    settings = folder / "settings.vlt"
    settings.write_text(_SETTINGS)
    units = tools.verilate([*sources, settings], top=TOP, folder=folder, options=_VERILATOR_OPTIONS)
    runtime, flags = cached_runtime(tools)
    units.append(_NATIVE / "machine.cpp")
    objects = tools.compile_objects(units, folder=folder, flags=[*flags, "-I", str(_NATIVE)], steps=Steps(None))
    library = folder / "machine.so"
    tools.link([runtime, *objects], library)
    return library
