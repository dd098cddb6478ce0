"""Lines of numbers, read in blocks: by Arrow's reader of CSV where they are regular, else by an expression for a line.

No library reads these files by itself. To readers of CSV one blank alone separates, an empty line or a comment is none,
and ``0x1`` may be a number; numpy's and scipy's say less of what is wrong and where; pandas takes a second to import.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.words import counted
from sim.notices import shortened

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BYTE_ORDER_MARK",
    "LARGEST_ID",
    "WORD",
    "Column",
    "Layout",
    "Lines",
    "flags",
    "matched",
    "number",
    "probabilities",
    "probability",
    "read_lines",
    "shown",
    "whole_numbers",
    "words",
]

LARGEST_ID = 2**63 - 1
"""Largest vertex id that a text file may name."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some programs write in front of UTF-8 text; it is passed over."""

WORD = r"[^ \t\n]+"
"""Expression for what stands between blanks."""

_BLOCK = 1 << 22  # bytes, and so the longest line
_LONGEST_COUNT = 4300  # digits that int() takes
_LONGEST_TOKEN = 40  # characters of a token that a message shows
_LOOKED_AT = 4096  # bytes of a token that are looked at for a message
_DECIMAL = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = rf"(?:{_DECIMAL}|[+-]?(?i:nan|inf|infinity))"
_BANNER = "%%matrixmarket"
_MOST_DIGITS = 19  # as many always fit in 64 bits without a sign
_ROUNDED = 1e-9  # by which a probability may be above 1
_SMALLEST_POSITIVE = 5e-324


class Column(NamedTuple):
    """A column of ids."""

    noun: str
    """The text that has them."""
    smallest: int
    largest: int
    """Their range."""

    def fault(self, token: bytes) -> str | None:
        """Say what is wrong with a token of the column; None when nothing is."""
        digits, text = token.removeprefix(b"-"), shown(token)[1:-1]
        significant = digits.lstrip(b"0") or b"0"
        if not digits.isdigit():
            return f"{shown(token)} is not a {self.noun}"
        if digits != token:
            return f"{self.noun} {text} is negative"
        if len(significant) > _MOST_DIGITS or not self.smallest <= int(significant) <= self.largest:
            return f"{self.noun} {text} is outside {self.smallest}..{self.largest}"
        return None


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
        Characters that begin a comment.
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

    @property
    def pattern(self) -> str:
        """Expression that a line matches unless it is at fault: ids by place, what follows them, or a comment.

        What follows is left to `rest`: where the next letter tells what comes, matching is several times as fast.
        """
        ids = [f"(?P<id{place}>[0-9]+)" for place in range(len(self.columns))]
        tokens = [*[self.letter] * bool(self.letter), *ids, *[f"(?P<weight>{WORD})"] * self.weighed]
        row = "[ \t]+".join(tokens) + r"(?P<rest>(?:[ \t].*)?)"
        return rf"^[ \t]*(?:{row}|(?P<comment>[{self.comments}][^\x00\n]*)|)\n$"

    @property
    def rest(self) -> str:
        """Expression that the end of a line matches."""
        before = len(self.columns) + self.weighed
        token = WORD if self.weighed else _NUMBER
        return f"^(?:[ \t]+{token}){{{self.fewest - before},{self.most - before}}}[ \t]*$"

    def fault(self, line: bytes) -> str | None:
        """Say what is wrong with a line; None when it is right by itself."""
        tokens = words(line)
        if tokens and tokens[0].decode("latin-1")[0] in self.comments:
            banner = tokens[0].decode("latin-1").lower().startswith(_BANNER)
            cause = "a Matrix Market banner, which must be the first line" if banner else None
            return "not text (byte 0x00)" if b"\0" in line else cause
        if self.letter and (first := tokens.pop(0)) != self.letter.encode():
            cause = f"{shown(first)} begins no edge ({self.letter!r}) and no comment ({self.comments!r})"
            return self._binary(first) or cause
        for place, token in enumerate(tokens):
            cause = None
            if place < len(self.columns):
                cause = self.columns[place].fault(token)
            elif place == self.most:
                cause = f"too many columns for {self.form!r}, from {shown(token)} on"
            elif not self.weighed:
                cause = None if re.fullmatch(_NUMBER.encode(), token) else f"{shown(token)} is not a number"
            elif place == len(self.columns) and probability(token) is None:
                cause = f"{shown(token)} is not a probability"
            if cause is not None:
                return self._binary(token) or cause
        return f"too few columns for {self.form!r}" if len(tokens) < self.fewest else None

    def _binary(self, token: bytes) -> str | None:
        byte = None if self.weighed else _binary(token)
        return None if byte is None else f"not text (byte 0x{byte:02x})"


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
        Number of the next line, from 1.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._rest = b""
        self.number = 1
        self._ready = io.BytesIO(self._whole().removeprefix(BYTE_ORDER_MARK))

    def _whole(self) -> bytes:
        """Read the next whole lines, each of which then ends with LF; nothing at the end of the file."""
        text = self._rest + self._stream.read(_BLOCK - len(self._rest))
        ended = len(text) < _BLOCK
        if ended and text and not text.endswith((b"\n", b"\r")):
            text += b"\n"
        stop = text.rfind(b"\n") + 1
        # A carriage return that is the last byte so far may be half of a line end.
        stop = max(stop, text.rfind(b"\r", stop, len(text) if ended else -1) + 1)
        text, self._rest = text[:stop], text[stop:]
        if self._rest and not text:
            cause = "not text (byte 0x00)" if b"\0" in self._rest else f"the line is longer than {_BLOCK} bytes"
            raise InputError(cause, line=self.number)
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def next(self) -> bytes | None:
        """Take the next line, without its end; None when there is none.

        Raises
        ------
        InputError
            When it is longer than a line may be, or no text.
        """
        if not (line := self._ready.readline()):
            self._ready = io.BytesIO(self._whole())
            if not (line := self._ready.readline()):
                return None
        if b"\0" in line:
            raise InputError("not text (byte 0x00)", line=self.number)
        self.number += 1
        return line[:-1]

    def block(self) -> bytes:
        """Take all whole lines that have been read, each with LF behind; none when there are no more.

        Raises
        ------
        InputError
            When a line is longer than a line may be.
        """
        text = self._ready.read() or self._whole()
        self.number += text.count(b"\n")
        return text


