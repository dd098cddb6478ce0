"""The parts of numba used here that are not in its documented interface; no other module imports them.

They may change with any version of numba. Then `tests/sim/caching/test_code.py` and `tests/sim/memory` fail first:

- Cache (`NullCache`, `set_cache`, `serialized`, `restored`): a dispatcher asks the object in its attribute ``_cache``
  for code before it compiles. If the attribute or the methods of `NullCache` are renamed, follow numba's module
  ``core.caching``. If compiled code can no longer be pickled, let `serialized` return None: everything works, but is
  compiled in each process.
- Callers in C (`compile_cfunc`): `numba.cfunc` compiles immediately, before a cache can be set. If its class changes,
  follow numba's module ``core.decorators``.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import cgutils, config
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.extending import _Intrinsic
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature

__all__ = [
    "NO_REFERENCE_COUNTS",
    "AbstractTemplate",
    "AttributeTemplate",
    "NullCache",
    "compile_cfunc",
    "element_pointer",
    "infer_global",
    "intrinsic_file",
    "restored",
    "serialized",
    "set_cache",
    "signature",
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


def compile_cfunc(function: Callable[..., Any], types: Any, options: dict[str, Any], cache: NullCache) -> int:
    """Compile a function for callers in C, or take it from a cache; return its address."""
    compiled: Any = CFunc(function, normalize_signature(types), locals={}, options=options)
    set_cache(compiled, cache)
    compiled.compile()
    return int(compiled.address)


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
