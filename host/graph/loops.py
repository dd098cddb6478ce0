"""Loops over edges, vertices and text that every run needs, in C++: `native/loops.cpp` has them, with their arguments.

Importing numba takes longer than a whole run on a small graph. The library is built on first use.
"""

import hashlib
from ctypes import RTLD_GLOBAL, c_int64
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cyscc.sim.caching.building import cached, load_library
from cyscc.sim.caching.tools import Steps, Toolchain

_SOURCE = Path(__file__).parent / "native" / "loops.cpp"


@cache
def _path() -> Path:
    tools = Toolchain.find(verilator=False)

    def build(folder: Path) -> Path:
        made = tools.compile_object(_SOURCE, folder=folder, flags=[], level="-O3", steps=Steps(None))
        tools.link([made], folder / "loops.so")
        return folder / "loops.so"

    inputs = hashlib.sha256(_SOURCE.read_bytes()).digest()
    return cached("loops", tools, inputs=inputs, build=build, suffix=".so")


@cache
def share_functions() -> None:
    """Let all code of this process find the functions by name, as numba's does."""
    load_library(_path(), mode=RTLD_GLOBAL)


@cache
def _library() -> Any:
    return load_library(_path())


@cache
def _function(name: str) -> Any:
    function = getattr(_library(), f"cyscc_{name}")
    function.restype = c_int64
    return function


def loop(name: str, *arguments: Any) -> int:
    """Call a loop; return its result, which means nothing for one that has none.

    Parameters
    ----------
    name : str
        Its name.
    *arguments
        Whole numbers, and C-contiguous arrays of the types that it takes, which it may write.
    """
    words = []
    for each in arguments:
        if isinstance(each, np.ndarray):
            assert each.flags.c_contiguous, f"{name} takes contiguous arrays"
            words.append(c_int64(each.__array_interface__["data"][0]))
        else:
            words.append(c_int64(each))
    return int(_function(name)(*words))
