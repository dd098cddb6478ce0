"""Steps: plain functions of a thread's index, the atomic operations they use, and their translation for a device.

A step is written against the atomic operations below, which say what each means, and functions marked by
`device_function`. A device compiles a copy of it, in which its own stand in their places.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

from numpy.typing import NDArray

__all__ = [
    "ATOMICS",
    "BlockStep",
    "Step",
    "atomic_add",
    "atomic_and",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_swap",
    "block_step",
    "device_function",
    "step",
    "translated",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_marked: set[Any] = set()
"""Functions that steps may call."""


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
"""All atomic operations."""


@dataclass(frozen=True)
class Step:
    """A step of independent threads.

    Parameters
    ----------
    function : callable
        Takes the thread's index, then the arguments of a launch. Threads may run in any order and side by side.
    """

    function: Any


@dataclass(frozen=True)
class BlockStep:
    """A step of blocks of threads, which share memory and wait for each other between phases.

    Parameters
    ----------
    function : callable
        Takes the block's index, the thread's index within it, the number of threads of a block, the phase, and the
        shared memory; then the arguments of a launch. Between two phases of a block is a barrier: a thread keeps
        nothing from one to the next but what is in shared or global memory.
    words : int
        Shared memory of a block, in 32-bit words a thread. What is in it at first is not defined.
    """

    function: Any
    words: int


def device_function(function: _Function) -> _Function:
    """Mark a function that steps call: it is compiled with them."""
    _marked.add(function)
    return function


def step(function: Callable[..., None]) -> Step:
    """Make a step of a function (`Step`)."""
    return Step(function)


def block_step(*, words: int) -> Callable[[Callable[..., None]], BlockStep]:
    """Return a decorator that makes a step of blocks of a function (`BlockStep`)."""
    return lambda function: BlockStep(function, words)


def translated(function: Any, atomics: Mapping[Any, Any], compiled: Callable[[Any], Any]) -> Any:
    """Return a copy of a function for a device.

    Parameters
    ----------
    function : function
        Of a step, or one that is marked.
    atomics : mapping
        The device's own, for each of `ATOMICS`.
    compiled : callable
        Takes a function that is marked and returns what stands in its place.
    """
    names = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if not isinstance(value, FunctionType):
            continue
        if value in atomics:
            names[name] = atomics[value]
        elif value in _marked:
            names[name] = compiled(value)
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__)
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    return copy
