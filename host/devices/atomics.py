"""Atomic operations of steps: what each means. A device puts its own in their place."""

from numpy.typing import NDArray

__all__ = [
    "ATOMICS",
    "atomic_add",
    "atomic_and",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_swap",
]


def atomic_add(array: NDArray, index: int, value: int) -> int:
    """Add to an element of an array of integers; return what it was."""
    old = array[index]
    array[index] = old + value
    return old


def atomic_max(array: NDArray, index: int, value: int) -> int:
    """Put a value in the place of a smaller element; return what it was."""
    old = array[index]
    array[index] = max(old, value)
    return old


def atomic_min(array: NDArray, index: int, value: int) -> int:
    """Put a value in the place of a larger element; return what it was."""
    old = array[index]
    array[index] = min(old, value)
    return old


def atomic_and(array: NDArray, index: int, value: int) -> int:
    """Keep the bits of an element that a value has; return what it was."""
    old = array[index]
    array[index] = old & value
    return old


def atomic_or(array: NDArray, index: int, value: int) -> int:
    """Set the bits of an element that a value has; return what it was."""
    old = array[index]
    array[index] = old | value
    return old


def atomic_exchange(array: NDArray, index: int, value: int) -> int:
    """Put a value in the place of an element; return what it was."""
    old = array[index]
    array[index] = value
    return old


def atomic_swap(array: NDArray, index: int, expected: int, value: int) -> int:
    """Put a value in the place of an element that is as expected; return what it was."""
    old = array[index]
    if old == expected:
        array[index] = value
    return old


ATOMICS = (atomic_add, atomic_max, atomic_min, atomic_and, atomic_or, atomic_exchange, atomic_swap)
"""All of them."""
