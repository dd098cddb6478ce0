"""Lines of numbers, formatted in blocks by compiled code."""

from typing import IO

import numpy as np
from numba import njit
from numpy.typing import NDArray

from host.graph.csr import Graph

__all__ = ["write_edges"]

_PAIRS = 1 << 18  # lines formatted at once
_DIGITS = 20  # bytes of the longest number and its separator


@njit(cache=True, nogil=True, inline="always")
def _put_bytes(text: NDArray[np.uint8], out: NDArray[np.uint8], position: int) -> int:
    for byte in text:
        out[position] = byte
        position += 1
    return position


@njit(cache=True, nogil=True, inline="always")
def _put_number(number: int, out: NDArray[np.uint8], position: int) -> int:
    stop = position + 1
    rest = number // 10
    while rest:
        rest //= 10
        stop += 1
    for place in range(stop - 1, position - 1, -1):
        out[place] = ord("0") + number % 10
        number //= 10
    return stop


@njit(cache=True, nogil=True)
def _format(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    prefix: NDArray[np.uint8],
    suffix: NDArray[np.uint8],
    out: NDArray[np.uint8],
) -> int:
    position = 0
    for index in range(len(first)):
        position = _put_bytes(prefix, out, position)
        position = _put_number(first[index], out, position)
        out[position] = ord(" ")
        position = _put_number(second[index], out, position + 1)
        position = _put_bytes(suffix, out, position)
    return position


@njit(cache=True, nogil=True)
def _sources(offsets: NDArray[np.int64], edge: int, vertex: int, sources: NDArray[np.int64]) -> None:
    """Write the sources of consecutive edges, the first being `edge`, one of `vertex`."""
    for index in range(len(sources)):
        while offsets[vertex + 1] <= edge + index:
            vertex += 1
        sources[index] = vertex


class _PairWriter:
    """Formats pairs into a block that is used again and again."""

    def __init__(self, stream: IO[bytes], prefix: bytes, suffix: bytes) -> None:
        self._stream = stream
        self._prefix = np.frombuffer(prefix, dtype=np.uint8)
        self._suffix = np.frombuffer(suffix, dtype=np.uint8)
        self._out = np.empty(_PAIRS * (2 * _DIGITS + len(prefix) + len(suffix)), dtype=np.uint8)

    def write(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
        size = _format(first, second, self._prefix, self._suffix, self._out)
        self._stream.write(self._out[:size].data)


def write_edges(
    stream: IO[bytes],
    graph: Graph,
    *,
    ids: NDArray[np.int64] | None = None,
    base: int = 0,
    prefix: bytes = b"",
    suffix: bytes = b"\n",
) -> None:
    """Write one line for each edge, by source.

    Parameters
    ----------
    stream : binary file
        Where to write.
    graph : Graph
        The graph.
    ids : ndarray of int64, shape (n,), optional
        What to call the vertices; when absent they are counted from `base`.
    base : int
        Number of the first vertex when `ids` is absent.
    prefix, suffix : bytes
        What begins and ends each line, the newline included.
    """
    writer = _PairWriter(stream, prefix, suffix)
    for edge in range(0, graph.edges, _PAIRS):
        targets = graph.targets[edge : edge + _PAIRS].astype(np.int64)
        sources = np.empty(len(targets), dtype=np.int64)
        _sources(graph.offsets, edge, int(np.searchsorted(graph.offsets, edge, side="right")) - 1, sources)
        if ids is None:
            writer.write(sources + base, targets + base)
        else:
            writer.write(ids[sources], ids[targets])
