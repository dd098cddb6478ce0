"""What runs under a sanitizer: a plugin of pytest that has the tests watched, and faults that must be found.

ASan only knows the bounds of what C++ makes; the arrays of the memory, which numpy makes, get fences around them. The
environment that `make sanitize` sets says which sanitizer it is. ``python -m tests.sanitizers.watched FAULT`` makes a
fault, to show that what finds nothing is not blind.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import cyscc.sim.memory.memory
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.caching.numba_code import njit
from cyscc.sim.executors.base import Command, CommandKind
from cyscc.sim.executors.compiled import executor as compiled
from cyscc.sim.executors.compiled import parts
from cyscc.sim.memory import Memory, parse_profile
from cyscc.sim.memory.structures import LINE_WORDS, Arena, Record
from cyscc.sim.trust import GivenText

LIBRARIES = "CYSCC_WATCHED_LIBRARIES"
"""Variable with the libraries of machines by preset, as JSON."""

TOLD = "CYSCC_WATCHED_BY"
"""Variable with the prefix of the sanitizer's functions, ``asan`` or ``tsan``."""

_THREADS = 3
_LINE_BYTES = 8 * LINE_WORDS
_KEPT_BY_NUMPY = 1024
"""Bytes below which numpy keeps an array's place for the next one, which would stumble over the fences."""


class FencedArena(Arena):
    """An arena in which ASan forbids the words before, behind and between the arrays."""

    def __init__(self) -> None:
        super().__init__()
        self._whole: list[NDArray[np.uint8]] = []
        self._fences: list[tuple[int, int]] = []

    def make(self, kind: type[Record] | type[int], count: int) -> NDArray[Any]:
        """Return an array of records, or of words, that begins at a cache line, with a fence on either side."""
        dtype = np.dtype(np.int64) if kind is int else kind.dtype  # type: ignore[union-attr]
        size = count * dtype.itemsize
        whole = np.zeros(max(size + 3 * _LINE_BYTES, _KEPT_BY_NUMPY), np.uint8)
        begin = _LINE_BYTES + -whole.ctypes.data % _LINE_BYTES
        made: NDArray[Any] = whole[begin : begin + size].view(dtype)
        self._own(made, kind)
        self._whole.append(whole)
        self._forbid(whole.ctypes.data, begin)
        self._forbid(made.ctypes.data + size, whole.size - begin - size)
        return made

    def link(self, owners: NDArray[np.void], field: str, kind: type[Record] | type[int], count: int) -> NDArray[Any]:
        """Make the arrays of a link, with fences between them."""
        arrays = super().link(owners, field, kind, count)
        starts = np.ravel(owners[field])
        size = count * arrays.itemsize
        for start, end in zip(starts + size, [*starts[1:], starts[-1] + arrays.strides[-2]], strict=True):
            self._forbid(int(start), int(end - start))
        return arrays

    def save(self) -> list[NDArray[np.uint64]]:
        """Return a copy of all arrays, which numpy makes with the gaps between them."""
        with self._open():
            return super().save()

    def load(self, copies: Sequence[NDArray[np.uint64]]) -> None:
        """Set all arrays, with the gaps between them."""
        with self._open():
            super().load(copies)

    def _forbid(self, address: int, size: int) -> None:
        self._fences.append((address, size))
        _call("__asan_poison_memory_region", address, size)

    @contextmanager
    def _open(self) -> Iterator[None]:
        for region in self._fences:
            _call("__asan_unpoison_memory_region", *region)
        yield
        for region in self._fences:
            _call("__asan_poison_memory_region", *region)


def _call(function: str, address: int, size: int) -> None:
    getattr(ctypes.CDLL(None), function)(ctypes.c_void_p(address), ctypes.c_size_t(size))


