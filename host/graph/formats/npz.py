"""Sparse matrices as scipy saves them (.npz): the stored entries (i, j) are edges from i to j.

The files are archives of arrays. Headers are validated before any array is read; scipy's reader would allocate the
memory that a header announces before checking it.
"""

import gzip
import io
import lzma
import shutil
import struct
import tempfile
import tokenize
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cyscc.host.graph.available_memory import available_memory, check_available_memory
from cyscc.host.graph.csr import Graph, check_size, csr_bytes, size_text
from cyscc.host.graph.formats.parsing import shown
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import bytes_text, count_text
from cyscc.sim.notices import shortened

__all__ = ["read_npz", "recognises_npz", "write_npz"]

_LAYOUTS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
_LONGEST_NAME = 64  # bytes of the name of a sparse format
_LONGEST_CAUSE = 100  # characters
_COPIED = 1 << 20
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
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


class _Guarded(io.RawIOBase):
    """File object for `zipfile` that refuses to read a whole file at once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def read(self, size: int = -1, /) -> bytes:
        if 0 <= size <= _LARGEST_READ:
            return self._stream.read(size)
        data = self._stream.read(_LARGEST_READ + 1)
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
    except (
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError, SyntaxError, TypeError),
        *(EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError, LookupError),
    ) as error:
        cause = shortened(str(error).partition("\n")[0], _LONGEST_CAUSE)
        raise InputError(f"damaged .npz file: {cause or 'it is cut short'}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        # An OSError without a number comes from bzip2, not from the system.
        raise InputError(f"damaged .npz file: {error}") from None


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
            self._zip = zipfile.ZipFile(_Guarded(stream))
            infos = self._zip.infolist()
        for name, count in Counter(info.filename for info in infos).items():
            if count > 1:
                raise InputError(f"damaged .npz file: {count} members are called {shown(name.encode())}")
        self._members = {info.filename: info for info in infos}

    def _member(self, name: str) -> zipfile.ZipInfo:
        member = self._members.get(f"{name}.npy")
        if member is None:
            raise InputError(f"no sparse matrix as scipy saves it: it has no array '{name}'")
        if member.flag_bits & _ENCRYPTED:
            raise InputError(f"the array '{name}' is encrypted")
        return member

    def header(self, name: str) -> _Header:
        """Return the header of a member, checked against the member's length, without unpickling any object.

        Raises
        ------
        InputError
            It is missing or damaged, or not an array of numbers or characters.
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
        member = self._member(name)
        with _damage(), self._zip.open(member) as file:
            yield _Pieces(file, member)


class _Pieces:
    """A member read in small pieces, so that little is decompressed at once."""

    def __init__(self, file: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._file, self._most = file, _PIECES.get(member.compress_type, _SMALL_PIECE)
        self.tell, self.size = file.tell, member.file_size

    def read(self, size: int = _LARGEST_READ, /) -> bytes:
        return self._file.read(min(size, self._most))


def recognises_npz(lines: list[bytes]) -> bool:
    """Whether a file begins like a zip archive.

    Parameters
    ----------
    lines : list of bytes
        Its beginning, split into lines like text.
    """
    return bool(lines) and lines[0].startswith(_SIGNATURES)


def _layout(archive: _Archive) -> str:
    header = archive.header("format")
    if header.shape or header.dtype.kind not in "SU" or header.dtype.itemsize > _LONGEST_NAME:
        raise InputError(f"the array 'format' must be a word, not {header}")
    with _damage():
        word = archive.read("format").item()
    layout = word.decode("latin-1") if isinstance(word, bytes) else word
    if layout not in _LAYOUTS:
        raise InputError(f"the layout {layout!r} is not supported, only {', '.join(_LAYOUTS)}")
    return layout


def _vertices(archive: _Archive) -> int:
    header = archive.header("shape")
    if header.shape != (2,) or header.dtype.kind not in "iu":
        raise InputError(f"the array 'shape' must be two integers, not {header}")
    rows, columns = (int(extent) for extent in archive.read("shape"))
    if rows != columns:
        raise InputError(f"the matrix is not square: {count_text(rows, 'row')}, {count_text(columns, 'column')}")
    if rows < 0:
        raise InputError(f"the number of rows, {rows}, is negative")
    return rows


def _vector(archive: _Archive, name: str, *, kinds: str = "iu", of: str = "integers") -> _Header:
    header = archive.header(name)
    if len(header.shape) != 1 or header.dtype.kind not in kinds:
        raise InputError(f"the array '{name}' must be a row of {of}, not {header}")
    return header


def _check_range(array: NDArray[np.integer], name: str, limit: int) -> None:
    for index in (array.min(), array.max()) if len(array) else ():
        if not 0 <= index < limit:
            raise InputError(f"index {index} of the array '{name}' is outside 0..{limit - 1}")


def _ends(array: NDArray[np.integer]) -> NDArray[np.uint32]:
    return array.view(np.uint32) if array.dtype == np.int32 else array.astype(np.uint32, copy=False)


def _matrix(stream: IO[bytes]) -> Graph:
    """Check all members and the available memory, then read the matrix."""
    archive = _Archive(stream)
    layout = _layout(archive)
    vertices = _vertices(archive)
    names = _LAYOUTS[layout]
    headers = [_vector(archive, name) for name in names]
    values = _vector(archive, "data", kinds="biufc", of="numbers")
    lengths = [header.shape[0] for header in headers]
    edges = lengths[1]
    check_size(vertices, edges)
    if layout == "coo" and lengths[0] != lengths[1]:
        raise InputError(f"the arrays 'row' and 'col' differ in length: {lengths[0]} and {lengths[1]}")
    wanted = [] if layout == "coo" else [("indptr", headers[0], vertices + 1)]
    for name, header, length in (*wanted, ("data", values, edges)):
        if header.shape[0] != length:
            raise InputError(f"the array '{name}' must have {length} entries, not {header.shape[0]}")
    stored = sum(header.bytes for header in headers)
    check_available_memory(size_text(vertices, edges), stored + csr_bytes(vertices, edges))
    first, second = (archive.read(name) for name in names)
    # The values do not matter, but damage does.
    archive.check("data")
    if layout == "coo":
        _check_range(first, "row", vertices)
        _check_range(second, "col", vertices)
        return Graph.from_edges(vertices, _ends(first), _ends(second))
    if first[0] != 0 or first[-1] != edges or (first[1:] < first[:-1]).any():
        raise InputError(f"the array 'indptr' must rise from 0 to {edges}")
    _check_range(second, "indices", vertices)
    graph = Graph(offsets=first.astype(np.int64, copy=False), targets=_ends(second))
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
