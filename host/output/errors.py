"""Errors for bad input, reported as one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cyscc.sim.notices import printable


class InputError(Exception):
    """Input that cannot be used, described in one line with file, line and cause.

    The command line prints that line and exits with status 2.

    Parameters
    ----------
    cause : str
        What is wrong, with the offending value quoted.
    path : Path or str, optional
        The file with the error.
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
        super().__init__(printable(place + cause))
        self.cause = cause
        self.path = path
        self.line = line


def reason(error: Exception) -> str:
    """Return the message of an error, for an `OSError` without its number and file name."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class VertexError(InputError):
    """A vertex that is not in the graph. Takes the parameters of `InputError`."""


@contextmanager
def locating_errors(*, path: Path | str | None = None, line: int | None = None) -> Iterator[None]:
    """Add file and line to an `InputError` raised in the block without them."""
    try:
        yield
    except InputError as error:
        raise InputError(error.cause, path=error.path or path, line=error.line or line) from None


@contextmanager
def refusing(
    *kinds: type[Exception], before: str = "", after: str = "", path: Path | str | None = None
) -> Iterator[None]:
    """Turn errors of some kinds in the block into an `InputError`, whose cause is `reason` between two texts."""
    try:
        yield
    except kinds as error:
        raise InputError(f"{before}{reason(error)}{after}", path=path) from None
