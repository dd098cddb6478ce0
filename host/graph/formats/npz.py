"""Sparse matrices as scipy saves them (.npz): the stored entries (i, j) are edges from i to j."""

import gzip
import shutil
import tempfile
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.formats.header import size
from host.words import counted

__all__ = ["read", "write"]

_LAYOUTS = ("csr", "csc", "coo")


def _array(file: Any, name: str) -> NDArray[Any]:
    if name not in file:
        raise InputError(f"no sparse matrix as scipy saves it: it has no array '{name}'")
    return np.asarray(file[name])


def _layout(file: Any) -> str:
    name = _array(file, "format")
    layout = name.item() if name.ndim == 0 else None
    layout = layout.decode("ascii", "replace") if isinstance(layout, bytes) else layout
    if layout not in _LAYOUTS:
        raise InputError(f"the layout {layout!r} is not supported, only {', '.join(_LAYOUTS)}")
    return layout


def _vertices(file: Any) -> int:
    shape = _array(file, "shape")
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise InputError(f"the shape {shape.tolist()} is not that of a matrix")
    rows, columns = (int(extent) for extent in shape)
    if rows != columns:
        raise InputError(f"the matrix is not square: {counted(rows, 'row')}, {counted(columns, 'column')}")
    if rows < 0:
        raise InputError(f"the number of rows, {rows}, is negative")
    return rows


def _vector(file: Any, name: str) -> NDArray[np.integer]:
    array = _array(file, name)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"the array '{name}' must be a row of integers")
    return array


def _check_range(array: NDArray[np.integer], name: str, limit: int) -> None:
    for index in (array.min(), array.max()) if len(array) else ():
        if not 0 <= index < limit:
            raise InputError(f"index {index} of the array '{name}' is outside 0..{limit - 1}")


def _compressed(file: Any, vertices: int) -> Graph:
    offsets, targets = _vector(file, "indptr"), _vector(file, "indices")
    size(vertices, len(targets))
    if len(offsets) != vertices + 1:
        raise InputError(f"the array 'indptr' must have {vertices + 1} entries, not {len(offsets)}")
    if offsets[0] != 0 or offsets[-1] != len(targets) or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"the array 'indptr' must rise from 0 to {len(targets)}")
    _check_range(targets, "indices", vertices)
    return Graph(offsets=offsets.astype(np.int64, copy=False), targets=_ends(targets))


def _ends(array: NDArray[np.integer]) -> NDArray[np.uint32]:
    return array.view(np.uint32) if array.dtype == np.int32 else array.astype(np.uint32, copy=False)


def _coordinates(file: Any, vertices: int) -> Graph:
    sources, targets = _vector(file, "row"), _vector(file, "col")
    size(vertices, len(targets))
    if len(sources) != len(targets):
        raise InputError(f"the arrays 'row' and 'col' differ in length: {len(sources)} and {len(targets)}")
    _check_range(sources, "row", vertices)
    _check_range(targets, "col", vertices)
    return Graph.from_edges(vertices, _ends(sources), _ends(targets))


def _matrix(stream: IO[bytes]) -> Graph:
    if not zipfile.is_zipfile(stream):
        raise InputError("not an .npz file")
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as file:
        layout = _layout(file)
        vertices = _vertices(file)
        size(vertices, 0)
        if layout == "coo":
            return _coordinates(file, vertices)
        graph = _compressed(file, vertices)
    return graph.transpose() if layout == "csc" else graph


def read(stream: IO[bytes]) -> Graph:
    """Read a square sparse matrix in CSR, CSC or COO form; its vertices are called 0 to n - 1.

    The values do not matter and are not read: explicit zeros are edges, repeated entries are repeated edges.

    Parameters
    ----------
    stream : binary file
        The file; one that cannot be read backwards is copied first.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        When it is not such a matrix.
    """
    if not isinstance(stream, gzip.GzipFile) and stream.seekable():
        return _read(stream)
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        return _read(copy)


def _read(stream: IO[bytes]) -> Graph:
    try:
        return _matrix(stream)
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError) as error:
        raise InputError(f"damaged .npz file: {error}") from None


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write a graph as an uncompressed CSR matrix of ones; its vertices become 0 to n - 1.

    Parameters
    ----------
    graph : Graph
        The graph.
    stream : binary file
        Where to write.
    """
    # Here, as it takes a sixth of a second that commands which write none should not wait.
    from scipy.sparse import csr_array, save_npz

    wide = max(graph.vertices, graph.edges) >= 2**31
    targets = graph.targets.astype(np.int64) if wide else graph.targets.view(np.int32)
    matrix = csr_array(
        (np.ones(graph.edges, dtype=np.int8), targets, graph.offsets.astype(targets.dtype)),
        shape=(graph.vertices, graph.vertices),
    )
    if not isinstance(stream, gzip.GzipFile):
        save_npz(stream, matrix, compressed=False)
        return
    # A zip archive is not written from front to back.
    with tempfile.TemporaryFile() as archive:
        save_npz(archive, matrix, compressed=False)
        archive.seek(0)
        shutil.copyfileobj(archive, stream)
