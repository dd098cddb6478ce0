"""Structures of native code, laid out as its headers declare them, and tables of such in its memory."""

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def structure(header: Path, name: str) -> "np.dtype[Any]":
    """Return the layout of a structure of numbers and of pointers, which are numbers here.

    Parameters
    ----------
    header : Path
        The header that declares it.
    name : str
        Its name.
    """
    text = re.sub(r"//.*", "", header.read_text(encoding="utf-8"))
    body, _, _ = text.split(f"struct {name} {{")[1].partition("};")
    fields: list[tuple[str, str]] = []
    for declaration in body.split(";")[:-1]:
        if "*" in declaration:
            # The name is the last word, also in the parentheses of a pointer to a function.
            fields.append((re.findall(r"\w+", declaration.partition(")")[0])[-1], "uint64"))
        else:
            kind, names = declaration.split(None, 1)
            fields += [(field.split()[0], kind.removesuffix("_t")) for field in names.split(",")]
    return np.dtype(fields, align=True)


def filled(layout: "np.dtype[Any]", **values: int) -> npt.NDArray[Any]:
    """Return a structure with values in some fields, and zeros elsewhere."""
    made = np.zeros(1, layout)
    for name, value in values.items():
        made[name] = value
    return made


def table_at(address: int | None, rows: int, dtype: "np.dtype[Any]") -> npt.NDArray[Any]:
    """Return a table of native structures, which stays where it is."""
    raw: Any = (ctypes.c_char * (rows * dtype.itemsize)).from_address(address or 0)
    return np.frombuffer(raw, dtype)
