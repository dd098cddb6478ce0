"""Handling of closed or broken standard output and standard error."""

import io
import os
import sys
from contextlib import suppress

from cyscc.sim.notices import error_line


def open_missing() -> None:
    """Reopen closed standard streams, so that no file opened later gets their descriptors.

    Writes to a closed standard output then fail, as they should; writes to a closed standard error are dropped.
    """
    # In ascending order: open returns the lowest free descriptor.
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, flags)
    if sys.stdout is None:
        sys.stdout = _text(1)
    if sys.stderr is None:
        sys.stderr = _text(2)
    # A file name may not be valid text, and the plain locale has no character such as that of multiplication.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _text(number: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.FileIO(number, "w", closefd=False), errors="backslashreplace", line_buffering=number == 2
    )


def print_error(text: str, *, diagnosis: str = "") -> None:
    """Print a line and a diagnosis below it on standard error; a failed write is ignored."""
    with suppress(OSError, ValueError):
        sys.stderr.write(error_line(text) + "\n")
        if diagnosis:
            sys.stderr.write(diagnosis.rstrip("\n") + "\n")


def give_up_output() -> None:
    """Redirect standard output to nowhere, so that Python's flush at exit does not fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
