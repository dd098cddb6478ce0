"""Lines of numbers, read in blocks.

Valid edges and comments are read by compiled code, other regular lines by Arrow's CSV reader, and the rest, which is
mostly invalid, by a regular expression per line.

No library reads these files as they are. CSV readers accept only a single blank as separator, do not skip empty lines
and comments, and may accept ``0x1`` as a number; the readers of numpy and scipy report errors less precisely; pandas
takes a second to import, and Arrow longer than most files take to read.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.sim.caching.code import njit
from cyscc.sim.notices import shortened

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
    "shortage_text",
    "shown",
    "surplus_text",
    "tokens_of",
    "whole_numbers",
    "words",
]

LARGEST_ID = 2**63 - 1
"""Largest vertex id that a text file may name."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Byte order mark that some programs write before UTF-8 text; skipped."""

WORD = r"[^ \t\n]+"
"""Regular expression of a token between blanks."""

_BLOCK = 1 << 22  # bytes, and so the longest line
_LONGEST_HEADER = 1 << 24  # bytes, comments included
_MOST_BARREN = 1 << 26  # bytes of comments and empty lines without an edge
_LONGEST_COUNT = 4300  # digits that int() takes
_LONGEST_TOKEN = 40  # characters of a token that a message shows
_LOOKED_AT = 4096  # bytes of a token that are inspected for a message
_DECIMAL = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = rf"(?:{_DECIMAL}|[+-]?(?i:nan|inf|infinity))"
_BANNER = "%%matrixmarket"
_MOST_DIGITS = 19  # always fits in an unsigned 64-bit integer
_SHORT_ID = 18  # digits that fit in a signed 64-bit integer
_ROUNDED = 1e-9  # tolerance above 1 of a probability
_SMALLEST_POSITIVE = 5e-324


