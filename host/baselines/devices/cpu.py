"""Steps on the processor: numba compiles a loop over the threads, and the cores share its ranges."""

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cyscc.host.baselines.devices.steps import ATOMICS, NATURAL, BlockStep, Device, DeviceArray, Order, Step, translated
from cyscc.host.graph.loops import share_functions
from cyscc.sim.caching.numba_code import njit, numba

_BLOCK = 256
"""Most threads of a block."""
_SMALLEST_BLOCK = 8
"""Fewest threads of a block: steps lay out variables of the block in their shared memory."""
_CHUNK = 2048
"""Step threads that a core takes at a time; a smaller step runs on one core."""
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Steps create no arrays, and counting references would cost an atomic operation for each thread. The last option is
not documented; a numba that does not know it ignores it, and steps take longer."""
_BODY: dict[str, Any] = {**_OPTIONS, "forceinline": True}
"""Options of step functions, which are inlined: a call per thread would cost as much as some ten edges."""

_SIZES = {"narrow": 32, "wide": 64}
"""Sizes of elements, in bits, by name in the template below."""
_IDLE = {
    "maximum": "old >= value",
    "minimum": "old <= value",
    "and_": "old & value == old",
    "or_": "old | value == old",
    "swap": "old != expected",
}
"""When an operation changes nothing: reading is enough then, and most do nothing else."""
_TEMPLATE = """\
def {name}(array, index, {values}):
    old = array[index]
    if {idle}:
        return old
    address = array.ctypes.data + index * array.itemsize
    if array.itemsize == 4:
        return array.dtype.type(narrow(address, {values}))
    return array.dtype.type(wide(address, {values}))
"""


@cache
def _atomics() -> ModuleType:
    """Return the atomic operations of the processor, which `host/graph/native/loops.cpp` has."""
    share_functions()
    types, found = numba().types, ModuleType("atomic")
    for name, values in ATOMICS.items():
        kind = types.int64(types.intp, *[types.int64] * len(values))
        place = {size: types.ExternalFunction(f"cyscc_atomic_{name}{bits}", kind) for size, bits in _SIZES.items()}
        exec(_TEMPLATE.format(name=name, values=", ".join(values), idle=_IDLE.get(name, "False")), place)
        setattr(found, name, numba().njit(**_BODY)(place[name]))
    return found


def _kept(function: Any) -> bool:
    """Return whether compiled code can be cached: the function is in a module, not in a prompt or a notebook."""
    module = sys.modules.get(function.__module__)
    return getattr(module, "__file__", None) == function.__code__.co_filename


@cache
def _compiled(function: Any) -> Any:
    # Part of the loops that are kept: code from a file could not be inlined.
    return njit(**_BODY)(translated(function, _atomics(), _compiled))


def _body(*_: Any) -> None:
    """Mark the place of the step in the loop templates below."""
    raise NotImplementedError


def _threads_loop(first: int, last: int, order: NDArray[np.int64], *arguments: Any) -> None:
    for place in range(first, last):
        thread = order[place] if order.size else place
        _body(thread, *arguments)


def _blocks_loop(
    first: int,
    last: int,
    block_order: NDArray[np.int64],
    thread_order: NDArray[np.int64],
    size: int,
    phases: int,
    shared: NDArray[np.int32],
    *arguments: Any,
) -> None:
    for place in range(first, last):
        block = block_order[place] if block_order.size else place
        for phase in range(phases):
            for number in range(size):
                thread = thread_order[number] if thread_order.size else number
                _body(block, thread, size, phase, shared, *arguments)


@cache
def _loop(template: Any, function: Any) -> Any:
    """Compile a loop template for the function of a step."""
    loop = FunctionType(template.__code__, {**template.__globals__, "_body": _compiled(function)}, template.__name__)
    loop.__module__ = template.__module__
    # The cache of compiled code identifies it by its name.
    loop.__qualname__ = f"{template.__name__}.{function.__module__}.{function.__qualname__}"
    return njit(cache=_kept(function), **_OPTIONS)(loop)


class Workers:
    """Threads that share the ranges of a loop; compiled code releases the GIL.

    Parameters
    ----------
    threads : int
        Number of threads; with one, everything runs in the calling thread.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def close(self) -> None:
        """End the threads, without waiting for compiled code that an interrupted run has left behind."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def each(self, work: Callable[[int], int]) -> list[int]:
        """Run a function in every thread, given the thread's number, and return the results."""
        if self._pool is None:
            return [work(0)]
        return list(self._pool.map(work, range(self.threads)))

    def ranges(self, size: int, chunk: int, work: Callable[[int, int, int, int], int]) -> list[int]:
        """Distribute the ranges of 0 to `size` dynamically over the threads.

        Parameters
        ----------
        size, chunk : int
            Size of the loop, and of a range.
        work : callable
            Takes the thread's number, first and last of a range, and its own previous return value in this thread
            (0 at first).

        Returns
        -------
        list of int
            Last return value of each thread.
        """
        numbers = itertools.count()

        def run(thread: int) -> int:
            result = 0
            while (first := next(numbers) * chunk) < size:
                result = work(thread, first, min(first + chunk, size), result)
            return result

        return self.each(run)

    @staticmethod
    def joined(parts: list[NDArray[np.uint32]], counts: list[int]) -> NDArray[np.uint32]:
        """Concatenate the results of the threads."""
        return np.concatenate([part[:count] for part, count in zip(parts, counts, strict=True)])


