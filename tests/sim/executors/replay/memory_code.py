"""A memory's code as an object file for another processor, and a header for it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.memory.layout import layout_header, rules_header
from cyscc.sim.memory.library import FUNCTIONS, NATIVE
from tests.sim.executors.replay.recording import BASE


def write_memory_code(profile: type[Any], config: AcceleratorConfig, folder: Path, *, compiler: Sequence[str]) -> Path:
    """Compile the functions of a memory by a compiler; return the object to link.

    Parameters
    ----------
    profile : type
        The memory's profile.
    config : AcceleratorConfig
        Sizes of the machine.
    folder : Path
        Where to put it, and ``memory_code.h``.
    compiler : sequence of str
        The command of the compiler.
    """
    shape = {"engines": config.engines, "ports": config.ports}
    (folder / "layout.h").write_text(layout_header(profile, **shape))
    (folder / "rules.h").write_text(rules_header(profile))
    written = folder / "memory.o"
    options = ["-std=c++20", "-O3", "-fPIC", "-I", str(folder), "-I", str(NATIVE)]
    subprocess.run([*compiler, *options, "-c", str(NATIVE / "memory.cpp"), "-o", str(written)], check=True)
    _write_header(folder)
    return written


def _write_header(folder: Path) -> None:
    declared, members = [], []
    for name, function in FUNCTIONS.items():
        numbers = "".join(f", int64_t {argument}" for argument in function.arguments)
        returned = "int64_t" if function.returns else "void"
        declared.append(f"{returned} cyscc_memory_{name}(void* context{numbers});")
        members.append(f"    functions.{name} = cyscc_memory_{name};")
    lines = [
        "#pragma once",
        '#include "memory.h"',
        *('extern "C" {', *declared, "}"),
        f"inline constexpr uint64_t kBase = {BASE};",
        "inline cyscc::MemoryModel memory_functions() {",
        "    cyscc::MemoryModel functions{};",
        *members,
        "    return functions;",
        "}",
    ]
    (folder / "memory_code.h").write_text("\n".join(lines) + "\n")
