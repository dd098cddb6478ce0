"""Sparse matrices as scipy saves them (.npz): the stored entries (i, j) are edges from i to j.

The files are archives of arrays. Headers are validated before any array is read; scipy's reader would allocate the
memory that a header announces before checking it.
"""

import gzip
import shutil
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cyscc.host.graph.available_memory import available_memory, check_available_memory
from cyscc.host.graph.csr import Graph, check_size, csr_bytes, size_text
from cyscc.host.graph.formats.parsing import shown
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import bytes_text, count_text
from cyscc.sim.notices import shortened

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
"""How an archive begins, with members and without any."""

_LAYOUTS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
_MEMBERS: dict[str, tuple[str, str, tuple[int, ...] | None]] = {
    "format": ("a word", "SU", ()),
    "shape": ("two integers", "iu", (2,)),
    "data": ("a row of numbers", "biufc", None),
}
"""What an array must be, in words and by the kind of its entries, and its shape: a row of any length if there is none.

The others are `_INTEGERS`."""
_INTEGERS = ("a row of integers", "iu", None)
_LONGEST_WORD = 64  # bytes
_LONGEST_CAUSE = 100  # characters
_COPIED = 1 << 20
_VERSIONS = (1, 0), (2, 0), (3, 0)
_LARGEST_READ = 1 << 20
"""Largest single read in bytes, which also limits the list of members."""

_PIECES = {zipfile.ZIP_STORED: _LARGEST_READ, zipfile.ZIP_DEFLATED: _LARGEST_READ}
_SMALL_PIECE = 1 << 12
"""Largest read in bytes for bzip2 and LZMA, whose decompressors have no bound on the output."""

_ENCRYPTED = 1


class _Header(NamedTuple):
    """Header of a member: type and shape of its array."""

    dtype: np.dtype[Any]
    """Type of its entries."""
    shape: tuple[int, ...]
    """Its extents."""

    @property
    def bytes(self) -> int:
        """Bytes of the entries."""
        return prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        extents = " x ".join(f"{extent:,}" for extent in self.shape)
        return f"{extents} of {self.dtype}" if self.shape else f"one {self.dtype}"


class _Guarded:
    """File object for `zipfile` that refuses to read a whole file at once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size if 0 <= size <= _LARGEST_READ else _LARGEST_READ + 1)
        if len(data) > _LARGEST_READ:
            raise InputError("damaged .npz file: its list of members is too long")
        return data


@contextmanager
def _damage() -> Iterator[None]:
    """Turn errors about a damaged archive into one line."""
    try:
        with warnings.catch_warnings():
            # Warnings about odd literals and old headers: the error already says it.
            warnings.simplefilter("ignore")
            yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # An OSError without a number comes from bzip2, not from the system.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        cause = shortened(str(error).partition("\n")[0], _LONGEST_CAUSE)
        raise InputError(f"damaged .npz file: {cause or 'it is cut short'}") from None


class _Archive:
    """An archive of arrays.

    Parameters
    ----------
    stream : binary file
        The file; it must be seekable.

    Raises
    ------
    InputError
        The file is not such an archive.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        with _damage():
            self._zip = zipfile.ZipFile(cast(IO[bytes], _Guarded(stream)))
            infos = self._zip.infolist()
        for name, count in Counter(info.filename for info in infos).items():
            if count > 1:
                raise InputError(f"damaged .npz file: {count} members are called {shown(name.encode())}")
        self._members = {info.filename: info for info in infos}

    def header(self, name: str) -> _Header:
        """Return the header of a member, checked against `_MEMBERS` and its length, without unpickling any object.

        Raises
        ------
        InputError
            It is missing or damaged, or another array than it must be.
        """
        with self._open(name) as file:
            version = npy.read_magic(file)
            if version not in _VERSIONS:
                raise ValueError(f"'{name}.npy' is of version {version[0]}.{version[1]}")
            shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
            left = file.size - file.tell()
        header = _Header(dtype, shape)
        if dtype.kind not in "biufcSU" or dtype.itemsize == 0:
            raise InputError(f"the array '{name}' holds {dtype.str!r}, not numbers")
        if left != header.bytes:
            raise InputError(
                f"damaged .npz file: the array '{name}' is {header}, which takes {header.bytes:,} bytes, "
                f"and has {left:,}"
            )
        must, kinds, extents = _MEMBERS.get(name, _INTEGERS)
        right = len(shape) == 1 if extents is None else shape == extents
        if not right or dtype.kind not in kinds or (extents == () and dtype.itemsize > _LONGEST_WORD):
            raise InputError(f"the array '{name}' must be {must}, not {header}")
        return header

    def read(self, name: str) -> NDArray[Any]:
        """Return an array; the caller has checked its header and the available memory."""
        with self._open(name) as file:
            array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
        return array

    def check(self, name: str) -> None:
        """Read an array only to detect damage."""
        with self._open(name) as file:
            while file.read():
                pass

    @contextmanager
    def _open(self, name: str) -> "Iterator[_Pieces]":
        member = self._members.get(f"{name}.npy")
        if member is None:
            raise InputError(f"no sparse matrix as scipy saves it: it has no array '{name}'")
        if member.flag_bits & _ENCRYPTED:
            raise InputError(f"the array '{name}' is encrypted")
        with _damage(), self._zip.open(member) as file:
            yield _Pieces(file, member)