def watch() -> None:
    """Fence the memory's arrays or have threads; take only machines that are built, since others take long."""
    if os.environ[TOLD] == "asan":
        cyscc.sim.memory.memory.Arena = FencedArena  # type: ignore[misc]
    else:
        compiled.CompiledExecutor = _make_threaded  # type: ignore[misc, assignment]
    libraries = {PRESETS[name]: Path(path) for name, path in json.loads(os.environ[LIBRARIES]).items()}

    def find_library(config: AcceleratorConfig, *, waves: bool, on_step: Any = None) -> Path:
        if config not in libraries or waves:
            pytest.skip("this machine is not built for a sanitizer")
        return libraries[config]

    # A machine is built before its memory is made, and again found by its executor.
    compiled.build_library = parts.build_library = find_library


_make = compiled.CompiledExecutor


def _make_threaded(*arguments: Any, threads: int = 1, **options: Any) -> compiled.CompiledExecutor:
    """Make a machine that runs on several threads, whatever a test says."""
    return _make(*arguments, threads=max(threads, _THREADS), **options)


def pytest_configure() -> None:
    """Watch the tests."""
    watch()


class Fault(NamedTuple):
    """A fault.

    Parameters
    ----------
    part : str
        What must find it: a part of `tests.sanitizers.sanitize`.
    make : callable
        Makes it.
    report : str
        What is said when it is found.
    """

    part: str
    make: Callable[[], object]
    report: str


def _memory(engines: int = 2) -> Memory:
    return Memory(parse_profile("fixed:9"), engines=engines, ports=2, capacity=1 << 20)


def _machine(memory: Memory) -> compiled.CompiledExecutor:
    """Return a machine that has something to do for a while."""
    machine = compiled.CompiledExecutor(PRESETS["test"], memory, watchdog=1 << 40, threads=2)
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
    # Python would ask for fewer.
    machine._library.cyscc_run(machine._machine, (1 << 63) - 1)


def _two_callers() -> None:
    """Run a machine from two threads at once."""
    machine = _machine(_memory())
    other = Thread(target=machine.run, args=(10_000,))
    other.start()
    machine.run(10_000)
    other.join()


_COUNTING = """
from dataclasses import dataclass
from typing import ClassVar

from cyscc.sim.memory import Fixed


@dataclass(frozen=True, kw_only=True)
class Counting(Fixed):
    name: ClassVar[str] = "counting"
    header: ClassVar[str] = "counting.h"
"""
_COUNTING_RULES = """
namespace cyscc::memory {

inline int64_t counted = 0;

template <class Self>
struct Counting : Fixed<Self> {
    static Stalled stalled(const Parameters&, Side&, int64_t) { return {++counted & 0, 0}; }
};

}  // namespace cyscc::memory
"""


def _shared_word() -> None:
    """Let the AEs, which run on two threads, write the same word of the memory."""
    with TemporaryDirectory() as folder:
        Path(folder, "counting.h").write_text(_COUNTING_RULES)
        Path(folder, "counting.py").write_text(_COUNTING)
        profile = parse_profile(GivenText(f"{folder}/counting.py:9"))
        memory = Memory(profile, engines=2, ports=2, capacity=1 << 20)
    _machine(memory).run(10_000)


def _index_outside() -> None:
    """Read behind an array."""

    @njit()
    def last(numbers: Any) -> Any:
        return numbers[numbers.size]

    last(np.zeros(3))


FAULTS = {
    "C++ writes behind the mailboxes": Fault("addresses", _mailbox_too_few, "AddressSanitizer: use-after-poison"),
    "the memory's code reads behind its sides": Fault(
        "addresses", _engine_too_many, "AddressSanitizer: use-after-poison"
    ),
    "C++ adds beyond 64 bits": Fault("addresses", _overflow, "runtime error: signed integer overflow"),
    "two threads run one machine": Fault("threads", _two_callers, "ThreadSanitizer: data race"),
    "two engines write one word of the memory": Fault("threads", _shared_word, "ThreadSanitizer: data race"),
    "numba reads behind an array": Fault("bounds", _index_outside, "IndexError: index is out of bounds"),
}
"""By name."""


if __name__ == "__main__":
    if TOLD in os.environ:
        watch()
    FAULTS[sys.argv[1]].make()