class Column(NamedTuple):
    """A column of ids."""

    noun: str
    """Noun for messages."""
    smallest: int
    largest: int
    """Largest id allowed."""

    def fault(self, token: bytes) -> str | None:
        """Return the error in a token of the column, or None."""
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
    """Layout of a line of a format.

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
        Number of columns, including the ids.
    alike : bool
        Whether all lines must have the same number of columns.
    weighed : bool
        Whether lines are transitions, with a probability and optionally a word after the ids. Otherwise they are edges,
        optionally with numbers after the ids.
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
    def noun(self) -> str:
        """Noun of a line with ids, for messages."""
        return "transition" if self.weighed else "edge"

    @property
    def pattern(self) -> str:
        """Regular expression of a valid line: its ids and the rest, or a comment.

        The rest is matched separately by `rest`: matching is several times faster if each next character decides the
        path.
        """
        ids = [f"(?P<id{place}>[0-9]+)" for place in range(len(self.columns))]
        tokens = [*[self.letter] * bool(self.letter), *ids, *[f"(?P<weight>{WORD})"] * self.weighed]
        row = "[ \t]+".join(tokens) + r"(?P<rest>(?:[ \t].*)?)"
        return rf"^[ \t]*(?:{row}|(?P<comment>[{self.comments}][^\x00\n]*)|)\n$"

    @property
    def rest(self) -> str:
        """Regular expression of the end of a line, after the ids."""
        before = len(self.columns) + self.weighed
        token = WORD if self.weighed else _NUMBER
        return f"^(?:[ \t]+{token}){{{self.fewest - before},{self.most - before}}}[ \t]*$"

    def fault(self, line: bytes) -> str | None:
        """Return the error in a line, or None if the line is valid by itself."""
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
    """Return the first byte of a token that is not valid text, or None."""
    start = token[:_LOOKED_AT]
    for byte, character in zip(start, start.decode("latin-1"), strict=True):
        if byte < 0x80 and not character.isprintable():
            return byte
    try:
        start.decode()
    except UnicodeDecodeError as error:
        # The cut may have split a character.
        if error.end < len(start) or len(start) == len(token):
            return start[error.start]
    return None


def shown(token: bytes) -> str:
    """Return a token of a file in quotes, shortened, with unprintable characters escaped."""
    return repr(shortened(token.decode("utf-8", "replace"), _LONGEST_TOKEN))


def words(line: bytes) -> list[bytes]:
    """Return the tokens of a line."""
    return [word for word in re.split(rb"[ \t]+", line) if word]


def number(token: bytes, what: str) -> int:
    """Parse a count in a header.

    Parameters
    ----------
    token : bytes
        The digits.
    what : str
        Noun for the message.

    Raises
    ------
    InputError
        The token is not a nonnegative integer.
    """
    digits = token.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > _LONGEST_COUNT:
        raise InputError(f"{shown(token)} is not a number of {what}")
    if digits != token:
        raise InputError(f"the number of {what}, {token.decode()}, is negative")
    return int(digits)


class Lines:
    """The lines of a text, read one by one (headers) or in blocks. Line ends are LF, CR LF or CR.

    Parameters
    ----------
    stream : binary file
        The text; a leading UTF-8 byte order mark is skipped.

    Attributes
    ----------
    number : int
        Number of the next line, from 1.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._rest = b""
        self._header = self._barren = 0
        self.number = 1
        self._ready = io.BytesIO(self._whole().removeprefix(BYTE_ORDER_MARK))

    def _whole(self) -> bytes:
        """Read the next complete lines, with line ends converted to LF; empty at the end of the file."""
        text = self._rest + self._stream.read(_BLOCK - len(self._rest))
        ended = len(text) < _BLOCK
        if ended and text and not text.endswith((b"\n", b"\r")):
            text += b"\n"
        stop = text.rfind(b"\n") + 1
        # A carriage return at the end of the data may be the first half of CR LF.
        stop = max(stop, text.rfind(b"\r", stop, len(text) if ended else -1) + 1)
        text, self._rest = text[:stop], text[stop:]
        if self._rest and not text:
            cause = "not text (byte 0x00)" if b"\0" in self._rest else f"the line is longer than {_BLOCK} bytes"
            raise InputError(cause, line=self.number)
        # Looking for two characters takes as long as parsing.
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text

    def next(self) -> bytes | None:
        """Return the next line of the header without its end, or None at the end of the file.

        Raises
        ------
        InputError
            The line or the header is too long, or not text.
        """
        if not (line := self._ready.readline()):
            self._ready = io.BytesIO(self._whole())
            if not (line := self._ready.readline()):
                return None
        if b"\0" in line:
            raise InputError("not text (byte 0x00)", line=self.number)
        self._header += len(line)
        if self._header > _LONGEST_HEADER:
            raise InputError(f"the header is longer than {_LONGEST_HEADER} bytes", line=self.number)
        self.number += 1
        return line[:-1]

    def block(self) -> bytes:
        """Return a block of complete lines, each ending with LF; empty at the end of the file.

        Raises
        ------
        InputError
            A line is too long.
        """
        text = self._ready.read() or self._whole()
        # The lines of the header would occupy a block's memory until the file ends.
        self._ready = io.BytesIO()
        self.number += text.count(b"\n")
        self._barren += len(text)
        return text

    def unread(self, line: bytes) -> None:
        """Put a line that `next` returned back."""
        self._ready = io.BytesIO(line + b"\n" + self._ready.read())
        self.number -= 1

    def check_yield(self, found: int, noun: str) -> None:
        """Take the number of rows in the last block: a few megabytes of gzip data may be hours of empty lines.

        Raises
        ------
        InputError
            There was none for long.
        """
        if found:
            self._barren = 0
        elif self._barren > _MOST_BARREN:
            raise InputError(f"more than {_MOST_BARREN} bytes without {noun}", line=self.number)


