"""The cache of built executors: shared headers, cache keys, and lookup or build of a library."""

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from enum import IntEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cyscc.hw.accelerator import bfs_passage
from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ADDRESS_WIDTH, TAG_BITS, LinkToken, Token
from cyscc.hw.shell import Shell
from cyscc.sim.caching import tools as tools_source
from cyscc.sim.caching.building import cached
from cyscc.sim.caching.headers import constant_name, constants, header
from cyscc.sim.caching.tools import OnStep, Steps, Toolchain
from cyscc.sim.executors.base import LINK_PLACES, CommandKind, RunState
from cyscc.sim.executors.samples import MOST_HELD, fifos, sample_dtype
from cyscc.sim.memory import memory_header


def machine_headers(config: AcceleratorConfig) -> dict[str, str]:
    """Return the generated headers of a machine by file name."""
    return {"config.h": _sizes(config), **fixed_headers()}


def fixed_headers() -> dict[str, str]:
    """Return the generated headers common to all configurations: enumerations and the memory."""
    numbers = {
        "link_places": LINK_PLACES,
        "done_bit": LinkToken["token"].offset + Token["done"].offset,
        "causes": len(Cause),
        "idle": Cause.IDLE.value,
        "address_bits": ADDRESS_WIDTH,
        "kernel_tag_bits": TAG_BITS,
        "most_held": MOST_HELD,
    }
    parts = [*constants(numbers), _enumeration(CommandKind), _enumeration(RunState)]
    return {"numbers.h": header(parts), "memory.h": memory_header()}


def write_headers(headers: Mapping[str, str], folder: Path) -> None:
    """Write headers into a folder."""
    for name, text in headers.items():
        (folder / name).write_text(text)


def _sizes(config: AcceleratorConfig) -> str:
    """Return the header of sizes, without FIFO depths, so that configurations differing only in depths share it."""
    numbers = {
        "engines": config.engines,
        "ports": config.ports,
        "bfs_kernels": config.bfs_kernels,
        "intersection_kernels": config.intersection_kernels,
        "ring_stages": config.ring_stages,
        "bfs_passage": bfs_passage(config),
        "link_latency": Shell.LINK_LATENCY,
        "link_cycles": config.link_cycles,
        "bfs_fifos": len(fifos(config)["bfs"]),
        "intersection_fifos": len(fifos(config)["intersection"]),
        "row_words": sample_dtype(config).itemsize // 8,
    }
    macros = {
        "ENGINES": config.engines,
        "SWITCH": int(config.link_queues > 0),
        "EXCHANGE": int(config.exchange_kernels > 0),
        "STATION": int(config.short_ring),
    }
    return header(constants(numbers), before=[f"#define CYSCC_{name} {value}" for name, value in macros.items()])


def _enumeration(kind: type[IntEnum]) -> str:
    members = ", ".join(f"{constant_name(member.name)} = {member.value}" for member in kind)
    return f"enum {kind.__name__} : int {{ {members} }};"


_TOOLS = Path(str(tools_source.__file__)).read_bytes()


def digest_sources() -> bytes:
    """Return a digest of the sources of the hardware and of the executors."""
    digest = hashlib.sha256()
    for place in (Path(sys.modules["cyscc.hw"].__path__[0]), Path(__file__).parent):
        for file in sorted(place.rglob("*.*")):
            if file.suffix in (".py", ".h", ".cpp"):
                digest.update(file.name.encode() + file.read_bytes())
    return digest.digest()


def cached_library(
    name: str,
    config: AcceleratorConfig,
    tools: Toolchain,
    *,
    parts: Sequence[Any],
    sources: bytes,
    build: Callable[[Path], Path],
    on_step: OnStep | None = None,
) -> Path:
    """Return the shared library of a machine, built now if it is not in the cache or damaged there.

    Parameters
    ----------
    name : str
        See `cached`.
    config : AcceleratorConfig
        Sizes of the machine.
    tools : Toolchain
        Tools to build it with.
    parts : sequence
        Further dependences, identified by their texts.
    sources : bytes
        Digest of its sources.
    build : callable
        See `cached`.
    on_step : callable, optional
        Progress callback, called when waiting for another process.

    Raises
    ------
    BuildError
        See `cached`.
    """

    def wait() -> None:
        if on_step is not None:
            on_step(0, 1, "waiting for another process, which builds the same")

    return cached(
        name,
        tools,
        inputs=repr([*parts, astuple(config), machine_headers(config), version("amaranth")]).encode() + sources,
        build=build,
        on_wait=wait,
        suffix=".so",
        about={"configuration": {"name": _name_of(config), **asdict(config)}, "parts": [repr(part) for part in parts]},
    )


def cached_runtime(tools: Toolchain) -> tuple[Path, list[str]]:
    """Return Verilator's runtime as an object file, and the compiler options of models.

    The object file is compiled now if it is not in the cache.

    Raises
    ------
    BuildError
        See `cached`.
    """
    sources, flags = tools.verilated_runtime()

    def build(folder: Path) -> Path:
        unit = folder / "runtime.cpp"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        return tools.compile_object(unit, folder=folder, flags=flags, level="-O1", steps=Steps(None))

    return cached("runtime", tools, inputs=_TOOLS, build=build), flags


def _name_of(config: AcceleratorConfig) -> str:
    return next((name for name, preset in PRESETS.items() if preset == config), "own")
