"""The compiled executor: kernels as lanes, a Verilated shell for each AE, a native loop over cycles."""

import ctypes
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from hw.kernel_control import Activity
from sim.executors.base import meeting_interval
from sim.executors.compiled.build import build_library
from sim.executors.shared_object import LibraryExecutor
from sim.memory import Memory, MemoryModel
from sim.observation.signals import model_signals
from sim.observation.waves import Waves

__all__ = ["CompiledExecutor"]


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", MemoryModel),
        ("interval", ctypes.c_int64),
        ("round", ctypes.c_int64),
        ("watchdog", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("waves", ctypes.c_char_p),
        ("first_wave", ctypes.c_int64),
        ("last_wave", ctypes.c_int64),
    ]


_LEAST_ROUND = 4
"""Cycles of a round that are worth a meeting."""


class CompiledExecutor(LibraryExecutor):
    """Runs the machine as compiled code.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without a request or a response after which a run counts as hung.
    threads : int
        Threads to share the AEs and the memory; more than there are of these are not used. The results do not depend
        on it.
    lanes : bool
        Evaluate the kernels of a module together, by vector instructions; never with waveforms. The results do not
        depend on it.
    waves : Path, optional
        VCD file to write; each kernel is then an object of its own, and the AEs then run on one thread.
    wave_window : tuple of int, optional
        First and last cycle to write there.

    Raises
    ------
    sim.errors.BuildError
        The library could not be built.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        threads: int = 1,
        lanes: bool = True,
        waves: Path | None = None,
        wave_window: tuple[int, int] | None = None,
    ) -> None:
        self._memory = memory
        self._shape = (config.engines, config.bfs_kernels + config.intersection_kernels, len(Activity))
        library = build_library(config, lanes=lanes and waves is None, waves=waves is not None)
        self._waves = None if waves is None else Waves(waves, wave_window, locate=model_signals(config))
        interval = meeting_interval(config, memory)
        first, last = self._waves.window if self._waves else (0, 0)
        setup = _Setup(
            memory=memory.model,
            interval=interval,
            round=0 if self._waves else _round(interval, memory),
            watchdog=watchdog,
            threads=1 if self._waves else min(threads, config.engines + 1),
            waves=os.fsencode(self._waves.raw) if self._waves else None,
            first_wave=first,
            last_wave=last,
        )
        super().__init__(library, setup, engines=config.engines)
        self._declare("activity", None, [ctypes.c_void_p, ctypes.c_void_p])

    def activity(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and `hw.kernel_control.Activity`, since reset."""
        counts = np.zeros(self._shape, np.int64)
        self._library.cyscc_activity(self._machine, counts.ctypes.data)
        return counts

    def close(self) -> None:
        """Stop the threads, complete the waveform file."""
        if self._machine:
            cycles = self.cycle
            super().close()
            if self._waves is not None:
                self._waves.finish(cycles)


def _round(interval: int, memory: Memory) -> int:
    """Return the cycles between two meetings where requests are performed a round late, or 0 where they are not.

    What a request brings must not be due before the round after the next, and a meeting costs as much as some cycles.
    """
    cycles = min(interval, memory.quantum // 2)
    return cycles if cycles >= _LEAST_ROUND else 0
