"""Tables of structures in the memory of native code, as arrays."""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt


def table_at(address: int | None, rows: int, dtype: "np.dtype[Any]") -> npt.NDArray[Any]:
    """Return a table of native structures, which stays where it is."""
    raw: Any = (ctypes.c_char * (rows * dtype.itemsize)).from_address(address or 0)
    return np.frombuffer(raw, dtype)
