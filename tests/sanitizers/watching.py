"""Plugin of pytest for processes under a sanitizer, configured by the environment that `make sanitize` sets.

ASan only knows the bounds of what C++ makes; the arrays of the memory, which numpy makes, get fences around them.
"""

import ctypes
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

import cyscc.sim.memory.memory
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.executors.compiled import executor as compiled
from cyscc.sim.memory.structures import LINE_WORDS, Arena, Record

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


def fence() -> None:
    """Give every memory that is made from now on a fenced arena."""
    cyscc.sim.memory.memory.Arena = FencedArena  # type: ignore[misc]


def watch() -> None:
    """Fence the memory's arrays or have threads; take only machines that are built, since others take long."""
    if os.environ[TOLD] == "asan":
        fence()
    else:
        _have_threads()
    libraries = json.loads(os.environ[LIBRARIES])

    def find_library(config: AcceleratorConfig, *, waves: bool, on_step: Any = None) -> Path:
        for name, library in libraries.items():
            if config == PRESETS[name] and not waves:
                return Path(library)
        _skip()

    compiled.build_library = find_library


def _have_threads() -> None:
    """Run every machine on several threads, whatever a test says."""
    make = compiled.CompiledExecutor

    def make_threaded(*arguments: Any, threads: int = 1, **options: Any) -> compiled.CompiledExecutor:
        return make(*arguments, threads=max(threads, _THREADS), **options)

    compiled.CompiledExecutor = make_threaded  # type: ignore[misc, assignment]


def _skip() -> NoReturn:
    pytest.skip("this machine is not built for a sanitizer")


def pytest_configure() -> None:
    """Watch the tests."""
    watch()