def probability(token: bytes) -> float | None:
    """Parse a probability; return None if the token is not one.

    It is a decimal number from 0 to 1 (with a tolerance for rounding), or a fraction of integers such as ``1/3``. A
    nonzero text gives a value above 0, even if it is too small for a float.
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
    """Parse probabilities, NaN for invalid tokens; equal tokens, which are frequent, are parsed once."""
    encoded = tokens.dictionary_encode()
    values = np.array([probability(token) for token in encoded.dictionary.to_pylist()], np.float64)
    return values[np.from_dlpack(encoded.indices)]


def whole_numbers(tokens: "pa.Array") -> NDArray[np.int64]:
    """Convert tokens of digits to integers; a token beyond signed 64 bits becomes negative."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = tokens.cast(pa.string())
    if (pc.max(pc.binary_length(digits)).as_py() or 0) > _MOST_DIGITS:
        digits = pc.replace_substring_regex(digits, "^0+([0-9])", r"\1")
        digits = pc.if_else(pc.greater(pc.binary_length(digits), _MOST_DIGITS), str(2**64 - 1), digits)
    return np.from_dlpack(digits.cast(pa.uint64())).view(np.int64)


def flags(values: "pa.Array") -> NDArray[np.bool_]:
    """Convert Arrow booleans, or numbers compared with 0, to a bool array."""
    import pyarrow as pa

    return np.from_dlpack(values.cast(pa.bool_()).cast(pa.uint8())).astype(np.bool_)


def matched(text: bytes, pattern: str) -> "tuple[NDArray[np.bool_], dict[str, pa.Array]]":
    """Match each line of a text, whose lines all end with LF.

    Parameters
    ----------
    text : bytes
        The lines.
    pattern : str
        Regular expression with named groups.

    Returns
    -------
    faults : ndarray of bool, shape (lines,)
        Lines that do not match.
    groups : dict of str to Array
        Text of each group in each line; empty if the group did not take part in the match.
    """
    # Imported here because the import takes a tenth of a second, which regular files do not need. Arrow's `array`,
    # `scalar` and `to_numpy` are avoided: they import pandas, which takes a second.
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    lines = pa.Array.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    found = pc.extract_regex(lines, pattern)
    names = [found.type.field(place).name for place in range(found.type.num_fields)]
    # Groups of a line that does not match are null; replace them by empty strings.
    groups = [pa.Array.from_buffers(pa.binary(), len(ends), [None, *group.buffers()[1:]]) for group in found.flatten()]
    return flags(found.is_null()), dict(zip(names, groups, strict=True))


def tokens_of(texts: "pa.Array") -> bytes:
    """Return the tokens of all texts, one on each line; a text begins with a blank unless it is empty."""
    flat = texts.buffers()[2]
    lines = re.sub(rb"[ \t]+", b"\n", flat.to_pybytes().strip(b" \t") if flat else b"")
    return lines + b"\n" if lines else b""


def surplus_text(announced: int, noun: str) -> str:
    """Return the error in a row beyond the number that the header announces."""
    count = f"an edge beyond the {announced}" if noun == "edge" else f"a {noun} beyond the {announced:,}"
    return f"{count} that the header announces"


def shortage_text(announced: int, found: int, noun: str) -> str:
    """Return the error in a file with fewer rows than the header announces."""
    return f"the header announces {count_text(announced, noun)}, but only {found:,} follow"


_TAB, _LINE_END, _SPACE, _PLUS, _MINUS, _POINT, _ZERO, _NINE = b"\t\n +-.09"
_PERCENT = ord("%")
_ASCII = 128


