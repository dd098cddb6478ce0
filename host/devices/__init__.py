"""Data-parallel steps over arrays, written once for this machine's processor and for graphics processors."""

from host.devices.device import DEVICES, ORDERS, Device, DeviceArray, Order, open_device
from host.devices.steps import (
    BlockStep,
    Step,
    atomic_add,
    atomic_and,
    atomic_exchange,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_swap,
    block_step,
    device_function,
    step,
)

__all__ = [
    "DEVICES",
    "ORDERS",
    "BlockStep",
    "Device",
    "DeviceArray",
    "Order",
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
    "open_device",
    "step",
]
