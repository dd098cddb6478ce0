"""The code that numba compiles for a memory, as an object file for another processor, and a header for it."""

import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from cyscc.sim.memory.compiling import OPTIONS
from cyscc.sim.memory.functions import FUNCTIONS, signature_of

from cyscc.sim.caching.compiler import module_of
from tests.sim.executors.replay.recording import BASE


def write_memory_code(profile: type[Any], folder: Path, *, triple: str, cpu: str) -> Path:
    """Compile the functions of a memory for a processor; return the object to link.

    Parameters
    ----------
    profile : type
        The memory's profile.
    folder : Path
        Where to put it, and ``memory_code.h``.
    triple, cpu : str
        The processor, as LLVM calls it.

    Notes
    -----
    numba generates code for the processor that it runs on, in LLVM's language, which is optimised and compiled for the
    other one.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3, reloc="pic")
    functions = {f"memory_{name}": signature_of(function, profile) for name, function in FUNCTIONS.items()}
    module, _ = module_of(functions, {name: value for name, value in OPTIONS.items() if name != "nogil"})
    module = llvm.parse_assembly(re.sub(r'^target (datalayout|triple) = ".*"$', "", str(module), flags=re.MULTILINE))
    module.triple, module.data_layout = triple, str(target.target_data)
    passes = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    written = folder / "memory.o"
    written.write_bytes(target.emit_object(module))
    _write_header(folder)
    return written


def _write_header(folder: Path) -> None:
    declared, members = [], []
    for name, function in FUNCTIONS.items():
        numbers = "".join(f", int64_t {argument}" for argument in function.arguments)
        declared.append(f"{'int64_t' if function.returns else 'void'} memory_{name}(void* context{numbers});")
        members.append(f"    functions.{name} = memory_{name};")
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
