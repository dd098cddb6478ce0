"""The error that bad input ends with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sim.notices import printable

__all__ = ["InputError", "VertexError", "placed"]


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
        super().__init__(printable(place + cause))
        self.cause = cause
        self.path = path
        self.line = line


class VertexError(InputError):
    """A vertex that a graph has not. The parameters are those of `InputError`."""


@contextmanager
def placed(*, path: Path | str | None = None, line: int | None = None) -> Iterator[None]:
    """Add file and line to an `InputError` of the block that names none."""
    try:
        yield
    except InputError as error:
        raise InputError(error.cause, path=error.path or path, line=error.line or line) from None