class _Pieces:
    """A member read in small pieces, so that little is decompressed at once."""

    def __init__(self, file: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._file, self._most = file, _PIECES.get(member.compress_type, _SMALL_PIECE)
        self.tell, self.size = file.tell, member.file_size

    def read(self, size: int = _LARGEST_READ, /) -> bytes:
        return self._file.read(min(size, self._most))


def _layout(archive: _Archive) -> str:
    archive.header("format")
    with _damage():
        word = archive.read("format").item()
    layout = word.decode("latin-1") if isinstance(word, bytes) else word
    if layout not in _LAYOUTS:
        raise InputError(f"the layout {layout!r} is not supported, only {', '.join(_LAYOUTS)}")
    return layout


def _vertices(archive: _Archive) -> int:
    archive.header("shape")
    rows, columns = (int(extent) for extent in archive.read("shape"))
    if rows != columns:
        raise InputError(f"the matrix is not square: {count_text(rows, 'row')}, {count_text(columns, 'column')}")
    if rows < 0:
        raise InputError(f"the number of rows, {rows}, is negative")
    return rows


def _check_range(array: NDArray[np.integer], name: str, limit: int) -> None:
    for index in (array.min(), array.max()) if len(array) else ():
        if not 0 <= index < limit:
            raise InputError(f"index {index} of the array '{name}' is outside 0..{limit - 1}")


def _ids(array: NDArray[np.integer]) -> NDArray[np.uint32]:
    return array.view(np.uint32) if array.dtype == np.int32 else array.astype(np.uint32, copy=False)


def _matrix(stream: IO[bytes]) -> Graph:
    """Check all members and the available memory, then read the matrix."""
    archive = _Archive(stream)
    layout = _layout(archive)
    vertices = _vertices(archive)
    names = _LAYOUTS[layout]
    headers = {name: archive.header(name) for name in (*names, "data")}
    first, edges, values = (header.shape[0] for header in headers.values())
    check_size(vertices, edges)
    if layout == "coo" and first != edges:
        raise InputError(f"the arrays 'row' and 'col' differ in length: {first} and {edges}")
    for name, length, wanted in (
        (names[0], first, edges if layout == "coo" else vertices + 1),
        ("data", values, edges),
    ):
        if length != wanted:
            raise InputError(f"the array '{name}' must have {wanted} entries, not {length}")
    stored = sum(headers[name].bytes for name in names)
    check_available_memory(size_text(vertices, edges), stored + csr_bytes(vertices, edges))
    ends, others = (archive.read(name) for name in names)
    # The values do not matter, but damage does.
    archive.check("data")
    if layout == "coo":
        _check_range(ends, names[0], vertices)
    elif ends[0] != 0 or ends[-1] != edges or (ends[1:] < ends[:-1]).any():
        raise InputError(f"the array 'indptr' must rise from 0 to {edges}")
    _check_range(others, names[1], vertices)
    if layout == "coo":
        return Graph.from_edges(vertices, _ids(ends), _ids(others))
    graph = Graph(offsets=ends.astype(np.int64, copy=False), targets=_ids(others))
    return graph.transpose() if layout == "csc" else graph


def _copy(stream: IO[bytes], copy: IO[bytes]) -> None:
    """Copy a file that cannot be seeked, within the available space."""
    most = min(available_memory().bytes, shutil.disk_usage(tempfile.gettempdir()).free)
    done = 0
    while piece := stream.read(_COPIED):
        done += len(piece)
        if done > most:
            raise InputError(f"has more than {bytes_text(most)} unpacked, for which there is no room")
        copy.write(piece)


def read_npz(stream: IO[bytes]) -> Graph:
    """Read a square sparse matrix in CSR, CSC or COO form as a graph with vertex ids 0 to n - 1.

    The values do not matter: explicit zeros are edges, repeated entries are parallel edges.

    Parameters
    ----------
    stream : binary file
        The file; copied first if it is not seekable.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        The file is not such a matrix, or needs more memory than is available.
    """
    if not stream.peek().startswith(SIGNATURES):  # type: ignore[attr-defined]
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
    # Imported here because the import takes a sixth of a second, and most commands do not need it.
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
    # Writing a zip archive needs seeking.
    with tempfile.TemporaryFile() as archive:
        save_npz(archive, matrix, compressed=False)
        archive.seek(0)
        shutil.copyfileobj(archive, stream)
