"""Lines of numbers, read in blocks by compiled code."""

import re
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import MAX_EDGES, check_limits
from host.graph.formats.edges import EdgeBuffer
from host.graph.formats.scanner import Fault, scan
from host.words import counted
from sim.caching.code import njit
from sim.notices import shortened

__all__ = ["BYTE_ORDER_MARK", "LARGEST_ID", "Layout", "Lines", "read_edges", "shown", "words"]

LARGEST_ID = 2**63 - 1
"""Largest vertex id that a text file may name."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some programs write in front of UTF-8 text; it is passed over."""

_BLOCK = 1 << 22  # bytes, and so the longest line
_SHORTEST_LINE = 4  # bytes of "1 2\n"
_LONGEST_TOKEN = 40  # characters of a token that a message shows
_LOOKED_AT = 4096  # bytes of a token that are looked at for a message
_CAUSES = {
    Fault.LINE_TYPE: "{token} begins no edge ({layout.letter!r}) and no comment ({layout.comments!r})",
    Fault.NOT_AN_ID: "{token} is not a vertex id",
    Fault.NEGATIVE: "vertex id {number} is negative",
    Fault.TOO_LARGE: f"vertex id {{token}} is larger than {LARGEST_ID}",
    Fault.OUTSIDE: "vertex id {number} is outside {layout.smallest}..{layout.largest}",
    Fault.TOO_FEW_COLUMNS: "too few columns for {layout.form!r}",
    Fault.TOO_MANY_COLUMNS: "too many columns for {layout.form!r}, from {token} on",
    Fault.NOT_A_NUMBER: "{token} is not a number",
    Fault.BANNER: "a Matrix Market banner, which must be the first line",
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a line of a format looks like.

    Parameters
    ----------
    form : str
        The line in words, for messages: ``SOURCE TARGET``.
    letter : str
        Letter that begins each line with an edge; empty for none.
    comments : str
        One or two characters that begin a comment.
    fewest, most : int
        Number of columns, the two ids included.
    alike : bool
        Whether all lines must have equally many.
    smallest, largest : int
        Range of the ids.
    """

    form: str
    letter: str = ""
    comments: str
    fewest: int
    most: int
    alike: bool
    smallest: int
    largest: int

    def rules(self) -> NDArray[np.int64]:
        """Return the layout as the scanner takes it."""
        letter = ord(self.letter) if self.letter else 0
        comments = ord(self.comments[0]), ord(self.comments[-1])
        return np.array([letter, *comments, self.fewest, self.most, self.smallest, self.largest], dtype=np.int64)

    def cause(self, fault: Fault, token: bytes) -> str:
        """Describe a fault at a token in one line."""
        if (byte := _binary(token)) is not None:
            return f"not text (byte 0x{byte:02x})"
        number = shortened(token.decode("utf-8", "replace"), _LONGEST_TOKEN)
        return _CAUSES[fault].format(layout=self, token=shown(token), number=number)


def _binary(token: bytes) -> int | None:
    """Return the first byte of a token that no text has, if there is one."""
    start = token[:_LOOKED_AT]
    for byte, character in zip(start, start.decode("latin-1"), strict=True):
        if byte < 0x80 and not character.isprintable():
            return byte
    try:
        start.decode()
    except UnicodeDecodeError as error:
        # A character may have been cut in two here.
        if error.end < len(start) or len(start) == len(token):
            return start[error.start]
    return None


def shown(token: bytes) -> str:
    """Return a token of a file in quotes, cut when it is long, unprintable characters escaped."""
    return repr(shortened(token.decode("utf-8", "replace"), _LONGEST_TOKEN))


def words(line: bytes) -> list[bytes]:
    """Return what stands between the blanks of a line."""
    return [word for word in re.split(rb"[ \t]+", line) if word]


class Lines:
    """The lines of a text: one by one while they are a header, then many at a time. They end with LF, CR LF or CR.

    Parameters
    ----------
    stream : binary file
        The text; a byte order mark of UTF-8 in front is passed over.

    Attributes
    ----------
    number : int
        Number of the next line, from 1. Who takes a block counts its lines.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        # One more byte than is ever read: the end of the last line, where it has none.
        self._block = bytearray(_BLOCK + 1)
        self._bytes = np.frombuffer(self._block, dtype=np.uint8)
        self._begin = self._end = 0
        self._ended = False
        self.number = 1
        self._fill()
        if self._block.startswith(BYTE_ORDER_MARK):
            self._begin = len(BYTE_ORDER_MARK)

    def _fill(self) -> None:
        """Move what is left to the front of the block, and read until it is full or the file ends."""
        left = self._block[self._begin : self._end]
        self._block[: len(left)] = left
        self._begin, self._end = 0, len(left)
        with memoryview(self._block) as view:
            while self._end < _BLOCK:
                with view[self._end : _BLOCK] as free:
                    got = self._stream.readinto(free)  # type: ignore[attr-defined]
                if not got:
                    self._ended = True
                    if self._end and self._block[self._end - 1] not in b"\r\n":
                        self._block[self._end] = ord("\n")
                        self._end += 1
                    return
                self._end += got

    def _last_end(self) -> int:
        """Return where the last line that is whole ends; the beginning when none is."""
        newline = self._block.rfind(b"\n", self._begin, self._end)
        # A carriage return that is the last byte so far may be half of a line end.
        read = self._end if self._ended else self._end - 1
        carriage = self._block.rfind(b"\r", max(newline, self._begin), read)
        return max(newline + 1, carriage + 1, self._begin)

    def _whole(self) -> int:
        """Return where the whole lines in the block end, after more has been read if there were none."""
        stop = self._last_end()
        if stop == self._begin and not self._ended:
            self._fill()
            stop = self._last_end()
            if stop == self._begin:
                binary = b"\0" in self._block[: self._end]
                cause = "not text (byte 0x00)" if binary else f"the line is longer than {_BLOCK} bytes"
                raise InputError(cause, line=self.number)
        return stop

    def next(self) -> bytes | None:
        """Take the next line, without its end; None when there is none.

        Raises
        ------
        InputError
            When it is longer than a line may be, or no text.
        """
        stop = self._whole()
        if stop == self._begin:
            return None
        newline = self._block.find(b"\n", self._begin, stop)
        carriage = self._block.find(b"\r", self._begin, stop if newline < 0 else newline)
        end = newline if carriage < 0 else carriage
        line = bytes(self._block[self._begin : end])
        if b"\0" in line:
            raise InputError("not text (byte 0x00)", line=self.number)
        self._begin = end + 1 + (carriage >= 0 and newline == carriage + 1)
        self.number += 1
        return line

    def block(self) -> NDArray[np.uint8]:
        """Take all whole lines that have been read; none when there are no more.

        Returns
        -------
        ndarray of uint8
            The bytes of the lines; they are overwritten by the next call.

        Raises
        ------
        InputError
            When a line is longer than a line may be.
        """
        stop = self._whole()
        begin, self._begin = self._begin, stop
        return self._bytes[begin:stop]


@njit(cache=True, nogil=True)
def _mirror(
    first: NDArray[np.int64], second: NDArray[np.int64], sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> int:
    """Follow each pair by its mirror image, unless that is the same; return the number of pairs."""
    count = 0
    for index in range(len(first)):
        sources[count], targets[count] = first[index], second[index]
        count += 1
        if first[index] != second[index]:
            sources[count], targets[count] = second[index], first[index]
            count += 1
    return count


def read_edges(lines: Lines, layout: Layout, *, expected: int | None = None, mirror: bool = False) -> EdgeBuffer:
    """Read the edges from here to the end of a file.

    Parameters
    ----------
    lines : Lines
        The file, after its header.
    layout : Layout
        What its lines look like.
    expected : int, optional
        Number of edges that the header announced.
    mirror : bool
        Follow each edge by its reverse, self-loops excepted (symmetric matrices).

    Returns
    -------
    EdgeBuffer

    Raises
    ------
    InputError
        At the first line at fault, when the number of edges is not the expected one, or when they need more memory
        than there is.
    """
    rules = layout.rules()
    columns = np.array([0 if layout.alike else -1, 0, 0], dtype=np.int64)
    room = MAX_EDGES if expected is None else expected
    edges = EdgeBuffer()
    first, second = (np.empty(_BLOCK // _SHORTEST_LINE + 1, dtype=np.int64) for _ in range(2))
    mirrored = [np.empty(2 * len(first), dtype=np.int64) for _ in range(2 * mirror)]
    read = 0
    while len(text := lines.block()):
        count, fault, line, start, stop = scan(text, lines.number, rules, columns, room - read, first, second)
        lines.number = line
        if fault == Fault.SURPLUS and expected is None:
            check_limits(0, MAX_EDGES + 1)
        if fault == Fault.SURPLUS:
            raise InputError(f"an edge beyond the {expected} that the header announces", line=line)
        if fault == Fault.OTHER_COLUMNS:
            raise InputError(f"{columns[2]} columns, and line {columns[1]} has {columns[0]}", line=line)
        if fault:
            raise InputError(layout.cause(fault, text[start:stop].tobytes()), line=line)
        read += count
        if mirror:
            count = _mirror(first[:count], second[:count], *mirrored)
            edges.append(mirrored[0][:count], mirrored[1][:count])
        else:
            edges.append(first[:count], second[:count])
    if expected is not None and read < expected:
        raise InputError(f"the header announces {counted(expected, 'edge')}, but only {read:,} follow")
    return edges
