"""Steps on a graphics processor by CUDA, or on numba's CUDA simulator (``NUMBA_ENABLE_CUDASIM=1``)."""

import itertools
import time
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numba import config, cuda, int32
from numpy.typing import DTypeLike, NDArray

from cyscc.host.baselines.devices.primitives import fill
from cyscc.host.baselines.devices.steps import ATOMICS, NATURAL, BlockStep, Device, DeviceArray, Order, Step, translated
from cyscc.host.output.errors import InputError

_BLOCK = 256
"""Threads of a block."""
_SIMULATED_BLOCK = 8
"""Threads of a block on the simulator, which runs each of them, even beyond the end, at 0.4 ms each."""
_WORD = 4
"""Bytes of a word of shared memory."""


_NAMES = {"maximum": "max", "minimum": "min", "exchange": "exch", "swap": "cas"}
"""Names of atomic operations that numba names otherwise."""


@cache
def _atomics() -> ModuleType:
    found = ModuleType("atomic")
    for name, values in ATOMICS.items():
        given, place = ", ".join(("array", "index", *values)), {"cuda": cuda}
        exec(f"def {name}({given}):\n    return cuda.atomic.{_NAMES.get(name, name)}({given})", place)
        setattr(found, name, cuda.jit(device=True)(place[name]))
    return found


@cache
def _compiled(function: Any) -> Any:
    return cuda.jit(device=True)(translated(function, _atomics(), _compiled))


def layout(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the layout of a step's arguments: type and field layouts for each named tuple, else None."""
    return tuple((type(each), layout(each)) if isinstance(each, tuple) else None for each in arguments)


def flat(arguments: tuple[Any, ...]) -> list[Any]:
    """Flatten the named tuples among the arguments of a step, for a kernel."""
    return [field for each in arguments for field in (flat(each) if isinstance(each, tuple) else (each,))]


def kernel(step: Step | BlockStep, arguments: tuple[Any, ...]) -> Any:
    """Return the kernel of a step, as a Python function.

    CUDA kernels take a fixed number of arguments, so the source of a kernel is generated for each layout.

    Parameters
    ----------
    step : Step or BlockStep
        The kernel of a `Step` takes the number of threads, their order, and the flat arguments; the kernel of a
        `BlockStep` the orders of blocks and threads, the number of phases, and the flat arguments.
    arguments : tuple
        The layout of the step's arguments.
    """
    names = itertools.count()
    scope: dict[str, Any] = {"cuda": cuda, "body": _compiled(step.function), "int32": int32}

    def expression(each: Any) -> str:
        # Generated names, so that arguments of a step cannot clash with names in the lines below.
        if each is None:
            return f"argument{next(names)}"
        scope[each[0].__name__] = each[0]
        return f"{each[0].__name__}({', '.join(map(expression, each[1]))})"

    given = ", ".join(map(expression, arguments))
    head, lines = _THREADS if isinstance(step, Step) else _BLOCKS
    parameters = ", ".join((head, *(f"argument{number}" for number in range(next(names)))))
    exec("\n    ".join((f"def kernel({parameters}):", *lines)).replace("ARGUMENTS", given), scope)
    return scope["kernel"]


_THREADS = (
    "size, order",
    ("place = cuda.grid(1)", "if place < size:", "    body(order[place] if order.size else place, ARGUMENTS)"),
)
"""Parameters and source lines of the kernel of a `Step`."""
_BLOCKS = (
    "block_order, thread_order, count",
    (
        "shared = cuda.shared.array(0, int32)",
        "block = block_order[cuda.blockIdx.x] if block_order.size else cuda.blockIdx.x",
        "thread = thread_order[cuda.threadIdx.x] if thread_order.size else cuda.threadIdx.x",
        "for phase in range(count):",
        "    if phase > 0:",
        "        cuda.syncthreads()",
        "    body(block, thread, cuda.blockDim.x, phase, shared, ARGUMENTS)",
    ),
)
"""Parameters and source lines of the kernel of a `BlockStep`."""


@cache
def _launched(step: Step | BlockStep, arguments: tuple[Any, ...]) -> Any:
    return cuda.jit(kernel(step, arguments))


class CudaDevice(Device):
    """The first graphics processor, or numba's simulator, as a device.

    Parameters
    ----------
    order : Order
        Order in which the threads of a step, or its blocks and their threads, are numbered.

    Raises
    ------
    InputError
        There is no graphics processor.
    """

    name = "cuda"

    def __init__(self, *, order: Order = NATURAL) -> None:
        if not cuda.is_available():
            raise InputError(
                "--device cuda: no graphics processor was found (it needs an NVIDIA driver, and numba-cuda: "
                "pip install 'cyscc[cuda]'; with NUMBA_ENABLE_CUDASIM=1 a simulator runs small graphs)"
            )
        # Silence numba's warnings about small launches: a search begins with one vertex, and its last levels are small.
        # Their text may begin with an escape sequence, and end with another.
        warnings.filterwarnings("ignore", message=".*Grid size .* low occupancy")
        self.compiles = not config.ENABLE_CUDASIM
        super().__init__(order, block=_BLOCK if self.compiles else _SIMULATED_BLOCK, threads=1)
        self._ascending = self.array(np.empty(0, np.int64))

    def array(self, values: NDArray) -> DeviceArray:
        """Copy an array to the device."""
        # The copy would wait for earlier launches, whose time is not its own.
        cuda.synchronize()
        begin = time.perf_counter()
        copied = cuda.to_device(np.ascontiguousarray(values))
        self.upload_seconds += time.perf_counter() - begin
        return copied

    def full(self, size: int, value: int, dtype: DTypeLike) -> DeviceArray:
        """Return an array of one value, which is filled on the device; the simulator would take long for it."""
        if not self.compiles:
            return cuda.to_device(np.full(size, value, dtype))
        array = cuda.device_array(size, dtype)
        self.run(fill, size, array, value)
        return array

    def read(self, array: DeviceArray) -> NDArray:
        """Copy an array from the device."""
        values: NDArray = array.copy_to_host()
        return values

    def value(self, array: DeviceArray, index: int) -> int:
        """Copy an element from the device."""
        return int(array[index : index + 1].copy_to_host()[0])

    def store(self, array: DeviceArray, index: int, value: int) -> None:
        """Copy an element to the device."""
        array[index : index + 1].copy_to_device(np.array([value], array.dtype))

    def _permutation(self, count: int) -> DeviceArray:
        """Return the order of `count` threads or blocks; ascending orders share one array."""
        numbers = self._order.permutation(count, self.launches)
        return self.array(numbers) if numbers.size else self._ascending

    def _run(self, step: Step, threads: int, arguments: tuple[Any, ...]) -> None:
        grid = -(-threads // self.block)
        launched = _launched(step, layout(arguments))
        launched[grid, self.block](threads, self._permutation(threads), *flat(arguments))

    def _run_blocks(self, step: BlockStep, blocks: int, size: int, phases: int, arguments: tuple[Any, ...]) -> None:
        orders = self._permutation(blocks), self._permutation(size)
        memory = size * step.words * _WORD
        _launched(step, layout(arguments))[blocks, size, 0, memory](*orders, phases, *flat(arguments))