@njit(cache=True, nogil=True)
def _parse(
    text: NDArray[np.uint8],
    letter: int,
    comments: NDArray[np.uint8],
    limits: NDArray[np.int64],
    counts: tuple[int, int, bool],
    ids: NDArray[np.int64],
    usual: NDArray[np.int64],
) -> int:
    """Parse lines of ids and plain numbers, each ending with LF, and comments; return the number of rows.

    Returns -1 for anything else, also if it is valid.

    Parameters
    ----------
    text : ndarray of uint8
        The lines.
    letter : int
        Letter that begins each row, 0 for none.
    comments : ndarray of uint8
        Characters that begin a comment.
    limits : ndarray of int64, shape (columns, 2)
        Least and largest id of each column.
    counts : tuple
        Fewest and most columns, and whether all rows have the same number of them.
    ids : ndarray of int64, shape (columns, lines)
        The ids, which are written.
    usual : ndarray of int64, shape (2,)
        Columns of the first row, and its place among the lines; written if they are 0.
    """
    fewest, most, alike = counts
    at = line = rows = 0
    # A single way out: numba would count references to the arrays at others, which code that is kept cannot.
    valid = True
    while valid and at < text.size:
        while text[at] == _SPACE or text[at] == _TAB:
            at += 1
        first = text[at]
        is_comment = False
        for comment in comments:
            is_comment |= first == comment
        if is_comment:
            # It may be a banner of Matrix Market.
            valid = first != _PERCENT or text[at + 1] != _PERCENT
            while text[at] != _LINE_END:
                valid &= 0 < text[at] < _ASCII
                at += 1
        elif first != _LINE_END:
            if letter:
                at += 1
                valid = first == letter and (text[at] == _SPACE or text[at] == _TAB)
                while text[at] == _SPACE or text[at] == _TAB:
                    at += 1
            columns = 0
            while valid and text[at] != _LINE_END:
                begin = at
                if columns < limits.shape[0]:
                    number = np.int64(0)
                    while _ZERO <= text[at] <= _NINE:
                        number = 10 * number + np.int64(text[at] - _ZERO)
                        at += 1
                    ids[columns, rows] = number
                    valid = at - begin <= _SHORT_ID and limits[columns, 0] <= number <= limits[columns, 1]
                else:
                    if text[at] == _PLUS or text[at] == _MINUS:
                        at += 1
                        begin = at
                    while _ZERO <= text[at] <= _NINE:
                        at += 1
                    if at > begin and text[at] == _POINT:
                        at += 1
                        while _ZERO <= text[at] <= _NINE:
                            at += 1
                valid &= at > begin and (text[at] == _SPACE or text[at] == _TAB or text[at] == _LINE_END)
                columns += 1
                while text[at] == _SPACE or text[at] == _TAB:
                    at += 1
            if usual[0] == 0:
                usual[0], usual[1] = columns, line
            valid &= fewest <= columns <= most and (not alike or columns == usual[0])
            rows += 1
        at += 1
        line += 1
    return rows if valid else -1


