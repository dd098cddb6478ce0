"""Executors that are shared libraries, behind one interface in C."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from sim.executors.base import Command, CommandKind, Executor, RunState, meeting_interval
from sim.memory import Memory, MemoryModel

__all__ = ["LibraryExecutor"]

_COMMAND = np.dtype([("kind", np.int64), ("index", np.int64), ("value", np.uint64)])


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", MemoryModel),
        *((name, ctypes.c_int64) for name in ("interval", "round", "watchdog", "threads")),
        ("waves", ctypes.c_char_p),
        *((name, ctypes.c_int64) for name in ("first_wave", "last_wave")),
    ]


class LibraryExecutor(Executor):
    """Calls the functions of a library for everything.

    Parameters
    ----------
    path : Path
        The library.
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles in which nothing moves and the memory owes nothing, after which a run counts as hung.
    **options
        Further members of ``Setup`` in `native/machine.h`, 0 where absent.
    """

    def __init__(
        self, path: Path, config: AcceleratorConfig, memory: Memory, *, watchdog: int, **options: int | bytes | None
    ) -> None:
        self._memory = memory
        self._engines = config.engines
        self._reads = 0
        self._library = ctypes.CDLL(str(path))
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        for name, result, arguments in (
            ("create", pointer, [pointer]),
            ("destroy", None, [pointer]),
            ("begin", None, [pointer, pointer, ctypes.c_int]),
            ("run", ctypes.c_int, [pointer, integer]),
            ("cycle", integer, [pointer]),
            ("instruction_cycles", integer, [pointer]),
            ("answers", None, [pointer, pointer]),
            ("causes", None, [pointer, pointer]),
        ):
            function = getattr(self._library, f"cyscc_{name}")
            function.restype = result
            function.argtypes = arguments
        setup = _Setup(memory=memory.model, interval=meeting_interval(config, memory), watchdog=watchdog, **options)
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
        values = np.zeros((self._reads, self._engines), np.uint64)
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

    def close(self) -> None:
        """Release the machine, with its threads."""
        if self._machine:
            self._library.cyscc_destroy(self._machine)
            self._machine = ctypes.c_void_p(None)
