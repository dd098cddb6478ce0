"""Formatting of error lines, and notices about problems that the program worked around."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LONGEST_LINE = 240
"""Characters of the longest error line: three lines of a narrow terminal."""

_LONGEST_WORD = 80
_ELLIPSIS = "..."


def printable(text: str) -> str:
    """Return a text with its control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, most: int) -> str:
    """Shorten a text to at most `most` characters, with an ellipsis in the middle."""
    if len(text) <= most:
        return text
    kept = most - len(_ELLIPSIS)
    return text[: kept - kept // 2] + _ELLIPSIS + text[len(text) - kept // 2 :]


def error_line(text: str) -> str:
    """Format a message as one line for standard error.

    Control characters are escaped. A line longer than `LONGEST_LINE` is cut in the middle, first its long words such as
    file names, then the line itself, because the cause is at its end.

    Parameters
    ----------
    text : str
        The message; line ends in it count as blanks.

    Returns
    -------
    str
        Without a line end.
    """
    words = [printable(word) for word in text.split()]
    if len(" ".join(words)) > LONGEST_LINE:
        words = [shortened(word, _LONGEST_WORD) for word in words]
    return shortened(" ".join(words), LONGEST_LINE)


_PROGRAM = "cyscc: "

_writers: list[Callable[[str], None]] = []

_told: set[str] = set()
"""The notices of this process."""


def notice(text: str, *, once: bool = False) -> None:
    """Write a line to standard error, or above a terminal's progress display; ignore failures.

    Parameters
    ----------
    text : str
        The line, with the program's name or without.
    once : bool
        Do not repeat it in this process.
    """
    line = error_line(f"{_PROGRAM}{text.removeprefix(_PROGRAM)}")
    if once and line in _told:
        return
    _told.add(line)
    # Standard error is closed or full: drop the notice.
    with suppress(OSError, ValueError):
        if _writers:
            _writers[-1](line)
        elif sys.stderr is not None:
            sys.stderr.write(line + "\n")


@contextmanager
def notices_to(write: Callable[[str], None]) -> Iterator[None]:
    """Redirect notices of the block to a function."""
    _writers.append(write)
    try:
        yield
    finally:
        _writers.remove(write)