def probability(token: bytes) -> float | None:
    """Return the probability that a token is; None when it is none.

    It is a decimal number from 0 to 1 (as much as rounding adds allowed), or a fraction of whole numbers as ``1/3``.
    What is not 0 in the text is above 0 also where it is too small for a float.
    """
    if fraction := re.fullmatch(rb"([+-]?[0-9]{1,300})/([0-9]{1,300})", token):
        above, below = int(fraction[1]), int(fraction[2])
        positive, value = above != 0, above / below if below else np.inf
    elif re.fullmatch(_DECIMAL.encode(), token):
        positive, value = re.match(rb"[^eE]*[1-9]", token) is not None, float(token)
    else:
        return None
    if not positive:
        return 0.0
    if token.startswith(b"-") or value > 1 + _ROUNDED:
        return None
    return min(max(value, _SMALLEST_POSITIVE), 1.0)


def probabilities(tokens: "pa.Array") -> NDArray[np.float64]:
    """Return the probability that each of some tokens is, NaN for none: equal ones, as most are, are read once."""
    encoded = tokens.dictionary_encode()
    values = np.array([probability(token) for token in encoded.dictionary.to_pylist()], np.float64)
    return values[np.from_dlpack(encoded.indices)]


def whole_numbers(tokens: "pa.Array") -> NDArray[np.int64]:
    """Return tokens of digits as numbers; a negative one for those beyond 64 bits with a sign."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = tokens.cast(pa.string())
    if (pc.max(pc.binary_length(digits)).as_py() or 0) > _MOST_DIGITS:
        digits = pc.replace_substring_regex(digits, "^0+([0-9])", r"\1")
        digits = pc.if_else(pc.greater(pc.binary_length(digits), _MOST_DIGITS), str(2**64 - 1), digits)
    return np.from_dlpack(digits.cast(pa.uint64())).view(np.int64)


def flags(values: "pa.Array") -> NDArray[np.bool_]:
    """Return truth values, or which of some numbers are not 0, as an array."""
    import pyarrow as pa

    return np.from_dlpack(values.cast(pa.bool_()).cast(pa.uint8())).astype(np.bool_)


def matched(text: bytes, pattern: str) -> "tuple[NDArray[np.bool_], dict[str, pa.Array]]":
    """Match each line of a text, of which every one ends with LF.

    Parameters
    ----------
    text : bytes
        The lines.
    pattern : str
        The expression, with groups that have names.

    Returns
    -------
    faults : ndarray of bool, shape (lines,)
        Which lines do not match.
    groups : dict of str to Array
        What each group has matched in each line; empty where it has no part in it.
    """
    # Here, as it takes a tenth of a second that regular files need not wait. Of Arrow only what does not import pandas,
    # which takes a second, is used: not its `array`, `scalar` and `to_numpy`.
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    lines = pa.Array.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    found = pc.extract_regex(lines, pattern)
    names = [found.type.field(place).name for place in range(found.type.num_fields)]
    # The groups of a line that does not match are missing, and empty where nobody says so.
    groups = [pa.Array.from_buffers(pa.binary(), len(ends), [None, *group.buffers()[1:]]) for group in found.flatten()]
    return flags(found.is_null()), dict(zip(names, groups, strict=True))


class _Rows:
    """Rows of numbers in blocks of lines.

    Parameters
    ----------
    layout : Layout
        What lines look like.
    room : int, optional
        Number of rows that may follow.
    """

    def __init__(self, layout: Layout, room: int | None) -> None:
        self._layout, self._pattern, self._announced = layout, layout.pattern, room
        self.room = room
        self._usual = 0, 0  # columns of all rows, and the line of the first

    def _outside(self, ids: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Return in which rows an id is outside of its column's range."""
        found = np.zeros(len(ids[0]), np.bool_)
        for column, values in zip(self._layout.columns, ids, strict=True):
            found |= (values < column.smallest) | (values > column.largest)
        return found

    def regular(self, text: bytes, line: int) -> list[NDArray[Any]] | None:
        """Read lines of equally many numbers, with blanks between; None when they are others, or any is at fault.

        This takes a quarter of the time of `matched`.
        """
        # Arrow takes more for numbers than is one here, but only with other letters.
        if text.translate(None, f"0123456789 \t\n.+-eE{self._layout.letter}".encode()):
            return None
        if (found := self._separated(text, line)) is not None:
            return found
        text = text.replace(b"\t", b" ")
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        return self._separated(text.replace(b" \n", b"\n").replace(b"\n ", b"\n").lstrip(b" "), line)

    def _separated(self, text: bytes, line: int) -> list[NDArray[Any]] | None:
        """Read lines as `regular` does, with one blank between numbers."""
        import pyarrow as pa
        from pyarrow import csv

        layout, ids, letters = self._layout, len(self._layout.columns), len(self._layout.letter)
        first = text[: text.index(b"\n")].decode()
        blank = "\t" if "\t" in first else " "
        count = first.count(blank) + 1 - letters
        if not layout.fewest <= count <= layout.most or (layout.alike and self._usual[0] not in (0, count)):
            return None
        types = [*[pa.bool_()] * letters, *[pa.uint64()] * ids, *[pa.float64()] * (count - ids)]
        names = [str(place) for place, _ in enumerate(types)]
        try:
            table = csv.read_csv(
                pa.BufferReader(text),
                csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                csv.ParseOptions(delimiter=blank, quote_char=False, ignore_empty_lines=False),
                # The letter is the only truth there is, and nothing may be missing.
                csv.ConvertOptions(
                    column_types=dict(zip(names, types, strict=True)),
                    null_values=[],
                    true_values=[layout.letter],
                    false_values=[],
                ),
            )
        except pa.ArrowInvalid:
            return None
        found = [np.from_dlpack(column.combine_chunks()) for column in table.columns[letters:]]
        columns = [values.view(np.int64) for values in found[:ids]]
        if (self.room is not None and len(columns[0]) > self.room) or self._outside(columns).any():
            return None
        if layout.weighed:
            # What is 0 may only have become so.
            if not ((found[ids] > 0) & (found[ids] <= 1 + _ROUNDED)).all():
                return None
            columns += [found[ids].clip(max=1.0), line + np.arange(len(found[ids]))]
        self._usual = self._usual if self._usual[0] else (count, line)
        return columns

    def matched(self, text: bytes, line: int) -> list[NDArray[Any]]:
        """Read any lines; `line` is the number of the first."""
        import pyarrow.compute as pc

        faults, groups = matched(text, self._pattern)
        numbered = pc.binary_length(groups["id0"]).cast("bool")
        rows = np.flatnonzero(flags(numbered))
        found = {name: group.filter(numbered) for name, group in groups.items()}
        columns: list[NDArray[Any]] = [
            whole_numbers(found[f"id{place}"]) for place, _ in enumerate(self._layout.columns)
        ]
        wrong = self._outside(columns)
        if self._layout.weighed:
            columns += [probabilities(found["weight"]), line + rows]
            wrong |= np.isnan(columns[-2])
        wrong |= ~flags(pc.match_substring_regex(found["rest"], self._layout.rest))
        counts: NDArray[Any] = np.empty(0, np.int64)
        if self._layout.alike and len(rows):
            counts = np.from_dlpack(pc.count_substring_regex(found["rest"], WORD)) + len(self._layout.columns)
            self._usual = self._usual if self._usual[0] else (int(counts[0]), line + int(rows[0]))
            wrong |= counts != self._usual[0]
        if self.room is not None:
            wrong[self.room :] = True
        faults[rows] = wrong
        faults |= flags(pc.starts_with(groups["comment"], _BANNER, ignore_case=True))
        if faults.any():
            place = int(faults.argmax())
            cause = self._layout.fault(text.split(b"\n", place + 1)[place])
            raise InputError(cause or self._fault(int(np.searchsorted(rows, place)), counts), line=line + place)
        return columns

    def _fault(self, row: int, counts: NDArray[np.int64]) -> str:
        """Say what is wrong with a row of a block that is right by itself."""
        if self.room is not None and row >= self.room:
            beyond = "a transition beyond the" if self._layout.weighed else "an edge beyond the"
            return f"{beyond} {self._announced:{',' if self._layout.weighed else ''}} that the header announces"
        return f"{counts[row]} columns, and line {self._usual[1]} has {self._usual[0]}"


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
        Columns of ids; of transitions also the probabilities, and the numbers of the lines that have them.

    Raises
    ------
    InputError
        At the first line at fault, or when the number of lines is not the expected one.
    """
    rows, line = _Rows(layout, expected), lines.number
    while text := lines.block():
        found = rows.regular(text, line) or rows.matched(text, line)
        line = lines.number
        if rows.room is not None:
            rows.room -= len(found[0])
        yield found
    if expected is not None and rows.room:
        announced = counted(expected, "transition" if layout.weighed else "edge")
        raise InputError(f"the header announces {announced}, but only {expected - rows.room:,} follow")
