"""Fences around the arrays of the memory, which numpy makes: ASan only knows the bounds of what C++ makes."""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cyscc.sim.memory.memory
from cyscc.sim.memory.structures import LINE_WORDS, Arena, Record

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
