"""Columns of a record's tables as arrays, and their sums."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Integers", "codes", "numbers", "sums"]

Integers = npt.NDArray[np.int64]


def numbers(table: "pa.Table", name: str) -> Integers:
    """Return a column of integers."""
    return table[name].to_numpy().astype(np.int64, copy=False)


def codes(table: "pa.Table", name: str, names: Sequence[str]) -> Integers:
    """Return a column of categories as their places in a list.

    Raises
    ------
    ValueError
        A category is not in the list.
    """
    column: Any = table[name]
    if not hasattr(column.type, "value_type"):
        column = column.dictionary_encode()
    column = column.unify_dictionaries().combine_chunks()
    if not len(column):
        return np.zeros(0, np.int64)
    chunk = column.chunk(0) if hasattr(column, "chunk") else column
    places = np.array([names.index(each) for each in chunk.dictionary.to_pylist()], np.int64)
    return places[chunk.indices.to_numpy(zero_copy_only=False)]


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
