"""Compilation by numba, imported only when something is compiled."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Any

import llvmlite.binding as llvm
import numba
from numba import config

from cyscc.sim.caching.code import KeptCode
from cyscc.sim.numba_internals import (
    NullCache,
    compiled_cfunc,
    function_type,
    native_name,
    restored,
    serialized,
    set_cache,
    target_of,
    text_of,
    words_returned,
)

__all__ = ["bare_code", "compile_functions", "make_dispatcher", "type_of_intrinsic", "without_python"]

_wanting = RLock()
"""Held while a cache is told what is wanted, since several threads may call a function for the first time."""

_OF_PYTHON = r"(?:_?Py|NRT_|numba_)\w*"
_CALLED = re.compile(rf"^declare (.*@{_OF_PYTHON}\(.*\).*)$", re.MULTILINE)
_READ = re.compile(rf"^(@{_OF_PYTHON} = )external (?:local_unnamed_addr )?global \S+(.*)$", re.MULTILINE)


def make_dispatcher(function: Callable[..., Any], code: KeptCode | None, options: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a function, which takes its code from a cache."""
    dispatcher = numba.njit(**options)(function)  # noqa: TID251
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
    code = _linked({"entry": native_name(result)}, [text_of(result.library)], target_of(result.library))
    return None if code is None else b"%d\n" % results + code


def compile_functions(
    functions: Mapping[str, tuple[Callable[..., Any], Any]], options: dict[str, Any], *, shared: bool
) -> tuple[bytes | None, dict[str, int]]:
    """Compile functions for callers in C.

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
        Their addresses in this process.
    """
    compiled = {name: compiled_cfunc(*function, options) for name, function in functions.items()}
    content = None
    if shared:
        entries = {name: each.native_name for name, each in compiled.items()}
        libraries = [each._library for each in compiled.values()]
        content = _linked(entries, [without_python(text_of(each)) for each in libraries], target_of(libraries[0]))
    return content, {name: int(each.address) for name, each in compiled.items()}


def without_python(text: str) -> str:
    """Return LLVM's text of compiled code in which all of Python that it mentions ends the program.

    Functions for callers in C mention it for errors that their options rule out.
    """
    text = _CALLED.sub(r"define internal \1 {\n  call void @llvm.trap()\n  unreachable\n}", text)
    text = _READ.sub(r"\1internal global i64 0\2", text)
    return text if "declare void @llvm.trap()" in text else f"{text}\ndeclare void @llvm.trap()\n"


def _linked(entries: Mapping[str, str], texts: Sequence[str], target: tuple[str, str, str]) -> bytes | None:
    """Return a shared object with some functions of modules; None if they need Python, or there is no linker.

    Parameters
    ----------
    entries : mapping of str to str
        Names in the modules by the names wanted.
    texts : sequence of str
        The modules, as LLVM's text.
    target : tuple of str
        Triple, processor and features.
    """
    linker = shutil.which("ld")
    if linker is None:
        return None
    module, *others = map(llvm.parse_assembly, texts)
    for other in others:
        module.link_in(other)
    wanted = {inner: name for name, inner in entries.items()}
    for function in module.functions:
        if function.name in wanted:
            function.name = wanted[function.name]
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    _, name, features = target
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=name, features=features, opt=3, reloc="pic", codemodel="default"
    )
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
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
