"""Lines of numbers, read in blocks by compiled code."""

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

__all__ = ["LARGEST_ID", "Layout", "read_edges", "read_line", "shown"]

LARGEST_ID = 2**63 - 1
"""Largest vertex id that a text file may name."""

_BLOCK = 1 << 22  # bytes, and so the longest line
_SHORTEST_LINE = 4  # bytes of "1 2\n"
_LONGEST_TOKEN = 40  # bytes of a token that a message shows
_CAUSES = {
    Fault.LINE_TYPE: "{token} begins no edge ({layout.letter!r}) and no comment ({layout.comments!r})",
    Fault.NOT_AN_ID: "{token} is not a vertex id",
    Fault.NEGATIVE: "vertex id {number} is negative",
    Fault.TOO_LARGE: f"vertex id {{token}} is larger than {LARGEST_ID}",
    Fault.OUTSIDE: "vertex id {number} is outside {layout.smallest}..{layout.largest}",
    Fault.TOO_FEW_COLUMNS: "too few columns for {layout.form!r}",
    Fault.TOO_MANY_COLUMNS: "too many columns for {layout.form!r}, from {token} on",
    Fault.NOT_A_NUMBER: "{token} is not a number",
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
    smallest, largest : int
        Range of the ids.
    """

    form: str
    letter: str = ""
    comments: str
    fewest: int
    most: int
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
        return _CAUSES[fault].format(layout=self, token=shown(token), number=token.decode())


def _binary(token: bytes) -> int | None:
    """Return the first byte of a token that no text has, if there is one."""
    for byte, character in zip(token, token.decode("latin-1"), strict=True):
        if byte < 0x80 and not character.isprintable():
            return byte
    try:
        token.decode()
    except UnicodeDecodeError as error:
        return token[error.start]
    return None


def shown(token: bytes) -> str:
    """Return a token of a file in quotes, cut when it is long, unprintable characters escaped."""
    text = token.decode("utf-8", "replace")
    return repr(text if len(text) <= _LONGEST_TOKEN else text[:_LONGEST_TOKEN] + "...")


def read_line(stream: IO[bytes], line: int) -> bytes:
    """Read one line of a header; empty at the end of the file.

    Parameters
    ----------
    stream : binary file
        The file.
    line : int
        Number of the line, for the message.

    Raises
    ------
    InputError
        When the line is longer than a line may be.
    """
    text = stream.readline(_BLOCK)
    if len(text) == _BLOCK and not text.endswith(b"\n"):
        raise InputError(f"the line is longer than {_BLOCK} bytes", line=line)
    return text


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


def _fill(stream: IO[bytes], block: bytearray, filled: int) -> tuple[int, bool]:
    """Read up to the end of the block; return the bytes in it and whether the file has ended."""
    with memoryview(block) as view:
        while filled < _BLOCK:
            with view[filled:_BLOCK] as free:
                got = stream.readinto(free)  # type: ignore[attr-defined]
            if not got:
                return filled, True
            filled += got
    return filled, False


def read_edges(
    stream: IO[bytes], layout: Layout, *, line: int = 1, expected: int | None = None, mirror: bool = False
) -> EdgeBuffer:
    """Read the edges from here to the end of a file.

    Parameters
    ----------
    stream : binary file
        The file, after its header.
    layout : Layout
        What its lines look like.
    line : int
        Number of the next line.
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
        At the first line at fault, or when the number of edges is not the expected one.
    """
    rules = layout.rules()
    room = MAX_EDGES if expected is None else expected
    edges = EdgeBuffer()
    block = bytearray(_BLOCK + 1)
    buffer = np.frombuffer(block, dtype=np.uint8)
    first, second = (np.empty(_BLOCK // _SHORTEST_LINE + 1, dtype=np.int64) for _ in range(2))
    mirrored = [np.empty(2 * len(first), dtype=np.int64) for _ in range(2 * mirror)]
    filled, ended, read = 0, False, 0
    while not ended:
        filled, ended = _fill(stream, block, filled)
        if ended:
            block[filled] = ord("\n")
            size = filled + 1
        else:
            size = block.rfind(b"\n", 0, filled) + 1
            if size == 0:
                raise InputError(f"the line is longer than {_BLOCK} bytes", line=line)
        count, fault, line, start, stop = scan(buffer, size, line, rules, room - read, first, second)
        if fault == Fault.SURPLUS and expected is None:
            check_limits(0, MAX_EDGES + 1)
        if fault == Fault.SURPLUS:
            raise InputError(f"an edge beyond the {expected} that the header announces", line=line)
        if fault:
            raise InputError(layout.cause(fault, bytes(block[start:stop])), line=line)
        read += count
        if mirror:
            count = _mirror(first[:count], second[:count], *mirrored)
            edges.append(mirrored[0][:count], mirrored[1][:count])
        else:
            edges.append(first[:count], second[:count])
        rest = block[size:filled]
        filled = len(rest)
        block[:filled] = rest
    if expected is not None and read < expected:
        raise InputError(f"the header announces {counted(expected, 'edge')}, but only {read:,} follow")
    return edges
