"""Sparse matrices as scipy saves them (.npz): the stored entries (i, j) are edges from i to j."""

import gzip
import shutil
import tempfile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import Graph, check_size
from host.graph.estimates import csr_bytes, size_text
from host.graph.formats.archive import Archive, Header
from host.memory_room import check_room, memory_room
from host.words import counted, sized

__all__ = ["read_npz", "recognises_npz", "write_npz"]

_LAYOUTS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
_LONGEST_NAME = 64  # bytes of the name of a layout
_PIECE = 1 << 20
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")


def recognises_npz(lines: list[bytes]) -> bool:
    """Whether a file begins as a zip archive does.

    Parameters
    ----------
    lines : list of bytes
        How it begins, cut as if it were text.
    """
    return bool(lines) and lines[0].startswith(_SIGNATURES)


def _layout(archive: Archive) -> str:
    header = archive.header("format")
    if header.shape or header.dtype.kind not in "SU" or header.dtype.itemsize > _LONGEST_NAME:
        raise InputError(f"the array 'format' must be a word, not {header}")
    text = archive.read("format", header).tobytes()
    # A letter takes one byte, or four in the order that the type names.
    order = "utf-32-be" if header.dtype.byteorder == ">" else "utf-32-le"
    layout = text.decode("latin-1" if header.dtype.kind == "S" else order, "replace").rstrip("\0")
    if layout not in _LAYOUTS:
        raise InputError(f"the layout {layout!r} is not supported, only {', '.join(_LAYOUTS)}")
    return layout


def _vertices(archive: Archive) -> int:
    header = archive.header("shape")
    if header.shape != (2,) or header.dtype.kind not in "iu":
        raise InputError(f"the array 'shape' must be two integers, not {header}")
    rows, columns = (int(extent) for extent in archive.read("shape", header))
    if rows != columns:
        raise InputError(f"the matrix is not square: {counted(rows, 'row')}, {counted(columns, 'column')}")
    if rows < 0:
        raise InputError(f"the number of rows, {rows}, is negative")
    return rows


def _vector(archive: Archive, name: str, *, kinds: str = "iu", of: str = "integers") -> Header:
    header = archive.header(name)
    if len(header.shape) != 1 or header.dtype.kind not in kinds:
        raise InputError(f"the array '{name}' must be a row of {of}, not {header}")
    return header


def _check_length(name: str, header: Header, length: int) -> None:
    if header.shape[0] != length:
        raise InputError(f"the array '{name}' must have {length} entries, not {header.shape[0]}")


def _check_range(array: NDArray[np.integer], name: str, limit: int) -> None:
    for index in (array.min(), array.max()) if len(array) else ():
        if not 0 <= index < limit:
            raise InputError(f"index {index} of the array '{name}' is outside 0..{limit - 1}")


def _ends(array: NDArray[np.integer]) -> NDArray[np.uint32]:
    return array.view(np.uint32) if array.dtype == np.int32 else array.astype(np.uint32, copy=False)


def _compressed(offsets: NDArray[np.integer], targets: NDArray[np.integer], vertices: int) -> Graph:
    if offsets[0] != 0 or offsets[-1] != len(targets) or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"the array 'indptr' must rise from 0 to {len(targets)}")
    _check_range(targets, "indices", vertices)
    return Graph(offsets=offsets.astype(np.int64, copy=False), targets=_ends(targets))


def _coordinates(sources: NDArray[np.integer], targets: NDArray[np.integer], vertices: int) -> Graph:
    _check_range(sources, "row", vertices)
    _check_range(targets, "col", vertices)
    return Graph.from_edges(vertices, _ends(sources), _ends(targets))


def _matrix(stream: IO[bytes]) -> Graph:
    """Look at all members and at the memory, and then read the matrix."""
    archive = Archive(stream)
    layout = _layout(archive)
    vertices = _vertices(archive)
    names = _LAYOUTS[layout]
    headers = [_vector(archive, name) for name in names]
    values = _vector(archive, "data", kinds="biufc", of="numbers")
    edges = headers[1].shape[0]
    check_size(vertices, edges)
    if layout == "coo":
        if headers[0].shape != headers[1].shape:
            raise InputError(
                f"the arrays 'row' and 'col' differ in length: {headers[0].shape[0]} and {headers[1].shape[0]}"
            )
    else:
        _check_length("indptr", headers[0], vertices + 1)
    _check_length("data", values, edges)
    stored = sum(header.bytes for header in headers)
    check_room(size_text(vertices, edges), stored + csr_bytes(vertices, edges))
    first, second = (archive.read(name, header) for name, header in zip(names, headers, strict=True))
    # The values do not matter; that they are damaged does.
    archive.check("data", values)
    if layout == "coo":
        return _coordinates(first, second, vertices)
    graph = _compressed(first, second, vertices)
    return graph.transpose() if layout == "csc" else graph


def _copy(stream: IO[bytes], copy: IO[bytes]) -> None:
    """Copy a file that cannot be read backwards, as far as there is room."""
    most = min(memory_room().bytes, shutil.disk_usage(tempfile.gettempdir()).free)
    done = 0
    while piece := stream.read(_PIECE):
        done += len(piece)
        if done > most:
            raise InputError(f"has more than {sized(most)} unpacked, for which there is no room")
        copy.write(piece)


def read_npz(stream: IO[bytes]) -> Graph:
    """Read a square sparse matrix in CSR, CSC or COO form; its vertices are called 0 to n - 1.

    The values do not matter: explicit zeros are edges, repeated entries are repeated edges.

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
        When it is not such a matrix, or needs more memory than there is.
    """
    if not recognises_npz([stream.peek()[:4]]):  # type: ignore[attr-defined]
        raise InputError("not an .npz file")
    if stream.seekable():
        return _matrix(stream)
    with tempfile.TemporaryFile() as copy:
        _copy(stream, copy)
        return _matrix(copy)


def write_npz(graph: Graph, stream: IO[bytes]) -> None:
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
