"""The error that bad input ends with, and the form that every error line has."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LONGEST_LINE", "InputError", "error_line", "placed", "shortened"]

LONGEST_LINE = 240
"""Characters of the longest error line: three lines of a narrow terminal."""

_LONGEST_WORD = 80
_ELLIPSIS = "..."


def _printable(text: str) -> str:
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
    words = [_printable(word) for word in text.split()]
    if len(" ".join(words)) > LONGEST_LINE:
        words = [shortened(word, _LONGEST_WORD) for word in words]
    return shortened(" ".join(words), LONGEST_LINE)


class InputError(Exception):
    """Input that cannot be used: one line that names file, line and cause.

    The command line prints it and ends with exit status 2.

    Parameters
    ----------
    cause : str
        What is wrong, with the offending value quoted.
    path : Path or str, optional
        The file it is wrong in.
    line : int, optional
        The line of the file, counted from 1.

    Attributes
    ----------
    cause : str
    path : Path or str or None
    line : int or None
    """

    def __init__(self, cause: str, *, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(_printable(place + cause))
        self.cause = cause
        self.path = path
        self.line = line


@contextmanager
def placed(*, path: Path | str | None = None, line: int | None = None) -> Iterator[None]:
    """Add file and line to an `InputError` of the block that names none."""
    try:
        yield
    except InputError as error:
        raise InputError(error.cause, path=error.path or path, line=error.line or line) from None
