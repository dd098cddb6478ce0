"""The cache of built executors: shared headers, cache keys, and lookup or build of a library."""

import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from enum import IntEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cyscc.hw.accelerator import bfs_passage
from cyscc.hw.causes import Cause
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.interfaces import ADDRESS_WIDTH, FILL_WIDTH, TAG_BITS
from cyscc.hw.shell import Shell
from cyscc.sim.caching.folder import provide_for_tools, temporary_cache, usable_cache
from cyscc.sim.caching.libraries import build_folder, evict, find, limit, publish_library, remove_interrupted_builds
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.base import LINK_PLACES, CommandKind, RunState
from cyscc.sim.executors.samples import MOST_HELD, fifos, sample_dtype
from cyscc.sim.executors.tools import OnStep, Steps, Toolchain
from cyscc.sim.files import alone
from cyscc.sim.memory import memory_header


def machine_headers(config: AcceleratorConfig) -> dict[str, str]:
    """Return the generated headers of a machine by file name."""
    return {"config.h": _sizes(config), **fixed_headers()}


def fixed_headers() -> dict[str, str]:
    """Return the generated headers common to all configurations: enumerations and the memory."""
    constants = {
        "link_places": LINK_PLACES,
        "causes": len(Cause),
        "idle": Cause.IDLE.value,
        "fill_bits": FILL_WIDTH,
        "address_bits": ADDRESS_WIDTH,
        "kernel_tag_bits": TAG_BITS,
        "most_held": MOST_HELD,
    }
    numbers = _header(constants, enumerations=[_enumeration(CommandKind), _enumeration(RunState)])
    return {"numbers.h": numbers, "memory.h": memory_header()}


def write_headers(headers: Mapping[str, str], folder: Path) -> None:
    """Write headers into a folder."""
    for name, text in headers.items():
        (folder / name).write_text(text)


def _sizes(config: AcceleratorConfig) -> str:
    """Return the header of sizes, without FIFO depths, so that configurations differing only in depths share it."""
    constants = {
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
    lines = [f"#define CYSCC_{name} {value}" for name, value in macros.items()]
    return _header(constants, macros=lines)


def _header(constants: Mapping[str, int], *, macros: Sequence[str] = (), enumerations: Sequence[str] = ()) -> str:
    lines = [
        "#pragma once",
        *macros,
        "namespace cyscc {",
        *(f"inline constexpr int {_constant(name)} = {value};" for name, value in constants.items()),
        *enumerations,
        "}  // namespace cyscc",
    ]
    return "\n".join(lines) + "\n"


def _enumeration(kind: type[IntEnum]) -> str:
    members = ", ".join(f"{_constant(member.name)} = {member.value}" for member in kind)
    return f"enum {kind.__name__} : int {{ {members} }};"


def _constant(name: str) -> str:
    return "k" + "".join(map(str.capitalize, name.lower().split("_")))


_SHARED = {"configuration": {"name": "any"}, "parts": []}
"""Description of files shared by several machines."""

_LITTLE = 1 << 20
"""A disk with less free space in bytes counts as full: a tool that failed may have removed what it wrote."""

_TOOLS = Path(__file__).with_name("tools.py").read_bytes()


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


def cached(
    name: str,
    tools: Toolchain,
    *,
    inputs: bytes,
    build: Callable[[Path], Path],
    to: Path | None = None,
    on_wait: Callable[[], None] = lambda: None,
    suffix: str = ".o",
    about: Mapping[str, Any] = _SHARED,
) -> Path:
    """Return a shared object file or a library from the cache, built now if it is not there.

    It stays in the cache at least until this process ends. Without a compiler, a file of the same inputs built by
    another compiler is used.

    Parameters
    ----------
    name : str
        Prefix of its file name: lower-case letters, with at most one hyphen inside.
    tools : Toolchain
        Tools to build it with.
    inputs : bytes
        Cache key: everything else that it depends on, including sources.
    build : callable
        Builds it in a folder, which is removed afterwards, and returns its path there.
    to : Path, optional
        Where to copy it, instead of locking it in the cache.
    on_wait : callable
        Called before waiting for another process that builds the same file.
    suffix : str
        Suffix of its file name.
    about : mapping
        Entries of its description.

    Raises
    ------
    BuildError
        There is no writable cache, not even a temporary one, or `build` fails.

    Notes
    -----
    If several processes request the same library, one builds it, and the others wait.
    """
    named = f"{name}-{_digest(repr(tools.settings()).encode() + inputs, 16)}"
    cache = usable_cache()
    identity = tools.versions
    if identity is None:
        for library in sorted(cache.glob(f"{named}-*{suffix}")):
            if find(library, to=to):
                return library
        raise BuildError(tools.missing)
    file = f"{named}-{_digest(repr(identity).encode(), 8)}{suffix}"
    remove_interrupted_builds(cache)
    if find(cache / file, to=to):
        return cache / file

    def build_in(cache: Path) -> Path:
        library = cache / file
        with alone(build_folder(library), on_wait=on_wait) as folder:
            # Another process may have built it meanwhile.
            if not find(library, to=to):
                provide_for_tools()
                publish_library(_built(build, folder), library, {**about, "tools": identity, "version": _version()})
                find(library, to=to)
        evict(cache, limit())
        return library

    try:
        try:
            return build_in(cache)
        except OSError as error:
            cache = temporary_cache(cache, error.strerror or str(error))
            return build_in(cache)
    except OSError as error:
        raise BuildError(f"{cache}: {error.strerror}: the executor cannot be built there") from None


def _built(build: Callable[[Path], Path], folder: Path) -> Path:
    """Build in a folder; raise an `OSError` if a tool has failed because the disk is full."""
    try:
        return build(folder)
    except BuildError:
        if shutil.disk_usage(folder).free < _LITTLE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise


def _digest(content: bytes, digits: int) -> str:
    return hashlib.sha256(content).hexdigest()[:digits]


def _name_of(config: AcceleratorConfig) -> str:
    return next((name for name, preset in PRESETS.items() if preset == config), "own")


def _version() -> str:
    try:
        return version("cyscc")
    except PackageNotFoundError:
        return "(not installed)"
