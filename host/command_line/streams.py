"""Standard output and standard error, whatever state they are in."""

import io
import os
import sys
from contextlib import suppress

from sim.notices import error_line

__all__ = ["complain", "give_up_output", "open_missing"]


def open_missing() -> None:
    """Give a process its standard streams where they were closed, so that no other file is taken for one.

    What is written to a standard output that was closed fails, as it should; to such a standard error it is lost.
    """
    # In ascending order, since what is opened has the lowest free number.
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
    # A name of a file may be no text.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _text(number: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.FileIO(number, "w", closefd=False), errors="backslashreplace", line_buffering=number == 2
    )


def complain(text: str, *, diagnosis: str = "") -> None:
    """Print one line, and a diagnosis below it, on standard error, if that can be written."""
    with suppress(OSError, ValueError):
        sys.stderr.write(error_line(text) + "\n")
        if diagnosis:
            sys.stderr.write(diagnosis.rstrip("\n") + "\n")


def give_up_output() -> None:
    """Write nothing more to standard output, of which Python would complain when it flushes at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
