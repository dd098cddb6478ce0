"""Lines of numbers, read in blocks by one compiled scanner; what it refuses is explained from the line alone.

No library reads these files as they are. CSV readers accept only a single blank as separator, do not skip empty lines
and comments, and may accept ``0x1`` as a number; the readers of numpy and scipy report errors less precisely; pandas
takes a second to import, and Arrow longer than most files take to read.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.loops import loop
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.sim.notices import shortened

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST_ID = 2**63 - 1
"""Largest vertex id that a text file may name."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Byte order mark that some programs write before UTF-8 text; skipped."""

BANNER = b"%%matrixmarket"
"""Banner of Matrix Market in small letters."""

BANNER_FAULT = "a Matrix Market banner, which must be the first line"
"""Error in a line that begins with the banner and is not the first one."""

WORD = r"[^ \t\n]+"
"""Regular expression of a token between blanks."""


_BLOCK = 1 << 22  # bytes, and so the longest line
_LONGEST_HEADER = 1 << 24  # bytes, comments included
_MOST_BARREN = 1 << 26  # bytes of comments and empty lines without an edge
_LONGEST_COUNT = 4300  # digits that int() takes
_LONGEST_TOKEN = 40  # characters of a token that a message shows
_DECIMAL = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = rb"(?i:%b|[+-]?(?:nan|inf(?:inity)?))" % _DECIMAL
_MOST_DIGITS = 19  # always fits in an unsigned 64-bit integer
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

    def fault(self, line: bytes) -> str | None:
        """Return the error in a line, or None if the line is valid by itself."""
        tokens = words(line)
        if tokens and tokens[0].decode("latin-1")[0] in self.comments:
            cause = BANNER_FAULT if tokens[0].lower().startswith(BANNER) else None
            return "not text (byte 0x00)" if b"\0" in line else cause
        if self.letter and (first := tokens.pop(0)) != self.letter.encode():
            cause = f"{shown(first)} begins no edge ({self.letter!r}) and no comment ({self.comments!r})"
            return _not_text(first) or cause
        for place, token in enumerate(tokens):
            cause = None
            if place < len(self.columns):
                cause = self.columns[place].fault(token)
            elif place == self.most:
                cause = f"too many columns for {self.form!r}, from {shown(token)} on"
            elif not self.weighed:
                cause = None if re.fullmatch(_NUMBER, token) else f"{shown(token)} is not a number"
            elif place == len(self.columns) and probability(token) is None:
                cause = f"{shown(token)} is not a probability"
            if cause is not None:
                return cause if self.weighed else _not_text(token) or cause
        return f"too few columns for {self.form!r}" if len(tokens) < self.fewest else None


def _not_text(token: bytes) -> str | None:
    """Return the error in a token that has a byte which is not valid text, or None."""
    if control := re.search(rb"[\x00-\x1f\x7f]", token):
        return f"not text (byte 0x{control[0][0]:02x})"
    try:
        token.decode()
    except UnicodeDecodeError as error:
        return f"not text (byte 0x{token[error.start]:02x})"
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


def numbers(tokens: Sequence[bytes], *whats: str) -> list[int]:
    """Parse the counts in a header, each with its noun; see `number`."""
    return [number(token, what) for token, what in zip(tokens, whats, strict=True)]


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

    def content(self, comment: bytes, *, kept: bytes = b"") -> bytes | None:
        """Return the next line that is neither empty nor a comment, or None at the end of the file.

        Parameters
        ----------
        comment : bytes
            How comments begin.
        kept : bytes
            A comment that is returned.

        Raises
        ------
        InputError
            See `next`; or a comment is a banner.
        """
        while (line := self.next()) is not None:
            text = line.strip(b" \t")
            if text.lower().startswith(BANNER) and text.startswith(comment):
                raise InputError(BANNER_FAULT, line=self.number - 1)
            if text and (not text.startswith(comment) or text == kept):
                return line
        return None

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
    elif re.fullmatch(_DECIMAL, token):
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


def _tokens(text: bytes, places: NDArray[np.int64]) -> "pa.Array":
    """Return the parts of a text between pairs of places, which ascend, as an Arrow array."""
    import pyarrow as pa

    count = places.shape[1]
    # Every other part is what lies between two of them.
    ends = np.append(places.T.ravel(), len(text)).astype(np.int32)
    every = pa.Array.from_buffers(pa.binary(), 2 * count, [None, pa.py_buffer(ends), pa.py_buffer(text)])
    own = pa.py_buffer(np.arange(0, 2 * count, 2))
    return every.take(pa.Array.from_buffers(pa.int64(), count, [None, own]))


def _rows(text: bytes, count: int, layout: Layout, state: NDArray[np.int64], announced: int) -> list[Any]:
    """Parse a block of `count` lines; see `read_lines` and, for `state`, `native/loops.cpp`."""
    limits = np.array([(column.smallest, column.largest) for column in layout.columns], np.int64)
    ids = np.empty((len(limits), count), np.int64)
    places = np.zeros((5 * layout.weighed, count), np.int64)
    after, room = state[3] + count, state[2]
    text_, comments = np.frombuffer(text, np.uint8), np.frombuffer(layout.comments.encode(), np.uint8)
    numbers = ord(layout.letter or "\0"), layout.fewest, layout.most, layout.alike, len(limits), layout.weighed
    how = np.array(numbers, np.int64)
    rows = loop("scan", text_, text_.size, comments, comments.size, limits, how, ids, places, count, state)
    found: list[Any] = list(ids[:, :rows])
    if layout.weighed:
        likely = probabilities(_tokens(text, places[1:3, :rows]))
        found += [likely, places[0, :rows], _tokens(text, places[3:, :rows])]
        if (none := np.isnan(likely)).any():
            state[3] = found[-2][none.argmax()]
    if state[3] == after:
        return found
    place = int(state[3] - after) + count
    line = text.split(b"\n", place + 1)[place]
    cause = layout.fault(line)
    if cause is None and rows == room:
        cause = surplus_text(announced, layout.noun)
    raise InputError(cause or f"{len(words(line))} columns, and line {state[1]} has {state[0]}", line=int(state[3]))


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
        Columns of ids; for transitions also the probabilities, the line numbers, and the last word of each line, which
        may be empty, as an Arrow array.

    Raises
    ------
    InputError
        A line is malformed (the first one is named), or the number of lines is not the expected one.
    """
    announced = LARGEST_ID if expected is None else expected
    state = np.array([0, 0, announced, lines.number], np.int64)
    while text := lines.block():
        found = _rows(text, lines.number - int(state[3]), layout, state, announced)
        lines.check_yield(len(found[0]), "a transition" if layout.weighed else "an edge")
        # Neither the text nor the numbers of a block are needed while the next one is parsed.
        del text
        yield found
        del found
    if expected is not None and state[2]:
        raise InputError(shortage_text(announced, announced - int(state[2]), layout.noun))
