"""Lines of numbers, formatted in blocks by Arrow."""

from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.csr import Graph

if TYPE_CHECKING:
    import pyarrow as pa

Part: TypeAlias = "bytes | NDArray[Any] | pa.Array"
"""A part of each row: a constant text, a column of numbers, or a column of texts."""

_PAIRS = 1 << 18  # lines formatted at once


def column(part: "Part", count: int) -> "pa.Array":
    """Convert numbers to texts, or repeat a constant text `count` times."""
    import pyarrow as pa

    if isinstance(part, bytes):
        ends = np.arange(count + 1, dtype=np.int32) * np.int32(len(part))
        return pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(part * count))
    if isinstance(part, np.ndarray):
        values = pa.py_buffer(np.ascontiguousarray(part))
        return pa.Array.from_buffers(pa.from_numpy_dtype(part.dtype), count, [None, values]).cast(pa.string())
    return part


def joined(*parts: "Part") -> "pa.Array":
    """Concatenate the parts of each row: constant texts, numbers, and texts."""
    import pyarrow.compute as pc

    count = next(len(part) for part in parts if not isinstance(part, bytes))
    return pc.binary_join_element_wise(*(column(part, count) for part in (*parts, b"")))


def write_rows(stream: IO[bytes], *parts: "Part") -> None:
    """Write rows, each the concatenation of its parts.

    Parameters
    ----------
    stream : binary file
        The file to write to.
    *parts : bytes, ndarray or Array
        Constant texts, numbers, and Arrow texts; at least one part is not constant.
    """
    stream.write(joined(*parts).buffers()[2])


def write_pairs(stream: IO[bytes], first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
    """Write one line for each pair of nonnegative numbers.

    Parameters
    ----------
    stream : binary file
        Where to write.
    first, second : ndarray of int64, shape (lines,)
        The numbers.
    """
    for begin in range(0, len(first), _PAIRS):
        part = slice(begin, begin + _PAIRS)
        write_rows(stream, first[part], b" ", second[part], b"\n")


def write_edges(
    stream: IO[bytes], graph: Graph, base: int | None = None, *, prefix: bytes = b"", suffix: bytes = b"\n"
) -> None:
    """Write one line for each edge, by source.

    Parameters
    ----------
    stream : binary file
        Where to write.
    graph : Graph
        The graph.
    base : int, optional
        Number of the first vertex, from which they are counted; when absent they have their ids.
    prefix, suffix : bytes
        What begins and ends each line, the newline included.
    """
    for edge in range(0, graph.edges, _PAIRS):
        targets = graph.targets[edge : edge + _PAIRS]
        # The first and the last vertex of this chunk may have further edges in other chunks.
        first, end = np.searchsorted(graph.offsets, (edge, edge + len(targets) - 1), side="right") - 1
        lengths = np.diff(graph.offsets[first : end + 2].clip(edge, edge + len(targets)))
        sources = np.repeat(np.arange(first, end + 1), lengths)
        names = [
            graph.original(each) if base is None else np.add(each, base, dtype=np.int64) for each in (sources, targets)
        ]
        write_rows(stream, prefix, names[0], b" ", names[1], suffix)
