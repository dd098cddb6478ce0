"""The code that numba compiles for a memory, as an object file for another processor, and a header for it."""

import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from cyscc.sim.caching.compiler import without_python
from cyscc.sim.memory.compiling import OPTIONS
from cyscc.sim.memory.functions import FUNCTIONS, signature_of
from cyscc.sim.numba_internals import compiled_cfunc, text_of
from tests.sim.executors.replay.recording import BASE


def write_memory_code(profile: type[Any], folder: Path, *, triple: str, cpu: str) -> list[Path]:
    """Compile the functions of a memory for a processor; return the objects to link.

    Parameters
    ----------
    profile : type
        The memory's profile.
    folder : Path
        Where to put them, and ``memory_code.h``.
    triple, cpu : str
        The processor, as LLVM calls it.

    Notes
    -----
    numba optimises for the processor that it runs on; what comes of that is LLVM's language still, and is optimised
    and compiled for the other one again.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3, reloc="pic")
    options = {name: value for name, value in OPTIONS.items() if name != "nogil"}
    written: list[Path] = []
    for name, function in FUNCTIONS.items():
        # Not from the cache, which keeps machine code only.
        compiled = compiled_cfunc(*signature_of(function, profile), options)
        text = without_python(text_of(compiled._library))
        text = re.sub(r'^target (datalayout|triple) = ".*"$', "", text, flags=re.MULTILINE)
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = triple, str(target.target_data)
        module.get_function(compiled.native_name).name = f"memory_{name}"
        passes = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))
        passes.getModulePassManager().run(module, passes)
        written.append(folder / f"memory_{name}.o")
        written[-1].write_bytes(target.emit_object(module))
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
