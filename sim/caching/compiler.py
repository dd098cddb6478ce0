"""Compilation by numba, imported only when something is compiled."""

import os
import re
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import WeakSet

from cyscc.sim.caching.code import KeptCode
from cyscc.sim.errors import BuildError

# The functions use intrinsics, which exist in compiled code only.
os.environ["NUMBA_DISABLE_JIT"] = "0"
try:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Environment variable", RuntimeWarning)
        import numba
    # Refused by numba where a number of threads is wrong.
    from numba import config
except (ValueError, RuntimeWarning) as error:
    raise BuildError(f"numba, by its environment variables: {str(error).splitlines()[0]}") from None
if config.DISABLE_JIT:
    raise BuildError("numba was imported with NUMBA_DISABLE_JIT: functions that must be compiled cannot be")

import llvmlite.binding as llvm

from cyscc.sim.numba_internals import (
    NullCache,
    compiled_cfunc,
    forget_gathered,
    function_type,
    gathering,
    modules_of,
    native_name,
    restored,
    serialized,
    set_cache,
    target_of,
    text_of,
    words_returned,
)

_wanting = RLock()
"""Held while a cache is told what is wanted, since several threads may call a function for the first time."""

_dispatchers: WeakSet[Any] = WeakSet()

_OF_PYTHON = r"(?:_?Py|NRT_|numba_)\w*"


