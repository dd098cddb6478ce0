"""Lines of numbers, read in blocks by compiled code."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import MAX_EDGES, check_limits
from host.graph.formats.scanner import Fault, scan
from host.words import counted
from sim.notices import shortened

__all__ = ["BYTE_ORDER_MARK", "LARGEST_ID", "Column", "Layout", "Lines", "number", "read_lines", "shown", "words"]

LARGEST_ID = 2**63 - 1
"""Largest vertex id that a text file may name."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some programs write in front of UTF-8 text; it is passed over."""

_LINE_END = re.compile(rb"\r\n?|\n")
_BLOCK = 1 << 22  # bytes, and so the longest line
_LONGEST_COUNT = 4300  # digits that int() takes
_LONGEST_TOKEN = 40  # characters of a token that a message shows
_LOOKED_AT = 4096  # bytes of a token that are looked at for a message
_CAUSES = {
    Fault.LINE_TYPE: "{token} begins no edge ({layout.letter!r}) and no comment ({layout.comments!r})",
    Fault.NOT_AN_ID: "{token} is not a {column.noun}",
    Fault.NEGATIVE: "{column.noun} {number} is negative",
    Fault.TOO_LARGE: f"{{column.noun}} {{token}} is larger than {LARGEST_ID}",
    Fault.OUTSIDE: "{column.noun} {number} is outside {column.smallest}..{column.largest}",
    Fault.TOO_FEW_COLUMNS: "too few columns for {layout.form!r}",
    Fault.TOO_MANY_COLUMNS: "too many columns for {layout.form!r}, from {token} on",
    Fault.NOT_A_NUMBER: "{token} is not a number",
    Fault.NOT_A_PROBABILITY: "{token} is not a probability",
    Fault.OTHER_COLUMNS: "{columns} columns, and line {seen[1]} has {seen[0]}",
    Fault.SURPLUS: "{surplus} that the header announces",
    Fault.NOT_TEXT: "not text (byte 0x00)",
    Fault.BANNER: "a Matrix Market banner, which must be the first line",
    Fault.SURPLUS_STATE: "a state beyond the {states:,} that the header announces",
    Fault.OTHER_STATE: "expected state {state}, not {token}",
    Fault.NO_STATE: "an action before the first state",
    Fault.NO_ACTION: "expected 'action NAME' before the transition, not {token}",
    Fault.NO_CHOICES: "state {state} has no choices",
    Fault.NO_TRANSITIONS: "choice {choice} of state {state} has no transitions",
    Fault.NO_COLON: "expected {layout.form!r}, not {token}",
}


class Column(NamedTuple):
    """A column of ids."""

    noun: str
    """The text that has them."""
    smallest: int
    largest: int
    """Their range."""
    told: Mapping[Fault, Fault] = MappingProxyType({})
    """Faults that messages tell as others."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a line of a format looks like.

    Parameters
    ----------
    form : str
        The line in words, for messages: ``SOURCE TARGET``.
    letter : str
        Letter that begins each line of ids; empty for none.
    comments : str
        One or two characters that begin a comment.
    columns : tuple of Column
        The ids.
    fewest, most : int
        Number of columns, the ids included.
    alike : bool
        Whether all lines must have equally many.
    weighed : bool
        Whether lines are transitions: a probability follows the ids, and perhaps a word. Otherwise they are edges, and
        numbers may follow.
    """

    form: str
    letter: str = ""
    comments: str
    columns: tuple[Column, ...]
    fewest: int
    most: int
    alike: bool = False
    weighed: bool = False

    def error(self, fault: Fault, token: bytes, line: int, column: int = 0, **values: object) -> InputError:
        """Return what a fault at a token is told as, in one line."""
        own = self.columns[min(column, len(self.columns) - 1)]
        byte = None if self.weighed else _binary(token)
        cause = _CAUSES[own.told.get(fault, fault)] if byte is None else f"not text (byte 0x{byte:02x})"
        quoted = shown(token)
        text = cause.format(layout=self, column=own, token=quoted, number=quoted[1:-1], **values)
        return InputError(text, line=line)


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


def number(token: bytes, what: str) -> int:
    """Read a count of a header.

    Parameters
    ----------
    token : bytes
        The digits.
    what : str
        What it counts, for the message.

    Raises
    ------
    InputError
        When it is not a whole number, or negative.
    """
    digits = token.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > _LONGEST_COUNT:
        raise InputError(f"{shown(token)} is not a number of {what}")
    if digits != token:
        raise InputError(f"the number of {what}, {token.decode()}, is negative")
    return int(digits)


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
        found = next(_LINE_END.finditer(self._block, self._begin, stop))
        line = bytes(self._block[self._begin : found.start()])
        if b"\0" in line:
            raise InputError("not text (byte 0x00)", line=self.number)
        self._begin = found.end()
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


def read_lines(lines: Lines, layout: Layout, *, expected: int | None = None) -> Iterator[list[NDArray[Any]]]:
    """Read the lines from here to the end of a file, block by block.

    Parameters
    ----------
    lines : Lines
        The file, after its header.
    layout : Layout
        What its lines look like.
    expected : int, optional
        Number of lines with ids that the header announced.

    Yields
    ------
    list of ndarray
        Three columns of ids, the probabilities, and the numbers of the lines that have them; of edges the first two
        columns only, the rest is empty. They are overwritten by the next block.

    Raises
    ------
    InputError
        At the first line at fault, or when the number of lines is not the expected one.
    """
    characters = (layout.letter or "\0", layout.comments[0], layout.comments[-1])
    first, second, *_ = layout.columns
    rules = (
        *map(ord, characters),
        *(layout.fewest, layout.most, int(layout.weighed)),
        *(len(layout.columns), first.smallest, first.largest, second.largest),
    )
    seen = np.array([0 if layout.alike else -1, 0])
    # The shortest lines have digits, each with a blank or a line end behind.
    room = _BLOCK // (2 * layout.fewest) + 1
    third, weights, places = (np.empty(room * layout.weighed, dtype) for dtype in (np.int64, np.float64, np.int64))
    numbers = np.empty(room, np.int64), np.empty(room, np.int64), third
    read, most = 0, MAX_EDGES if expected is None else expected
    while len(text := lines.block()):
        count, fault, line, start, stop, column = scan(
            text, lines.number, rules, seen, most - read, numbers, weights, places
        )
        lines.number = line
        if fault == Fault.SURPLUS and expected is None and not layout.weighed:
            check_limits(0, MAX_EDGES + 1)
        if fault:
            surplus = f"a transition beyond the {most:,}" if layout.weighed else f"an edge beyond the {most}"
            raise layout.error(
                fault, text[start:stop].tobytes(), line, column, seen=seen, columns=column, surplus=surplus
            )
        read += count
        yield [each[:count] for each in (*numbers, weights, places)]
    if expected is not None and read < expected:
        announced = counted(expected, "transition" if layout.weighed else "edge")
        raise InputError(f"the header announces {announced}, but only {read:,} follow")
