"""Numbers and texts as columns of Arrow and back, by their buffers; sums over columns.

`pyarrow.array` and `to_numpy` import pandas, which may take longer than the run that is recorded.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Integers", "array_of", "codes", "numbers", "numbers_of", "sums", "texts_of"]

Integers = npt.NDArray[np.int64]


def array_of(values: npt.NDArray[Any], kind: "pa.DataType") -> "pa.Array":
    """Return numbers as a column of a kind."""
    import pyarrow as pa

    values = np.ascontiguousarray(values, kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(values)])


def texts_of(values: Sequence[str]) -> "pa.Array":
    """Return a column of texts."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def numbers_of(column: "pa.Array") -> npt.NDArray[Any]:
    """Return a column of numbers, none of which is missing, as an array; not to be written to."""
    values = np.frombuffer(column.buffers()[1], column.type.to_pandas_dtype())
    return values[column.offset : column.offset + len(column)]


def numbers(column: Any) -> Integers:
    """Return a column of integers, of Arrow or of a data frame."""
    values: Integers = column.to_numpy().astype(np.int64, copy=False)
    return values


def codes(column: Any) -> Integers:
    """Return a column of categories of a data frame as their places among all."""
    return numbers(column.cat.codes)


def sums(values: Integers, shape: Sequence[int], *keys: Integers) -> Integers:
    """Return the sums of values by keys.

    Parameters
    ----------
    values : ndarray of int64
        What is summed; exact below 2**53.
    shape : sequence of int
        Values of each key.
    *keys : ndarray of int64
        Which sum each value belongs to; a negative one leaves it out.

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