def make_dispatcher(function: Callable[..., Any], code: KeptCode | None, options: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a function, which takes its code from a cache."""
    dispatcher = numba.njit(**options)(function)  # noqa: TID251
    _dispatchers.add(dispatcher)
    if code is not None:
        set_cache(dispatcher, _CodeCache(code))
    return dispatcher


def type_of_intrinsic(function: Callable[..., Any]) -> Any:
    """Return numba's type of a function that generates code."""
    return function_type(numba.extending.intrinsic(function))


class _CodeCache(NullCache):
    """Cache of numba's own form of a function's code."""

    def __init__(self, code: KeptCode) -> None:
        self._code = code
        self.wanted: Any = None
        self.bare: bytes | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for a signature, or None."""
        target_context.refresh()
        variant = self._variant(sig)
        content = self._code.read(variant)
        if content is None:
            return None
        try:
            return restored(target_context, content)
        except MemoryError:
            raise
        except Exception as error:
            # A file written by a build that differs in ways no version number shows must not end this program.
            self._code.discard(variant, f"it is damaged ({type(error).__name__})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache the code for a signature, unless it is wanted as a shared object and can be one."""
        if self.wanted == sig:
            self.bare = _bare(data)
            if self.bare is not None:
                return
        content = serialized(data)
        if content is not None:
            self._code.write(self._variant(sig), content)

    @staticmethod
    def _variant(sig: Any) -> object:
        return sig, config.OPT, config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT


def bare_code(dispatcher: Any, arguments: tuple[Any, ...]) -> bytes | None:
    """Compile a function for the types of some arguments.

    Returns
    -------
    bytes or None
        The number of words that it returns, a line end, and its code as a shared object; None if the code needs numba,
        or cannot be linked here.
    """
    cache = dispatcher._cache
    with _wanting:
        cache.wanted, cache.bare = tuple(numba.typeof(argument) for argument in arguments), None
        try:
            dispatcher.compile(cache.wanted)
        finally:
            cache.wanted = None
        content: bytes | None = cache.bare
    return content


def _bare(result: Any) -> bytes | None:
    results = words_returned(result)
    if results is None:
        return None
    module = llvm.parse_assembly(text_of(result.library))
    module.get_function(native_name(result)).name = "entry"
    _hide_all_but(["entry"], module)
    code = _linked(module, target_of(result.library))
    return None if code is None else b"%d\n" % results + code


def compile_functions(
    functions: Mapping[str, tuple[Callable[..., Any], Any]], options: dict[str, Any], *, shared: bool
) -> tuple[bytes | None, dict[str, int]]:
    """Compile functions for callers in C.

    They and all that they call must be functions of integers, or records, that raise nothing.

    Parameters
    ----------
    functions : mapping
        Functions and their numba signatures by name.
    options : dict
        Options of numba.
    shared : bool
        Whether they are wanted as a shared object.

    Returns
    -------
    content : bytes or None
        A shared object; None if it is not wanted, or cannot be linked here.
    addresses : dict of str to int
        Their addresses in this process, if there is no shared object.
    """
    content = _linked(*module_of(functions, options)) if shared else None
    if content is not None:
        return content, {}
    compiled = {name: compiled_cfunc(*function, options) for name, function in functions.items()}
    return None, {name: int(each.address) for name, each in compiled.items()}


def module_of(
    functions: Mapping[str, tuple[Callable[..., Any], Any]], options: dict[str, Any]
) -> tuple[Any, tuple[str, str, str]]:
    """Return a module of LLVM with functions for callers in C, to be optimised as a whole.

    numba would optimise each of the functions that they call by itself first, and make it executable, which takes most
    of the time of a compilation.

    Parameters
    ----------
    functions, options
        As of `compile_functions`.

    Returns
    -------
    module : llvmlite.binding.ModuleRef
        The functions by their names here, and what they call.
    target : tuple of str
        Triple, processor and features, in LLVM's words.
    """
    results = {}
    with gathering():
        for name, (function, kind) in functions.items():
            dispatcher = numba.njit(**options)(function)  # noqa: TID251
            dispatcher.compile(kind.args)
            results[name] = dispatcher.overloads[kind.args]
        # Some of what they call is called from Python, too.
        forget_gathered(_dispatchers)
    module = llvm.parse_assembly("\n".join(_entry(name, result) for name, result in results.items()))
    modules = modules_of(list(results.values()))
    module.triple, module.data_layout = modules[0].triple, modules[0].data_layout
    for other in modules:
        module.link_in(other, preserve=True)
    _hide_all_but(results, module)
    return module, target_of(next(iter(results.values())).library)


def _entry(name: str, result: Any) -> str:
    """Return LLVM's text of a function for callers in C that calls one compiled by numba."""
    words = words_returned(result)
    assert words is not None
    assert words <= 1
    numbers = [f"i64 %{index}" for index in range(len(result.signature.args))]
    kinds = ", ".join(["ptr", "ptr", *["i64"] * len(numbers)])
    returned = "  %word = load i64, ptr %result\n  ret i64 %word" if words else "  ret void"
    inner = native_name(result)
    quoted = f'"{inner}"'
    return f"""declare i32 @{quoted}({kinds})
define {"i64" if words else "void"} @{name}({", ".join(numbers)}) {{
entry:
  %result = alloca i64
  %raised = alloca ptr
  %status = call i32 @{quoted}({", ".join(["ptr %result", "ptr %raised", *numbers])})
{returned}
}}
"""


def _hide_all_but(entries: Container[str], module: Any) -> None:
    """Let nothing but some functions of a module be seen from outside, so that the rest is inlined, or left out."""
    for function in module.functions:
        if not function.is_declaration and function.name not in entries:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"


def _linked(module: Any, target: tuple[str, str, str]) -> bytes | None:
    """Return a module as a shared object; None if it needs Python, or there is no linker.

    Parameters
    ----------
    module : llvmlite.binding.ModuleRef
        The module, which is changed.
    target : tuple of str
        Triple, processor and features.
    """
    linker = shutil.which("ld")
    if linker is None:
        return None
    _, name, features = target
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="default"
    )
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    # The second run finds what the first one's inlining has left: the memory's code is 1 to 2 % faster.
    for _ in range(2):
        passes.getModulePassManager().run(module, passes)
    if any(not _is_plain(each.name) for each in (*module.functions, *module.global_variables) if each.is_declaration):
        return None
    try:
        with tempfile.TemporaryDirectory() as folder:
            source, shared = Path(folder, "code.o"), Path(folder, "code.so")
            source.write_bytes(machine.emit_object(module))
            command = [linker, "-shared", "-s", "-o", str(shared), str(source)]
            result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            return shared.read_bytes() if result.returncode == 0 else None
    except OSError:
        return None


def _is_plain(name: str) -> bool:
    return re.fullmatch(_OF_PYTHON, name) is None
