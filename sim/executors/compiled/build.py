"""Building the compiled executor: hardware to Verilog, to C++, to a shared library, cached by all that goes in."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from functools import partial
from importlib.metadata import version
from pathlib import Path

from hw.bfs import Kernel as BfsKernel
from hw.config import AcceleratorConfig
from hw.intersection import Kernel as IntersectionKernel
from hw.kernel_control import Activity
from hw.verilog import KERNEL_NAMES, kernel_verilog, shell_verilog
from sim.executors.compiled.lanes import lanes_source
from sim.executors.compiled.tick import tick_function
from sim.executors.tools import Toolchain, cached_library, digest_files, processor, run_tool
from sim.memory import memory_header

__all__ = ["build_library"]

_NATIVE = Path(__file__).parent / "native"
_VERILATOR_OPTIONS = (
    "--cc",
    "-O3",
    "-Wno-fatal",
    "-Wno-lint",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
)
_COMPILER_OPTIONS = (
    "-std=c++20",
    "-O3",
    "-march=native",
    "-fPIC",
    "-fno-plt",
    "-fvisibility=hidden",
    "-DVL_TIME_CONTEXT",
)


_LANES: dict[str, tuple[type[BfsKernel] | type[IntersectionKernel], str]] = {
    "BfsLanes": (BfsKernel, "bfs_kernels"),
    "IntersectionLanes": (IntersectionKernel, "intersection_kernels"),
}
"""Classes of lanes: the kind of kernel, and how many."""


def build_library(config: AcceleratorConfig, *, lanes: bool, waves: bool) -> Path:
    """Return the shared library of a machine, built now if it is not in the cache.

    The environment may name other tools: ``VERILATOR``, ``CXX``.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    lanes : bool
        The kernels of a module as lanes of one object; else an object each.
    waves : bool
        With waveforms, which lanes cannot write.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    tools = Toolchain.find()
    return cached_library(
        "machine",
        parts=(
            astuple(config),
            memory_header(),
            lanes,
            waves,
            tools.compiler,
            tools.versions(),
            _VERILATOR_OPTIONS,
            _COMPILER_OPTIONS,
            version("amaranth"),
            processor(),
        ),
        sources=_SOURCES,
        build=lambda folder: _build(config, folder, lanes=lanes, waves=waves, tools=tools),
    )


def _sources() -> Iterator[Path]:
    """Yield all sources that a library is made of."""
    here = Path(__file__)
    yield from sorted(Path(sys.modules["hw"].__path__[0]).rglob("*.py"))
    yield from sorted(_NATIVE.iterdir())
    yield from sorted((here.parent / "lanes").glob("*.py"))
    executors = here.parent.parent
    yield from (here, here.with_name("tick.py"), executors / "tools.py")


# Taken when the hardware is imported too: a file that changes later is not what this process builds.
_SOURCES = digest_files(_sources())


def _build(config: AcceleratorConfig, folder: Path, *, lanes: bool, waves: bool, tools: Toolchain) -> Path:
    """Build in a folder of its own; return the library there."""
    makers: dict[str, Callable[[], str]] = {"shell": lambda: shell_verilog(config, instrument=True)}
    if not lanes:
        for kind, name in KERNEL_NAMES.items():
            makers[name] = partial(kernel_verilog, kind, config, instrument=True)
    (folder / "config.h").write_text(_header(config))
    (folder / "memory.h").write_text(memory_header())
    include = tools.include_folder
    trace = ["--trace-vcd", "--trace-structs"] if waves else []

    def verilate(name: str) -> Path:
        source = folder / f"{name}.v"
        source.write_text(makers[name]())
        run_tool(
            [
                *(*tools.verilator, *_VERILATOR_OPTIONS, *trace),
                *("--top-module", name, "--prefix", f"V{name}", "--Mdir", str(folder), str(source)),
            ],
            tools.environment,
        )
        unit = folder / f"all_{name}.cpp"
        parts = sorted(folder.glob(f"V{name}*.cpp"))
        code = "".join(part.read_text() for part in parts)
        includes = "".join(f'#include "{part.name}"\n' for part in parts)
        unit.write_text(includes + tick_function(f"V{name}", code, direct=not waves))
        return unit

    def write_lanes(name: str) -> None:
        kind, kernels = _LANES[name]
        text = lanes_source(kind(config, instrument=True), name=name, lanes=getattr(config, kernels))
        (folder / f"{name.removesuffix('Lanes').lower()}_lanes.h").write_text(text)

    flags = [*_COMPILER_OPTIONS, f"-DVM_TRACE={int(waves)}", f"-DVM_TRACE_VCD={int(waves)}", "-DVM_TRACE_FST=0"]
    flags += [f"-DCYSCC_LANES={int(lanes)}"]
    flags += ["-I", str(folder), "-I", str(_NATIVE), "-isystem", str(include), "-isystem", str(include / "vltstd")]

    def compile_unit(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        run_tool([*tools.compiler, *flags, "-c", str(source), "-o", str(target)], tools.environment)
        return target

    runtime = ["verilated.cpp", "verilated_threads.cpp", *(["verilated_vcd_c.cpp"] if waves else [])]
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1)) as pool:
        headers = pool.map(write_lanes, _LANES if lanes else ())
        units = list(pool.map(verilate, makers))
        list(headers)
        sources = [*units, *(_NATIVE / name for name in ("engine.cpp", "machine.cpp")), *(include / n for n in runtime)]
        objects = list(pool.map(compile_unit, sources))
    library = folder / "machine.so"
    run_tool([*tools.compiler, "-shared", "-pthread", *map(str, objects), "-o", str(library)], tools.environment)
    return library


def _header(config: AcceleratorConfig) -> str:
    """Return the sizes that the C++ shares with the hardware."""
    constants = {
        "kBfsKernels": config.bfs_kernels,
        "kIntersectionKernels": config.intersection_kernels,
        "kLinkCycles": config.link_cycles,
        "kActivities": len(Activity),
    }
    lines = ["#pragma once", f"#define CYSCC_ENGINES {config.engines}"]
    lines += [f"inline constexpr int {name} = {value};" for name, value in constants.items()]
    return "\n".join(lines) + "\n"
