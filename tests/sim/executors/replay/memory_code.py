"""The code that numba compiles for a memory, as an object file for another processor, and a header for it."""

import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

from cyscc.sim.memory.compiling import OPTIONS
from cyscc.sim.memory.functions import FUNCTIONS
from cyscc.sim.memory.records import context_of
from tests.sim.executors.replay.recording import BASE

_OUTSIDE = re.compile(r"^declare [^@]*@([A-Za-z_]\w*)\(|^@(\w+) = external global", re.MULTILINE)


def write_memory_code(profile: type[Any], folder: Path, *, triple: str, cpu: str) -> list[Path]:
    """Compile the functions of a memory for a processor; return the sources and objects to link.

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
    and compiled for the other one again. What it mentions of Python is for errors that cannot be: whoever calls that
    ends the program.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3, reloc="pic")
    _, context = context_of(profile)  # type: ignore[arg-type]
    options = {name: value for name, value in OPTIONS.items() if name != "nogil"}
    written: list[Path] = []
    outside: set[str] = set()
    for name, function in FUNCTIONS.items():
        result = types.int64 if function.returns else types.void
        signature = result(context.address, *[types.int64] * len(function.arguments))
        # Not from the cache, which keeps machine code only.
        compiled: Any = CFunc(function.compiled.py_func, normalize_signature(signature), locals={}, options=options)  # type: ignore[attr-defined]
        compiled.compile()
        text = compiled._library.get_llvm_str()
        text = re.sub(r'^target (datalayout|triple) = ".*"$', "", text, flags=re.MULTILINE)
        outside |= {
            found for pair in _OUTSIDE.findall(text) for found in pair if found and not found.startswith("llvm")
        }
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = triple, str(target.target_data)
        module.get_function(compiled._wrapper_name).name = f"memory_{name}"
        passes = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))
        passes.getModulePassManager().run(module, passes)
        written.append(folder / f"memory_{name}.o")
        written[-1].write_bytes(target.emit_object(module))
    return [*written, _write_sources(folder, outside)]


def _write_sources(folder: Path, outside: set[str]) -> Path:
    """Write the header, and return the source of what ends the program when Python is called."""
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
    stubs = folder / "python.cpp"
    bodies = "".join(f'extern "C" void {name}() {{ std::abort(); }}\n' for name in sorted(outside))
    stubs.write_text("#include <cstdlib>\n" + bodies)
    return stubs
