"""The compiled engine: one Verilator model per kind of module, one object per instance, a native loop over cycles."""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from hw.kernel_control import Activity
from sim.engines.base import Command, CommandKind, Engine, RunState, meeting_interval
from sim.engines.build import build_library
from sim.memory import Memory
from sim.signals import model_signals
from sim.waves import Waves

__all__ = ["VerilatorEngine"]


class _MemoryModel(ctypes.Structure):
    _fields_ = [
        ("prepare", ctypes.c_void_p),
        ("accept", ctypes.c_void_p),
        ("settle", ctypes.c_void_p),
        ("seal", ctypes.c_void_p),
        ("serve", ctypes.c_void_p),
        ("deliver", ctypes.c_void_p),
        ("next_event", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("mailbox", ctypes.c_void_p),
    ]


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", _MemoryModel),
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

_COMMAND = np.dtype([("kind", np.int64), ("index", np.int64), ("value", np.uint64)])


class VerilatorEngine(Engine):
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
        self._reads = 0
        self._library = _load(build_library(config, lanes=lanes and waves is None, waves=waves is not None))
        self._waves = None if waves is None else Waves(waves, wave_window, locate=model_signals(config))
        interval = meeting_interval(config, memory)
        first, last = self._waves.window if self._waves else (0, 0)
        setup = _Setup(
            memory=_MemoryModel(
                **memory.addresses(),
                context=memory.context.ctypes.data,
                mailbox=memory.mailbox.ctypes.data,
            ),
            interval=interval,
            round=0 if self._waves else _round(interval, memory),
            watchdog=watchdog,
            threads=1 if self._waves else min(threads, config.engines + 1),
            waves=os.fsencode(self._waves.raw) if self._waves else None,
            first_wave=first,
            last_wave=last,
        )
        self._machine = ctypes.c_void_p(self._library.cyscc_create(ctypes.byref(setup)))

    @property
    def cycle(self) -> int:
        """Cycles simulated so far."""
        return int(self._library.cyscc_cycle(self._machine))

    @property
    def instruction_cycles(self) -> int:
        """Cycles from the last dispatch until the last AE was idle."""
        return int(self._library.cyscc_instruction_cycles(self._machine))

    @property
    def answers(self) -> npt.NDArray[np.uint64]:
        """Answers of the last list's reads, of shape (reads, AEs)."""
        values = np.zeros((self._reads, self._shape[0]), np.uint64)
        self._library.cyscc_answers(self._machine, values.ctypes.data)
        return values

    def begin(self, commands: Sequence[Command]) -> None:
        """Begin a list of commands."""
        self._reads = sum(command.kind == CommandKind.READ for command in commands)
        table = np.array([(command.kind, command.index, command.value) for command in commands], _COMMAND)
        self._library.cyscc_begin(self._machine, table.ctypes.data, len(table))

    def run(self, budget: int) -> RunState:
        """Run until the list is done and all AEs are idle if it dispatched, or for about `budget` cycles."""
        return RunState(self._library.cyscc_run(self._machine, budget))

    def activity(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and `hw.kernel_control.Activity`, since reset."""
        counts = np.zeros(self._shape, np.int64)
        self._library.cyscc_activity(self._machine, counts.ctypes.data)
        return counts

    def close(self) -> None:
        """Stop the threads, complete the waveform file."""
        if self._machine:
            cycles = self.cycle
            self._library.cyscc_destroy(self._machine)
            self._machine = ctypes.c_void_p(None)
            if self._waves is not None:
                self._waves.finish(cycles)


def _round(interval: int, memory: Memory) -> int:
    """Return the cycles between two meetings where requests are performed a round late, or 0 where they are not.

    What a request brings must not be due before the round after the next, and a meeting costs as much as some cycles.
    """
    cycles = min(interval, memory.quantum // 2)
    return cycles if cycles >= _LEAST_ROUND else 0


def _load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    for name, result, arguments in (
        ("create", pointer, [pointer]),
        ("destroy", None, [pointer]),
        ("begin", None, [pointer, pointer, ctypes.c_int]),
        ("run", ctypes.c_int, [pointer, integer]),
        ("cycle", integer, [pointer]),
        ("instruction_cycles", integer, [pointer]),
        ("answers", ctypes.c_int, [pointer, pointer]),
        ("activity", None, [pointer, pointer]),
    ):
        function = getattr(library, f"cyscc_{name}")
        function.restype = result
        function.argtypes = arguments
    return library
