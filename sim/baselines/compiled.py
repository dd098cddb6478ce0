"""Engine on the machine compiled as one model."""

import ctypes
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from sim.baselines.build import build_baseline
from sim.engines.base import Command, CommandKind, Engine, RunState, meeting_interval
from sim.memory import Memory

__all__ = ["CompiledBaseline"]

_COMMAND = np.dtype([("kind", np.int64), ("index", np.int64), ("value", np.uint64)])


class _Setup(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("prepare", "accept", "settle", "context", "mailbox")),
        *((name, ctypes.c_int64) for name in ("interval", "watchdog")),
    ]


class CompiledBaseline(Engine):
    """Runs the exported Verilog, all of it as one model, on one thread.

    Parameters
    ----------
    kind : str
        One of `sim.baselines.build.KINDS`.
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
        self._engines = config.engines
        self._reads = 0
        self._library = _load(str(build_baseline(kind, config)))
        addresses = memory.addresses()
        setup = _Setup(
            prepare=addresses["prepare"],
            accept=addresses["accept"],
            settle=addresses["settle"],
            context=memory.context.ctypes.data,
            mailbox=memory.mailbox.ctypes.data,
            interval=meeting_interval(config, memory),
            watchdog=watchdog,
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

    def activity(self) -> npt.NDArray[np.int64]:
        """Refuse: the exported hardware has no outputs that only simulation needs.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("exported hardware does not tell what its kernels do")

    def close(self) -> None:
        """Release the model."""
        if self._machine:
            self._library.cyscc_destroy(self._machine)
            self._machine = ctypes.c_void_p(None)


def _load(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    for name, result, arguments in (
        ("create", pointer, [pointer]),
        ("destroy", None, [pointer]),
        ("begin", None, [pointer, pointer, ctypes.c_int]),
        ("run", ctypes.c_int, [pointer, integer]),
        ("cycle", integer, [pointer]),
        ("instruction_cycles", integer, [pointer]),
        ("answers", None, [pointer, pointer]),
    ):
        function = getattr(library, f"cyscc_{name}")
        function.restype = result
        function.argtypes = arguments
    return library
