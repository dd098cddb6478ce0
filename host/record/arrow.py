"""Conversion of numbers and texts to and from Arrow columns through their buffers, and sums over columns.

Arrow's own `pyarrow.array` and `to_numpy` import pandas, which may take longer than the recorded run.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Integers = npt.NDArray[np.int64]


def array_of(values: npt.NDArray[Any], kind: "pa.DataType") -> "pa.Array":
    """Return numbers as an Arrow column of the given type."""
    import pyarrow as pa

    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


def texts_of(values: Sequence[str]) -> "pa.Array":
    """Return texts as an Arrow column."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def numbers_of(column: "pa.Array") -> npt.NDArray[Any]:
    """Return a column of numbers without missing values as a read-only array."""
    values = np.frombuffer(column.buffers()[1], column.type.to_pandas_dtype())
    return values[column.offset : column.offset + len(column)]


def numbers(column: Any) -> Integers:
    """Return a column of integers, from Arrow or a data frame, as an array."""
    values: Integers = column.to_numpy().astype(np.int64, copy=False)
    return values


def codes(column: Any) -> Integers:
    """Return the category codes of a data frame's column."""
    return numbers(column.cat.codes)


def sums(values: Integers, shape: Sequence[int], *keys: Integers) -> Integers:
    """Return sums of values, grouped by keys.

    Parameters
    ----------
    values : ndarray of int64
        The values; sums are exact below 2**53.
    shape : sequence of int
        Number of values that each key can have.
    *keys : ndarray of int64
        Indices of the sum to which each value belongs; a negative one leaves the value out.

    Returns
    -------
    ndarray of int64, shape `shape`
        The sums.
    """
    place = np.zeros(values.size, np.int64)
    inside = np.ones(values.size, bool)
    for key, size in zip(keys, shape, strict=True):
        inside &= key >= 0
        place = place * size + key
    count = int(np.prod(shape))
    found = np.bincount(place[inside], weights=values[inside], minlength=count)
    return np.rint(found).astype(np.int64).reshape(shape)
