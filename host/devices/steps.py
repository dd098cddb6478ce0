"""Steps: plain functions of a thread's index, and their translation for a device.

A step is written against the atomic operations of `host.devices.atomics` and functions marked by `device_function`. A
device compiles a copy of it, in which its own stand in their places.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["BlockStep", "Step", "block_step", "device_function", "step", "translated"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_marked: set[Any] = set()
"""Functions that steps may call."""


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
        The device's own, for each of `host.devices.atomics.ATOMICS`.
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
