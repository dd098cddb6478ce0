"""Atomic operations of steps on arrays of integers: what they mean. A device replaces the module by its own."""

from numpy.typing import NDArray


def exchange(array: NDArray, index: int, value: int) -> int:
    """Set an element of an array to a value; return the old value."""
    old = array[index]
    array[index] = value
    return old


def add(array: NDArray, index: int, value: int) -> int:
    """Add to an element; return the old value."""
    return exchange(array, index, array[index] + value)


def maximum(array: NDArray, index: int, value: int) -> int:
    """Set an element to the maximum of it and a value; return the old value."""
    return exchange(array, index, max(array[index], value))


def minimum(array: NDArray, index: int, value: int) -> int:
    """Set an element to the minimum of it and a value; return the old value."""
    return exchange(array, index, min(array[index], value))


def and_(array: NDArray, index: int, value: int) -> int:
    """Set an element to the bitwise AND of it and a value; return the old value."""
    return exchange(array, index, array[index] & value)


def or_(array: NDArray, index: int, value: int) -> int:
    """Set an element to the bitwise OR of it and a value; return the old value."""
    return exchange(array, index, array[index] | value)


def swap(array: NDArray, index: int, expected: int, value: int) -> int:
    """Set an element to a value if it equals `expected` (compare-and-swap); return the old value."""
    return exchange(array, index, value if array[index] == expected else array[index])