class CpuDevice(Device):
    """The processor as a device.

    Parameters
    ----------
    threads : int
        Threads of the processor that run the threads of a step. With one, steps run in order.
    order : Order
        Order in which the threads of a step run; with several threads of the processor, each takes its share in that
        order.
    """

    name = "cpu"

    def __init__(self, *, threads: int, order: Order = NATURAL) -> None:
        super().__init__(order, block=_BLOCK, threads=threads)
        self._workers = Workers(threads)

    def array(self, values: NDArray) -> NDArray:
        """Return the array itself."""
        return values

    def full(self, size: int, value: int, dtype: DTypeLike) -> NDArray:
        """Return an array of one value."""
        # Zero pages cost nothing until they are touched.
        return np.full(size, value, dtype) if value else np.zeros(size, dtype)

    def read(self, array: DeviceArray) -> NDArray:
        """Return the array itself."""
        values: NDArray = array
        return values

    def value(self, array: DeviceArray, index: int) -> int:
        """Return an element."""
        return int(array[index])

    def store(self, array: DeviceArray, index: int, value: int) -> None:
        """Change an element."""
        array[index] = value

    def _run(self, step: Step, threads: int, arguments: tuple[Any, ...]) -> None:
        loop = _loop(_threads_loop, step.function)
        order = self._order.permutation(threads, self.launches)
        self._share(threads, _CHUNK, lambda first, last: loop(first, last, order, *arguments))

    def block_for(self, threads: int) -> int:
        """Return the size of the blocks: each thread of a block costs time in every phase, even if it has no work."""
        return min(self.block, max(threads, _SMALLEST_BLOCK))

    def _run_blocks(self, step: BlockStep, blocks: int, size: int, phases: int, arguments: tuple[Any, ...]) -> None:
        loop = _loop(_blocks_loop, step.function)
        block_order = self._order.permutation(blocks, self.launches)
        thread_order = self._order.permutation(size, self.launches)

        def work(first: int, last: int) -> None:
            shared = np.empty(size * step.words, np.int32)
            loop(first, last, block_order, thread_order, size, phases, shared, *arguments)

        self._share(blocks, _CHUNK // size, work)

    def _share(self, size: int, chunk: int, work: Any) -> None:
        """Distribute the ranges of a loop over the cores."""
        if self.threads == 1 or size <= chunk:
            work(0, size)
            return

        def run(_: int, first: int, last: int, found: int) -> int:
            work(first, last)
            return found

        self._workers.ranges(size, chunk, run)

    def close(self) -> None:
        """End the threads."""
        self._workers.close()
