"""Executor on the machine compiled as one model."""

import ctypes

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from sim.executors.base import meeting_interval
from sim.executors.comparison.build import build_whole_model
from sim.executors.shared_object import LibraryExecutor
from sim.memory import Memory, MemoryModel

__all__ = ["WholeModelExecutor"]


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", MemoryModel),
        ("interval", ctypes.c_int64),
        ("watchdog", ctypes.c_int64),
    ]


class WholeModelExecutor(LibraryExecutor):
    """Runs the exported Verilog, all of it as one model, on one thread.

    Parameters
    ----------
    kind : str
        One of `sim.executors.comparison.build.KINDS`.
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without a request or a response after which a run counts as hung.

    Raises
    ------
    sim.errors.BuildError
        The library could not be built.
    """

    def __init__(self, kind: str, config: AcceleratorConfig, memory: Memory, *, watchdog: int) -> None:
        self._memory = memory
        setup = _Setup(
            memory=memory.model,
            interval=meeting_interval(config, memory),
            watchdog=watchdog,
        )
        super().__init__(build_whole_model(kind, config), setup, engines=config.engines)

    def activity(self) -> npt.NDArray[np.int64]:
        """Refuse: the exported hardware has no outputs that only simulation needs.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("exported hardware does not tell what its kernels do")
