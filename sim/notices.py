"""Lines for people: their form, and those about what the program mended, or does without."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["LONGEST_LINE", "error_line", "notice", "notices_to", "printable", "shortened"]

LONGEST_LINE = 240
"""Characters of the longest error line: three lines of a narrow terminal."""

_LONGEST_WORD = 80
_ELLIPSIS = "..."


def printable(text: str) -> str:
    """Return a text with its control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters: a longer one is cut in the middle, with an ellipsis there."""
    if len(text) <= most:
        return text
    kept = most - len(_ELLIPSIS)
    return text[: kept - kept // 2] + _ELLIPSIS + text[len(text) - kept // 2 :]


def error_line(text: str) -> str:
    """Return the one line that a message for people is written as, on standard error.

    Control characters are escaped. Of a line longer than `LONGEST_LINE` first the long words, names of files say, and
    then the line itself are cut in the middle: what is wrong stands at its end.

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


_writers: list[Callable[[str], None]] = []


def notice(text: str) -> None:
    """Write a line on standard error, or where a terminal's progress wants it; where that is impossible, nothing."""
    line = error_line(f"cyscc: {text}")
    # Closed or full: then there is nobody to tell.
    with suppress(OSError, ValueError):
        if _writers:
            _writers[-1](line)
        elif sys.stderr is not None:
            sys.stderr.write(line + "\n")


@contextmanager
def notices_to(write: Callable[[str], None]) -> Iterator[None]:
    """Hand the lines of the block to a function."""
    _writers.append(write)
    try:
        yield
    finally:
        _writers.remove(write)
