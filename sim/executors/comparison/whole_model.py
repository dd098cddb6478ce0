"""Executor on the machine compiled as one model."""

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from sim.executors.comparison.build import build_whole_model
from sim.executors.shared_object import LibraryExecutor
from sim.memory import Memory

__all__ = ["WholeModelExecutor"]


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
        super().__init__(build_whole_model(kind, config), config, memory, watchdog=watchdog)

    def causes(self) -> npt.NDArray[np.int64]:
        """Refuse: the exported hardware has no outputs that only simulation needs.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("exported hardware does not tell what its kernels do")
