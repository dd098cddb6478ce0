"""Lines for people about what the program mended, or does without."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["notice", "notices_to"]

_writers: list[Callable[[str], None]] = []


def notice(text: str) -> None:
    """Write a line on standard error, or where a terminal's progress wants it; where that is impossible, nothing."""
    line = " ".join(f"cyscc: {text}".split())
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