class _Rows:
    """Parser of blocks of lines into rows of numbers.

    Parameters
    ----------
    layout : Layout
        Layout of a line.
    room : int, optional
        Largest number of rows.
    """

    def __init__(self, layout: Layout, room: int | None) -> None:
        self._layout, self._pattern, self._announced = layout, layout.pattern, room
        self.room = room
        self._usual = 0, 0  # columns of every row, and the line of the first row

    def _outside(self, ids: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Return a mask of the rows with an id outside of its column's range."""
        found = np.zeros(len(ids[0]), np.bool_)
        for column, values in zip(self._layout.columns, ids, strict=True):
            found |= (values < column.smallest) | (values > column.largest)
        return found

    def regular(self, text: bytes, line: int, lines: int) -> list[Any] | None:
        """Parse lines with equally many numbers, separated by blanks; return None for other or malformed lines.

        Takes a quarter of the time of `matched`, or less.
        """
        if not self._layout.weighed and (plain := self._plain(text, line, lines)) is not None:
            return plain
        # Arrow accepts more forms of numbers than this format, but these contain other characters.
        if text.translate(None, f"0123456789 \t\n.+-eE{self._layout.letter}".encode()):
            return None
        if (found := self._separated(text, line)) is not None:
            return found
        text = text.replace(b"\t", b" ")
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        return self._separated(text.replace(b" \n", b"\n").replace(b"\n ", b"\n").lstrip(b" "), line)

    def _plain(self, text: bytes, line: int, lines: int) -> list[Any] | None:
        """Parse lines as `regular` does, and comments among them; None if a number is written in an unusual way."""
        layout = self._layout
        limits = np.array([(column.smallest, column.largest) for column in layout.columns], np.int64)
        ids = np.empty((len(limits), lines), np.int64)
        usual = np.array((self._usual[0], 0), np.int64)
        rows = _parse(
            np.frombuffer(text, np.uint8),
            ord(layout.letter or "\0"),
            np.frombuffer(layout.comments.encode(), np.uint8),
            limits,
            (layout.fewest, layout.most, layout.alike),
            ids,
            usual,
        )
        if rows < 0 or (self.room is not None and rows > self.room):
            return None
        if rows and not self._usual[0]:
            self._usual = int(usual[0]), line + int(usual[1])
        return list(ids[:, :rows])

    def _separated(self, text: bytes, line: int) -> list[Any] | None:
        """Parse lines as `regular` does, with a single blank between numbers."""
        import pyarrow as pa
        from pyarrow import csv

        layout, ids, letters = self._layout, len(self._layout.columns), len(self._layout.letter)
        first = text[: text.index(b"\n")].decode()
        blank = "\t" if "\t" in first else " "
        count = first.count(blank) + 1 - letters
        # A name that looks like a number must be kept as it is.
        most = layout.fewest if layout.weighed else layout.most
        if not layout.fewest <= count <= most or (layout.alike and self._usual[0] not in (0, count)):
            return None
        types = [*[pa.bool_()] * letters, *[pa.uint64()] * ids, *[pa.float64()] * (count - ids)]
        names = [str(place) for place, _ in enumerate(types)]
        try:
            table = csv.read_csv(
                pa.BufferReader(text),
                csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                csv.ParseOptions(delimiter=blank, quote_char=False, ignore_empty_lines=False),
                # Only the leading letter counts as true, and no value may be null.
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
        columns: list[Any] = [values.view(np.int64) for values in found[:ids]]
        if (self.room is not None and len(columns[0]) > self.room) or self._outside(columns).any():
            return None
        if layout.weighed:
            # A 0 may be the result of underflow.
            if not ((found[ids] > 0) & (found[ids] <= 1 + _ROUNDED)).all():
                return None
            columns += [found[ids].clip(max=1.0), line + np.arange(len(found[ids])), None]
        self._usual = self._usual if self._usual[0] else (count, line)
        return columns

    def matched(self, text: bytes, line: int) -> list[Any]:
        """Parse any lines; `line` is the number of the first."""
        import pyarrow.compute as pc

        faults, groups = matched(text, self._pattern)
        numbered = pc.binary_length(groups["id0"]).cast("bool")
        rows = np.flatnonzero(flags(numbered))
        found = {name: group.filter(numbered) for name, group in groups.items()}
        columns: list[Any] = [whole_numbers(found[f"id{place}"]) for place, _ in enumerate(self._layout.columns)]
        wrong = self._outside(columns)
        if self._layout.weighed:
            columns += [probabilities(found["weight"]), line + rows, found["rest"]]
            wrong |= np.isnan(columns[-3])
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
        """Return the error in a row that is valid by itself but not in its block."""
        if self.room is not None and row >= self.room:
            return surplus_text(self._announced or 0, self._layout.noun)
        return f"{counts[row]} columns, and line {self._usual[1]} has {self._usual[0]}"


def read_lines(lines: Lines, layout: Layout, *, expected: int | None = None) -> Iterator[list[Any]]:
    """Read the lines from the current one to the end of a file, block by block.

    Parameters
    ----------
    lines : Lines
        The file, after its header.
    layout : Layout
        Layout of its lines.
    expected : int, optional
        Number of lines with ids announced by the header.

    Yields
    ------
    list
        Columns of ids; for transitions also the probabilities, the line numbers, and the rest of each line as an Arrow
        array, or None if no line has more.

    Raises
    ------
    InputError
        A line is malformed (the first one is named), or the number of lines is not the expected one.
    """
    rows, line = _Rows(layout, expected), lines.number
    while text := lines.block():
        found = rows.regular(text, line, lines.number - line) or rows.matched(text, line)
        lines.check_yield(len(found[0]), "a transition" if layout.weighed else "an edge")
        line = lines.number
        if rows.room is not None:
            rows.room -= len(found[0])
        # Neither the text nor the numbers of a block are needed while the next one is parsed.
        del text
        yield found
        del found
    if expected is not None and rows.room:
        raise InputError(shortage_text(expected, expected - rows.room, layout.noun))
