"""What a device offers to algorithms: arrays of its own, and launches of steps over them."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from host.devices.order import Order
from host.devices.steps import BlockStep, Step

__all__ = ["Device", "DeviceArray"]

DeviceArray = Any
"""An array in a device's memory: only steps look into it. On the processor it is numpy's own."""


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
