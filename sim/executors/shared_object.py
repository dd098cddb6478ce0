"""Executors that are shared libraries, behind one interface in C."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.executors.base import Command, CommandKind, Executor, RunState

__all__ = ["LibraryExecutor"]

_COMMAND = np.dtype([("kind", np.int64), ("index", np.int64), ("value", np.uint64)])


class LibraryExecutor(Executor):
    """Calls the functions of a library for everything but the activity of kernels.

    Parameters
    ----------
    path : Path
        The library.
    setup : ctypes.Structure
        What its ``cyscc_create`` takes. It is copied there, but not what it points to.
    engines : int
        How many AEs the machine has.
    """

    def __init__(self, path: Path, setup: ctypes.Structure, *, engines: int) -> None:
        self._engines = engines
        self._reads = 0
        self._library = ctypes.CDLL(str(path))
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        self._declare("create", pointer, [pointer])
        self._declare("destroy", None, [pointer])
        self._declare("begin", None, [pointer, pointer, ctypes.c_int])
        self._declare("run", ctypes.c_int, [pointer, integer])
        self._declare("cycle", integer, [pointer])
        self._declare("instruction_cycles", integer, [pointer])
        self._declare("answers", None, [pointer, pointer])
        self._machine = ctypes.c_void_p(self._library.cyscc_create(ctypes.byref(setup)))

    def _declare(self, name: str, result: type | None, arguments: list[type]) -> None:
        """Tell the types of a function."""
        function = getattr(self._library, f"cyscc_{name}")
        function.restype = result
        function.argtypes = arguments

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
