"""Arrays as numpy saves them (.npz): a zip archive, of whose members nothing is read that has not been looked at."""

import ast
import io
import lzma
import re
import struct
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.formats.text import shown

__all__ = ["Archive", "Header"]

_MAGIC = b"\x93NUMPY"
_LENGTH = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}
"""Bytes that hold the length of a header, by the version of its form."""

_LONGEST_HEADER = 10_000
_LARGEST_READ = 1 << 20
"""Bytes that the list of members, and any part of a member, may have: what is read at once."""

_PIECE = {zipfile.ZIP_STORED: _LARGEST_READ, zipfile.ZIP_DEFLATED: _LARGEST_READ}
_SMALL_PIECE = 1 << 12
"""Bytes read at once where the unpacker has no bound for what becomes of them: bzip2 and LZMA."""

_ENCRYPTED = 1


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a member says of its array.

    Parameters
    ----------
    dtype : dtype
        Type of its entries.
    shape : tuple of int
        Its extents.
    start : int
        Bytes of the member before the entries.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int

    @property
    def bytes(self) -> int:
        """Bytes of the entries."""
        return prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        extents = " x ".join(f"{extent:,}" for extent in self.shape)
        return f"{extents} of {self.dtype}" if self.shape else f"one {self.dtype}"


class _Guarded(io.RawIOBase):
    """The archive as `zipfile` sees it: it cannot be made to read all of a file at once."""

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
    """Turn what is raised for a damaged archive into one line."""
    try:
        yield
    except (
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
        *(EOFError, ValueError, NotImplementedError, RuntimeError, OverflowError, LookupError),
    ) as error:
        raise InputError(f"damaged .npz file: {str(error) or 'it is cut short'}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        # Of bzip2: what the system refuses has a number.
        raise InputError(f"damaged .npz file: {error}") from None


class Archive:
    """An archive of arrays.

    Parameters
    ----------
    stream : binary file
        The file; it must be seekable.

    Raises
    ------
    InputError
        When it is no such archive.
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

    def header(self, name: str) -> Header:
        """Return what a member says of its array; the member is as long as that array, and no object is made.

        Raises
        ------
        InputError
            When it is missing or damaged, or is no array of numbers or letters.
        """
        member = self._member(name)
        with _damage(), self._zip.open(member) as file:
            header = _header(file, name)
        if member.file_size != header.start + header.bytes:
            raise InputError(
                f"damaged .npz file: the array '{name}' is {header}, which takes {header.bytes:,} bytes, "
                f"and has {member.file_size - header.start:,}"
            )
        return header

    def read(self, name: str, header: Header) -> NDArray[Any]:
        """Return an array whose header has been read, and for whose bytes there is room."""
        data = np.empty(header.bytes, dtype=np.uint8)
        done = 0
        for piece in self._pieces(name, header):
            data[done : done + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            done += len(piece)
        return data.view(header.dtype).reshape(header.shape)

    def check(self, name: str, header: Header) -> None:
        """Read an array only to see whether it is damaged."""
        for _ in self._pieces(name, header):
            pass

    def _pieces(self, name: str, header: Header) -> Iterator[bytes]:
        member = self._member(name)
        size = _PIECE.get(member.compress_type, _SMALL_PIECE)
        with _damage(), self._zip.open(member) as file:
            _exactly(file, header.start)
            left = header.bytes
            while left:
                piece = _exactly(file, min(left, size))
                left -= len(piece)
                yield piece


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _header(file: IO[bytes], name: str) -> Header:
    """Read the header of an array."""
    start = _exactly(file, len(_MAGIC) + 2)
    length_bytes = _LENGTH.get(start[len(_MAGIC) :])
    if not start.startswith(_MAGIC) or length_bytes is None:
        raise ValueError(f"'{name}.npy' does not begin as an array of numpy's")
    length = int.from_bytes(_exactly(file, length_bytes), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"the header of '{name}' has {length:,} bytes")
    dtype, shape = _description(_exactly(file, length).decode("latin-1"), name)
    return Header(dtype=dtype, shape=shape, start=len(start) + length_bytes + length)


def _description(text: str, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return type and shape from the text of a header."""
    written = text.strip(" \n")
    wrong = ValueError(f"the header of '{name}' is {shown(written.encode())}")
    with warnings.catch_warnings():
        # Python warns of strange literals, numpy of old types: what is wrong is told once, below.
        warnings.simplefilter("ignore")
        try:
            # Python 2 wrote an L behind a long number. What is a blank to Unicode alone is none here, nor to numpy.
            fields = ast.literal_eval(re.sub(r"(\d)L\b", r"\1", written))
            description, shape, fortran = str(fields["descr"]), fields["shape"], fields["fortran_order"]
            dtype = np.dtype(description)
        except (ValueError, TypeError, LookupError, SyntaxError, MemoryError, RecursionError):
            raise wrong from None
    known = isinstance(shape, tuple) and all(type(extent) is int and extent >= 0 for extent in shape)
    if not known or type(fortran) is not bool or set(fields) != {"descr", "fortran_order", "shape"}:
        raise wrong
    if dtype.kind not in "biufcSU" or dtype.itemsize == 0:
        raise InputError(f"the array '{name}' holds {shown(description.encode())}, not numbers")
    return dtype, shape
