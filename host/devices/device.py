"""Devices: arrays of their own, launches of steps over them, and the order in which the threads of a step run."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from host.devices.steps import BlockStep, Step

__all__ = ["DEVICES", "NATURAL", "ORDERS", "Device", "DeviceArray", "Order", "open_device"]

DEVICES = ("cpu", "cuda")
"""Names of the devices."""

DeviceArray = Any
"""An array in a device's memory: only steps look into it. On the processor it is numpy's own."""

ORDERS = ("natural", "reversed", "shuffled")
"""Names of the orders."""

_NATURAL = np.empty(0, np.int64)


@dataclass(frozen=True)
class Order:
    """The order in which the threads of a step run.

    A graphics processor promises none. Tests reverse and shuffle it, so that what depends on it is seen.

    Parameters
    ----------
    name : str
        One of `ORDERS`.
    seed : int
        Of the shuffled ones; each launch has a permutation of its own.

    Raises
    ------
    ValueError
        The name is none of them.
    """

    name: str = "natural"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {self.name!r}")

    def permutation(self, count: int, launch: int) -> NDArray[np.int64]:
        """Return the numbers 0 to count - 1 in this order, for the launch of a number; none when they are ascending."""
        if self.name == "natural":
            return _NATURAL
        if self.name == "reversed":
            return np.arange(count - 1, -1, -1)
        return np.random.default_rng((self.seed, launch)).permutation(count)


NATURAL = Order()
"""Ascending."""


class Device(ABC):
    """A device. A launch is over when the next one begins: what one wrote, the next one reads.

    Parameters
    ----------
    order : Order
        In which threads run.
    block : int
        Threads of a block.
    threads : int
        Threads of the processor that it uses.

    Attributes
    ----------
    name : str
        As users call it.
    compiles : bool
        Whether the first launch of a step takes long, since it is compiled then.
    threads : int
        Threads of the processor that it uses.
    block : int
        Threads of a block.
    launches : int
        Launches so far.
    """

    name: str
    compiles = True

    def __init__(self, order: Order, *, block: int, threads: int) -> None:
        self._order = order
        self.block = block
        self.threads = threads
        self.launches = 0

    @abstractmethod
    def array(self, values: NDArray) -> DeviceArray:
        """Return an array of the device with the values of one of the host; on the processor it may be that one."""

    @abstractmethod
    def full(self, size: int, value: int, dtype: DTypeLike) -> DeviceArray:
        """Return an array of one value."""

    @abstractmethod
    def read(self, array: DeviceArray) -> NDArray:
        """Return the values of an array of the device, which are not to be changed."""

    @abstractmethod
    def value(self, array: DeviceArray, index: int) -> int:
        """Return an element."""

    @abstractmethod
    def store(self, array: DeviceArray, index: int, value: int) -> None:
        """Change an element."""

    @abstractmethod
    def _run(self, step: Step, threads: int, arguments: tuple[Any, ...]) -> None: ...

    @abstractmethod
    def _run_blocks(self, step: BlockStep, blocks: int, phases: int, arguments: tuple[Any, ...]) -> None: ...

    def run(self, step: Step, threads: int, *arguments: Any) -> None:
        """Launch a step.

        Parameters
        ----------
        step : Step
            The step.
        threads : int
            How many threads; with none, nothing happens.
        *arguments
            Arrays of the device, and integers.
        """
        if threads:
            self.launches += 1
            self._run(step, threads, arguments)

    def run_blocks(self, step: BlockStep, blocks: int, phases: int, *arguments: Any) -> None:
        """Launch a step of blocks, of `block` threads each.

        Parameters
        ----------
        step : BlockStep
            The step.
        blocks : int
            How many blocks; with none, nothing happens.
        phases : int
            How many phases.
        *arguments
            Arrays of the device, and integers.
        """
        if blocks:
            self.launches += 1
            self._run_blocks(step, blocks, phases, arguments)

    def blocks_of(self, threads: int) -> int:
        """Return how many blocks have room for so many threads."""
        return -(-threads // self.block)

    def zeros(self, size: int, dtype: DTypeLike = np.int64) -> DeviceArray:
        """Return an array of zeros."""
        return self.full(size, 0, dtype)

    def close(self) -> None:  # noqa: B027  # most devices hold nothing
        """Give back what the device holds."""

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_device(name: str, *, threads: int = 1, order: Order = NATURAL) -> Device:
    """Return a device.

    Parameters
    ----------
    name : str
        One of `DEVICES`.
    threads : int
        Threads of the processor that it may use, of ``cpu``.
    order : Order
        In which the threads of a step run.

    Raises
    ------
    InputError
        There is none of that name on this machine.
    ValueError
        The name is none.
    """
    if name == "cpu":
        from host.devices.cpu import CpuDevice

        return CpuDevice(threads=threads, order=order)
    if name == "cuda":
        # Here, as most machines have none.
        from host.devices.cuda import CudaDevice

        return CudaDevice(order=order)
    raise ValueError(f"device must be one of {', '.join(DEVICES)}, not {name!r}")
