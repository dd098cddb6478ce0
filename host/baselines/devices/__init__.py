"""Data-parallel steps over arrays, written once for the processor and for graphics processors."""

from cyscc.host.baselines.devices.cpu import CpuDevice
from cyscc.host.baselines.devices.steps import NATURAL, Device, Order

DEVICES = ("cpu", "cuda")
"""Names of the devices."""


def open_device(name: str, *, threads: int = 1, order: Order = NATURAL) -> Device:
    """Return a device.

    Parameters
    ----------
    name : str
        One of `DEVICES`.
    threads : int
        Threads of the processor that ``cpu`` may use.
    order : Order
        Order in which the threads of a step run.

    Raises
    ------
    InputError
        The machine has no such device.
    ValueError
        The name is unknown.
    """
    if name == "cpu":
        return CpuDevice(threads=threads, order=order)
    if name == "cuda":
        # Imported here because most machines have no graphics processor.
        from cyscc.host.baselines.devices.cuda import CudaDevice

        return CudaDevice(order=order)
    raise ValueError(f"device must be one of {', '.join(DEVICES)}, not {name!r}")
