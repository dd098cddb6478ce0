"""What steps count, spread over many cells, so that threads rarely wait for each other."""

from typing import Any

from host.devices import Device, DeviceArray, atomic_add, device_function

__all__ = ["add_at", "counter", "total"]

_CELLS = 1024
_NEAR = 5
"""Threads whose numbers differ in so many of the lowest bits only share a cell."""


def counter(device: Device) -> DeviceArray:
    """Return a counter, of 0."""
    return device.zeros(_CELLS)


@device_function
def add_at(cells: Any, thread: int, number: int) -> None:
    """Add to a counter."""
    atomic_add(cells, (thread >> _NEAR) & (_CELLS - 1), number)


def total(device: Device, cells: DeviceArray) -> int:
    """Return what has been counted."""
    return int(device.read(cells).sum())
