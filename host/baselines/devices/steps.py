"""Steps (functions of a thread's index), their atomic operations, and devices that launch them.

A step uses the module `atomic`, and functions marked by `device_function`. A device compiles a copy of the step, in
which its own implementations replace them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cyscc.host.baselines.devices import atomic

_Function = TypeVar("_Function", bound=Callable[..., Any])

_marked: set[Any] = set()
"""Functions that steps may call."""


ATOMICS = {
    name: list(signature(function).parameters)[2:]
    for name, function in vars(atomic).items()
    if isinstance(function, FunctionType)
}
"""The atomic operations, and the values that each of them takes besides an array and an index."""


@dataclass(frozen=True)
class Step:
    """A step of independent threads.

    Parameters
    ----------
    function : callable
        Takes the thread's index, then the arguments of a launch. Threads may run in any order and concurrently.
    """

    function: Any


@dataclass(frozen=True)
class BlockStep:
    """A step of blocks of threads, which share memory and synchronize between phases.

    Parameters
    ----------
    function : callable
        Takes the block's index, the thread's index within it, the number of threads of a block, the phase, and the
        shared memory; then the arguments of a launch. There is a barrier between the phases of a block; a thread passes
        data from phase to phase only through shared or global memory.
    words : int
        Shared memory of a block, in 32-bit words per thread; initially undefined.
    """

    function: Any
    words: int


def device_function(function: _Function) -> _Function:
    """Mark a function that steps may call, to compile it with them."""
    _marked.add(function)
    return function


def step(function: Callable[..., None]) -> Step:
    """Turn a function into a `Step`."""
    return Step(function)


def block_step(*, words: int) -> Callable[[Callable[..., None]], BlockStep]:
    """Return a decorator that turns a function into a `BlockStep`."""
    return lambda function: BlockStep(function, words)


def translated(function: Any, atomics: ModuleType, compiled: Callable[[Any], Any]) -> Any:
    """Return a copy of a function for a device.

    Parameters
    ----------
    function : function
        Function of a step, or a marked function.
    atomics : module
        The device's implementation of `atomic`.
    compiled : callable
        Returns the device's implementation of a marked function.
    """
    names: dict[str, Any] = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if value is atomic:
            names[name] = atomics
        elif isinstance(value, FunctionType) and value in _marked:
            names[name] = compiled(value)
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__)
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    return copy


DeviceArray = Any
"""An array in device memory, accessed only by steps. On the processor it is a numpy array."""

ORDERS = ("natural", "reversed", "shuffled")
"""Names of the orders."""

_NATURAL = np.empty(0, np.int64)


@dataclass(frozen=True)
class Order:
    """The order in which the threads of a step run.

    A graphics processor guarantees no order. Tests reverse and shuffle it to expose dependences on it.

    Parameters
    ----------
    name : str
        One of `ORDERS`.
    seed : int
        Seed of shuffled orders; each launch has its own permutation.

    Raises
    ------
    ValueError
        The name is unknown.
    """

    name: str = "natural"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {self.name!r}")

    def permutation(self, count: int, launch: int) -> NDArray[np.int64]:
        """Return 0 to count - 1 in this order, for launch number `launch`; None if ascending."""
        if self.name == "natural":
            return _NATURAL
        if self.name == "reversed":
            return np.arange(count - 1, -1, -1)
        return np.random.default_rng((self.seed, launch)).permutation(count)


NATURAL = Order()
"""The ascending order."""


class Device(ABC):
    """A device. Launches are serialized: each one sees all writes of the ones before.

    Parameters
    ----------
    order : Order
        Order in which threads run.
    block : int
        Most threads of a block.
    threads : int
        Threads of the processor that it uses.

    Attributes
    ----------
    name : str
        Name for users.
    compiles : bool
        Whether the first launch of a step compiles it, and so takes long.
    threads : int
        Threads of the processor that it uses.
    block : int
        Most threads of a block.
    launches : int
        Launches so far.
    upload_seconds : float
        Time spent in copying arrays to the device.
    """

    name: str
    compiles = True

    def __init__(self, order: Order, *, block: int, threads: int) -> None:
        self._order = order
        self.block = block
        self.threads = threads
        self.launches = 0
        self.upload_seconds = 0.0

    @abstractmethod
    def array(self, values: NDArray) -> DeviceArray:
        """Copy a host array to the device; on the processor the result may be the same array."""

    @abstractmethod
    def full(self, size: int, value: int, dtype: DTypeLike) -> DeviceArray:
        """Return an array of one value."""

    @abstractmethod
    def read(self, array: DeviceArray) -> NDArray:
        """Return the values of a device array, read-only for the caller."""

    @abstractmethod
    def value(self, array: DeviceArray, index: int) -> int:
        """Return an element."""

    @abstractmethod
    def store(self, array: DeviceArray, index: int, value: int) -> None:
        """Change an element."""

    @abstractmethod
    def _run(self, step: Step, threads: int, arguments: tuple[Any, ...]) -> None: ...

    @abstractmethod
    def _run_blocks(self, step: BlockStep, blocks: int, size: int, phases: int, arguments: tuple[Any, ...]) -> None: ...

    def run(self, step: Step, threads: int, *arguments: Any) -> None:
        """Launch a step.

        Parameters
        ----------
        step : Step
            The step.
        threads : int
            Number of threads; 0 is allowed.
        *arguments
            Arrays of the device, and integers.
        """
        if threads:
            self.launches += 1
            self._run(step, threads, arguments)

    def run_blocks(self, step: BlockStep, threads: int, phases: int, *arguments: Any) -> None:
        """Launch a step of blocks, as many as it takes for a number of threads.

        Parameters
        ----------
        step : BlockStep
            The step.
        threads : int
            Least number of threads, rounded up to whole blocks of `block_for` threads; 0 is allowed.
        phases : int
            Number of phases.
        *arguments
            Arrays of the device, and integers.
        """
        if threads:
            self.launches += 1
            size = self.block_for(threads)
            self._run_blocks(step, -(-threads // size), size, phases, arguments)

    def block_for(self, threads: int) -> int:
        """Return the size of the blocks in a launch of a number of threads: a device may launch smaller ones."""
        return self.block

    def zeros(self, size: int, dtype: DTypeLike = np.int64) -> DeviceArray:
        """Return an array of zeros."""
        return self.full(size, 0, dtype)

    def close(self) -> None:  # noqa: B027  # most devices hold nothing
        """Release the device's resources."""

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
