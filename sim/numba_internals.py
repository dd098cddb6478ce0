"""The parts of numba used here that are not in its documented interface; no other module imports them.

They may change with any version of numba. Then `tests/sim/caching/test_code.py` and `tests/sim/memory` fail first:

- Cache (`NullCache`, `set_cache`, `serialized`, `restored`): a dispatcher asks the object in its attribute ``_cache``
  for code before it compiles. If the attribute or the methods of `NullCache` are renamed, follow numba's module
  ``core.caching``. If compiled code can no longer be pickled, let `serialized` return None: everything works, but is
  compiled in each process.
- Callers in C (`compiled_cfunc`): the class behind `numba.cfunc`; follow numba's module ``core.decorators``.
- Code that is only gathered (`gathering`, `modules_of`, `forget_gathered`): what a library does when it is complete,
  and with its modules; follow ``core.codegen``. Without it, functions of the memory can be compiled by `compiled_cfunc`
  alone, which takes twice the time.
- Code without numba (`text_of`, `target_of`, `native_name`, `words_returned`): LLVM's text of a compiled function, and
  how it takes arguments: pointers to its result and to an exception, then the parts of each argument; an array has its
  owner, the size, the bytes of an element, the address, shape and strides. If that changes, `Compiled` of
  `cyscc.sim.caching.code` must follow; until then its `_is_bare` can return False.
- Functions by name (`function_type`): numba asks a global for its type in the attribute ``_numba_type_``.
- Keys of the cache (`intrinsic_file`): an intrinsic keeps its function in ``_defn``. Any attribute with that function
  will do.
- Types (`AbstractTemplate`, `AttributeTemplate`, `infer_global`, `signature`): typing of subscripts and fields of
  records. The public ``type_callable`` and ``make_attribute_wrapper`` could replace them, with a class for each field.
- Elements (`element_pointer`): the address of an array's element, for atomic operations.
- Options from a file (`_config_fname`): its name in ``core.config``.
- Options (`NO_REFERENCE_COUNTS`): without it, code is slower but correct, so it can be empty.
"""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import types
from numba.core import cgutils, config
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.extending import _Intrinsic
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature

__all__ = [
    "NO_REFERENCE_COUNTS",
    "AbstractTemplate",
    "AttributeTemplate",
    "NullCache",
    "compiled_cfunc",
    "element_pointer",
    "forget_gathered",
    "function_type",
    "gathering",
    "infer_global",
    "intrinsic_file",
    "modules_of",
    "native_name",
    "restored",
    "serialized",
    "set_cache",
    "signature",
    "target_of",
    "text_of",
    "words_returned",
]

# numba takes options of its own from a file in the working folder, which may be a stranger's; forget them.
if os.path.exists(config._config_fname):
    config._config_fname = os.devnull
    config.reload_config()

NO_REFERENCE_COUNTS = {"_nrt": False}
"""Options of code that creates no arrays."""


def set_cache(compiler: Any, cache: NullCache) -> None:
    """Set the cache of a compiled function that has not been called yet."""
    compiler._cache = cache


def compiled_cfunc(function: Callable[..., Any], types: Any, options: dict[str, Any]) -> Any:
    """Return a function compiled for callers in C."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    compiled: Any = CFunc(function, normalize_signature(types), locals={}, options=options)
    compiled.compile()
    return compiled


class _Gathered(JITCodeLibrary):
    """A function's code as numba generates it: neither optimised, nor linked to what it calls, nor executable."""

    _linkable: Any = None

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Take no more code."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is none."""
        return 0

    def _get_module_for_linking(self) -> Any:
        """Return the code together with what it calls, as numba links it when something else calls the function."""
        if self._linkable is None:
            self._linkable = module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
            for library in dict.fromkeys(self._linking_libraries):
                module.link_in(library._get_module_for_linking(), preserve=True)
        return self._linkable


def forget_gathered(dispatchers: Iterable[Any]) -> None:
    """Let functions be compiled anew when they are called, if their code was only gathered."""
    for dispatcher in dispatchers:
        if any(isinstance(result.library, _Gathered) for result in dispatcher.overloads.values()):
            dispatcher._make_finalizer()()
            dispatcher._reset_overloads()


@contextmanager
def gathering() -> Iterator[None]:
    """Let numba generate code only, which cannot be executed until `modules_of` are compiled; see `forget_gathered`."""
    context = cpu_target.target_context
    codegen = context.codegen()

    def nothing(*arguments: Any, **options: Any) -> None:
        """Stand for what would be done for callers in Python."""

    with global_compiler_lock:
        codegen._library_class = _Gathered
        codegen.set_env = context.create_cpython_wrapper = context.create_cfunc_wrapper = nothing
        try:
            yield
        finally:
            # Those of the classes hold again.
            del codegen._library_class, codegen.set_env, context.create_cpython_wrapper, context.create_cfunc_wrapper


def modules_of(results: Sequence[Any]) -> list[Any]:
    """Return the modules of functions that were compiled while `gathering`, and of all that they call."""
    found: dict[Any, Any] = {}
    left = [result.library for result in results]
    while left:
        library = left.pop()
        if library not in found:
            found[library] = library._final_module
            left += library._linking_libraries
    return list(found.values())


def text_of(library: Any) -> str:
    """Return the code of a library that has just been compiled as LLVM's text."""
    return str(library.get_llvm_str())


def native_name(result: Any) -> str:
    """Return the name of a compiled function in its library: results and an exception are its first arguments."""
    return str(result.fndesc.llvm_func_name)


def words_returned(result: Any) -> int | None:
    """Return the number of 64-bit integers that a compiled function returns; None if it returns something else."""
    kind = result.signature.return_type
    if isinstance(kind, types.NoneType):
        return 0
    kinds = list(kind) if isinstance(kind, types.BaseTuple) else [kind]
    return len(kinds) if all(isinstance(each, types.Integer) and each.bitwidth == 64 for each in kinds) else None


def target_of(library: Any) -> tuple[str, str, str]:
    """Return the triple, processor and features that a library is compiled for, in LLVM's words."""
    triple, name, features = library.codegen.magic_tuple()
    return triple, name, features


def function_type(function: Any) -> Any:
    """Return the type of an intrinsic or another function of numba's."""
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(function)


def intrinsic_file(value: Any) -> Path | None:
    """Return the source file of an intrinsic; None for everything else."""
    return Path(value._defn.__code__.co_filename) if isinstance(value, _Intrinsic) else None


def serialized(result: Any) -> bytes | None:
    """Return compiled code as bytes; None if it contains addresses of this process, or loops compiled apart."""
    return None if result.lifted or result.library.has_dynamic_globals else bytes(dumps(result._reduce()))


def restored(context: Any, content: bytes) -> Any:
    """Return compiled code from its bytes, which must be trusted: they are a pickle."""
    return CompileResult._rebuild(context, *pickle.loads(content))


def element_pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of an array's element, in the code of an intrinsic."""
    structure = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, structure, [index], wraparound=False)
