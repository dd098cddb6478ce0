"""Faults that a sanitizer must find, each in a process of its own: that what finds nothing is not blind."""

import sys
from collections.abc import Callable
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from numba import types

from cyscc.hw.config import PRESETS
from cyscc.sim.caching.code import njit
from cyscc.sim.executors.base import Command, CommandKind
from cyscc.sim.executors.compiled import executor
from cyscc.sim.memory import Memory, parse_profile
from cyscc.sim.memory.addresses import type_of
from cyscc.sim.memory.compiling import OPTIONS
from cyscc.sim.memory.functions import PROTOTYPES
from cyscc.sim.memory.records import context_of
from cyscc.sim.numba_internals import compiled_cfunc
from tests.sanitizers.instrumented import watch


class Fault(NamedTuple):
    """A fault.

    Parameters
    ----------
    make : callable
        Makes it.
    report : str
        What is said when it is found.
    """

    make: Callable[[], object]
    report: str


def _memory(engines: int = 2) -> Memory:
    return Memory(parse_profile("fixed:9"), engines=engines, ports=2, capacity=1 << 20)


def _machine(memory: Memory) -> executor.CompiledExecutor:
    """Return a machine that has something to do for a while."""
    machine = executor.CompiledExecutor(PRESETS["test"], memory, watchdog=1 << 40, threads=2)
    machine.begin([Command(CommandKind.WRITE, 1)] * 100_000)
    return machine


def _mailbox_too_few() -> None:
    """Let C++ believe that the mailboxes begin with the second one."""
    memory = _memory()
    memory.model.mailboxes = memory.mailboxes[1:].ctypes.data
    _machine(memory).run(100)


def _engine_too_many() -> None:
    """Show a memory of one AE to a second one."""
    _memory(engines=1).prepare(1, 0)


def _overflow() -> None:
    """Run for more cycles than a number holds."""
    machine = _machine(_memory())
    machine.run(100)
    machine.run((1 << 63) - 1)


def _two_callers() -> None:
    """Run a machine from two threads at once."""
    machine = _machine(_memory())
    other = Thread(target=machine.run, args=(10_000,))
    other.start()
    machine.run(10_000)
    other.join()


def _shared_word() -> None:
    """Let the AEs, which run on two threads, write the same word of the memory."""
    memory = _memory()
    _, _, context = context_of(type(memory.profile))  # type: ignore[arg-type]

    def prepare(context: Any, ae: int, cycle: int) -> None:
        context.settled = cycle

    signature = types.void(type_of(context.address), types.int64, types.int64)
    options = {name: value for name, value in OPTIONS.items() if name != "nogil"}
    memory.model.prepare = PROTOTYPES["prepare"](compiled_cfunc(prepare, signature, options).address)
    _machine(memory).run(10_000)


def _index_outside() -> None:
    """Read behind an array."""

    @njit()
    def last(numbers: Any) -> Any:
        return numbers[numbers.size]

    last(np.zeros(3))


FAULTS = {
    "C++ writes behind the mailboxes": Fault(_mailbox_too_few, "AddressSanitizer: use-after-poison"),
    "the memory's code reads behind its sides": Fault(_engine_too_many, "AddressSanitizer: use-after-poison"),
    "C++ adds beyond 64 bits": Fault(_overflow, "runtime error: signed integer overflow"),
    "two threads run one machine": Fault(_two_callers, "ThreadSanitizer: data race"),
    "two engines write one word of the memory": Fault(_shared_word, "ThreadSanitizer: data race"),
    "numba reads behind an array": Fault(_index_outside, "IndexError: index is out of bounds"),
}
"""By name."""


if __name__ == "__main__":
    if sys.argv[2:] == ["watched"]:
        watch()
    FAULTS[sys.argv[1]].make()
