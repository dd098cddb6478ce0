"""Executors in shared libraries with a common C interface, and their state by name."""

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.building import load_library
from cyscc.sim.caching.tools import NATIVE
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.base import Command, CommandKind, Executor, RunState, sync_interval
from cyscc.sim.executors.native_tables import structure, table_at
from cyscc.sim.memory import Memory, MemoryModel
from cyscc.sim.named_words import WORD, Field, NamedWords

PIECE = structure(NATIVE / "state.h", "Piece")


class Pieces:
    """The pieces of a native machine's state, by name.

    Parameters
    ----------
    library : ctypes.CDLL
        The executor's library.
    machine : ctypes.c_void_p
        The machine, which must outlive this.

    Attributes
    ----------
    fields : tuple of Field
        The fields that they are pieces of.
    """

    def __init__(self, library: ctypes.CDLL, machine: ctypes.c_void_p) -> None:
        first = ctypes.c_void_p()
        count = library.cyscc_pieces(machine, ctypes.byref(first))
        self._library = library
        self._machine = machine
        self._table = table_at(first.value, count, PIECE)
        names = (ctypes.string_at(address).decode() for address in self._table["name"].tolist())
        columns = (self._table[name].tolist() for name in ("first", "width", "rows"))
        self._pieces = list(zip(names, *columns, strict=True))
        self.fields = self._gathered_fields()
        self._aimed: tuple[Field, ...] | None = None

    def _gathered_fields(self) -> tuple[Field, ...]:
        found: dict[str, tuple[int, int, int]] = {}
        for name, first, width, rows in self._pieces:
            end, _, known = found.get(name, (0, 0, 0))
            found[name] = (max(end, first + width), rows, known | ((1 << width) - 1) << first)
        return tuple(Field(name=name, width=end, rows=rows, known=known) for name, (end, rows, known) in found.items())

    def save(self) -> NamedWords:
        """Return the state."""
        state = NamedWords.zeros(self.fields)
        self._aim(state)
        self._library.cyscc_save(self._machine, state.words.ctypes.data)
        return state

    def load(self, state: NamedWords) -> None:
        """Load the known bits of a state.

        Raises
        ------
        ValueError
            The state is of other hardware.
        """
        self._aim(state)
        words = np.ascontiguousarray(state.words)
        self._library.cyscc_load(self._machine, words.ctypes.data)

    def _aim(self, state: NamedWords) -> None:
        """Set each piece's position among the words, and its mask of known bits."""
        if self._aimed is state.fields:
            return
        self._aimed = state.fields
        places = []
        for name, first, width, rows in self._pieces:
            word, field = state.places.get(name, (0, None))
            if field is not None and field.rows != rows:
                raise ValueError(f"{name} has {rows} rows, not {field.rows}")
            if field is None:
                places.append((0, 0, 0))
            else:
                known = field.known >> first & ((1 << width) - 1)
                places.append((word * WORD + first, field.row_words * WORD, known))
        for column, values in zip(("at", "step", "known"), zip(*places, strict=True), strict=True):
            self._table[column] = values


_COMMAND = Struct("=qqQ")
"""`Command` of `native/pin_driver.h`."""

_SURE = ("cycle", "instruction_cycles", "answers", "open_reads")
"""Functions that never fail."""


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", MemoryModel),
        *((name, ctypes.c_int64) for name in ("interval", "round", "watchdog", "threads")),
    ]


class LibraryExecutor(Executor):
    """Executor that delegates to a shared library.

    Parameters
    ----------
    path : Path
        The library.
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    **options
        Further members of ``Setup`` in `native/machine.h`, 0 by default.

    Raises
    ------
    BuildError
        The library cannot be loaded.
    SimulationError
        The machine cannot be created. `begin` and `run` raise it too, if the machine fails.
    """

    def __init__(
        self,
        path: Path,
        config: AcceleratorConfig,
        memory: Memory,
        *,
        watchdog: int,
        **options: int,
    ) -> None:
        self._memory = memory
        self._engines = config.engines
        self._reads = 0
        self._machine = ctypes.c_void_p(None)
        self._library = _load(path)
        pointer, integer = ctypes.c_void_p, ctypes.c_int64
        checked = partial(_checked, self._library.cyscc_failure)
        for name, result, arguments in (
            ("create", pointer, [pointer]),
            ("destroy", None, [pointer]),
            ("begin", None, [pointer, pointer, ctypes.c_int]),
            ("run", ctypes.c_int, [pointer, integer]),
            ("cycle", integer, [pointer]),
            ("instruction_cycles", integer, [pointer]),
            ("answers", None, [pointer, pointer]),
            ("record", None, [pointer, integer, integer, pointer]),
            ("sample", None, [pointer, pointer]),
            ("begin_instruction", None, [pointer]),
            ("log_spells", None, [pointer, pointer]),
            ("write_spells", None, [pointer, ctypes.c_int]),
            ("log_accesses", None, [pointer, pointer]),
            ("take_accesses", integer, [pointer, integer, pointer]),
            ("open_reads", integer, [pointer]),
            ("pieces", integer, [pointer, pointer]),
            ("save", None, [pointer, pointer]),
            ("load", None, [pointer, pointer]),
        ):
            function = getattr(self._library, f"cyscc_{name}")
            function.restype = result
            function.argtypes = arguments
            if name not in _SURE:
                # Not a method: a reference cycle through the executor would keep its memory until the next garbage
                # collection.
                function.errcheck = checked
        setup = _Setup(memory=memory.model, interval=sync_interval(config, memory), watchdog=watchdog, **options)
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
        """Answers to the last list's reads, of shape (reads, AEs)."""
        values = np.zeros((self._reads, self._engines), np.uint64)
        # The attribute `ctypes` takes longer than the call.
        self._library.cyscc_answers(self._machine, values.__array_interface__["data"][0])
        return values

    def begin(self, commands: Sequence[Command]) -> None:
        """Start a list of commands."""
        self._reads = sum(command.kind == CommandKind.READ for command in commands)
        self._library.cyscc_begin(self._machine, command_table(commands), len(commands))

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""
        return RunState(self._library.cyscc_run(self._machine, budget))

    def close(self) -> None:
        """Release the machine and its threads."""
        if self._machine:
            machine, self._machine = self._machine, ctypes.c_void_p(None)
            self._library.cyscc_destroy(machine)


def command_table(commands: Sequence[Command]) -> bytes:
    """Return commands as an array of C++ structures."""
    return b"".join([_COMMAND.pack(command.kind, command.index, command.value) for command in commands])


def _checked(last_failure: Callable[[], bytes], result: Any, *_: Any) -> Any:
    """Return a function's result; raise an error if it failed."""
    failure = last_failure()
    if failure:
        raise SimulationError(f"the compiled executor failed: {failure.decode(errors='replace')}")
    return result


def _load(path: Path) -> ctypes.CDLL:
    library = load_library(path)
    library.cyscc_failure.restype = ctypes.c_char_p
    library.cyscc_failure.argtypes = []
    return library
