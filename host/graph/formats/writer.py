"""Lines of numbers, formatted in blocks by compiled code."""

from typing import IO

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Graph
from sim.caching.code import njit

__all__ = ["put_bytes", "put_number", "write_edges", "write_pairs"]

_PAIRS = 1 << 18  # lines formatted at once
_DIGITS = 20  # bytes of the longest number and its separator


@njit(cache=True, nogil=True, inline="always")
def put_bytes(text: NDArray[np.uint8], out: NDArray[np.uint8], position: int) -> int:
    """Write bytes at a place, and return where they end."""
    for byte in text:
        out[position] = byte
        position += 1
    return position


@njit(cache=True, nogil=True, inline="always")
def put_number(number: int, out: NDArray[np.uint8], position: int) -> int:
    """Write the digits of a number that is not negative at a place, and return where they end."""
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
        position = put_bytes(prefix, out, position)
        position = put_number(first[index], out, position)
        out[position] = ord(" ")
        position = put_number(second[index], out, position + 1)
        position = put_bytes(suffix, out, position)
    return position


def write_pairs(
    stream: IO[bytes],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    prefix: bytes = b"",
    suffix: bytes = b"\n",
) -> None:
    """Write one line for each pair of numbers, none of which is negative.

    Parameters
    ----------
    stream : binary file
        Where to write.
    first, second : ndarray of int64, shape (lines,)
        The numbers.
    prefix, suffix : bytes
        What begins and ends each line, the newline included.
    """
    around = [np.frombuffer(text, dtype=np.uint8) for text in (prefix, suffix)]
    out = np.empty(min(len(first), _PAIRS) * (2 * _DIGITS + len(prefix) + len(suffix)), dtype=np.uint8)
    for begin in range(0, len(first), _PAIRS):
        part = slice(begin, begin + _PAIRS)
        stream.write(out[: _format(first[part], second[part], *around, out)].data)


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
    for edge in range(0, graph.edges, _PAIRS):
        targets = graph.targets[edge : edge + _PAIRS].astype(np.int64)
        # Of the vertices that have these edges the first and the last may have others besides.
        first, end = np.searchsorted(graph.offsets, (edge, edge + len(targets) - 1), side="right") - 1
        lengths = np.diff(graph.offsets[first : end + 2].clip(edge, edge + len(targets)))
        sources = np.repeat(np.arange(first, end + 1), lengths)
        pair = (sources + base, targets + base) if ids is None else (ids[sources], ids[targets])
        write_pairs(stream, *pair, prefix=prefix, suffix=suffix)
