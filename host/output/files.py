"""Output files, checked before the simulation starts and written atomically; the first fields of JSON documents."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from cyscc.host.output.errors import InputError
from cyscc.sim.files import replaced, temporary_file

__all__ = [
    "STANDARD_OUTPUT",
    "check_folder",
    "check_output",
    "figure_format",
    "identity",
    "open_output",
    "output_result",
    "reason",
    "removing_empty",
    "renamed_when_complete",
    "show",
    "version",
    "write_json",
    "writing",
]

SCHEMA = 1
"""Schema version of all commands' JSON; increased when a field is removed or changes its meaning."""

STANDARD_OUTPUT = "-"
"""File name that stands for standard output."""
_STANDARD = "standard output"

_FIGURES = ("svg", "png", "pdf")


def _is_special(path: Path) -> bool:
    """Whether a path must be written in place because it is a device or a pipe."""
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


def check_output(path: str, option: str, *, plain: bool = False) -> None:
    """Refuse an output file that cannot be written, tested by writing an empty file beside it.

    Parameters
    ----------
    path : str
        The file, or `STANDARD_OUTPUT`.
    option : str
        The option that names it, for the message.
    plain : bool
        Whether a link, a device or a pipe is refused. Only its folder is the user's choice then: what others have put
        there must not lead out of it.

    Raises
    ------
    InputError
        It is a folder, its folder does not exist, or it cannot be written.
    """
    if path == STANDARD_OUTPUT:
        return
    try:
        if plain and os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode) and not os.path.isdir(path):
            raise InputError(f"is a link or no plain file, which is not written here ({option})", path=path)
        target = Path(path).resolve()
        if target.is_dir():
            raise InputError(f"is a directory ({option})", path=path)
        if not target.parent.is_dir():
            raise InputError(f"its directory does not exist ({option})", path=path)
        if target.exists() and not os.access(target, os.W_OK):
            raise InputError(f"cannot be written: read only ({option})", path=path)
        if not _is_special(target):
            with temporary_file(target):
                pass
    except RuntimeError:
        raise InputError(f"cannot be written: a link that leads to itself ({option})", path=path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {reason(error)} ({option})", path=path) from None


@contextmanager
def removing_empty(*folders: Path) -> Iterator[None]:
    """After an error in the block, remove the folders that are empty and new, with parents that are."""
    new = {each for folder in folders for each in (folder, *folder.parents) if not os.path.lexists(each)}
    try:
        yield
    except BaseException:
        for each in sorted(new, reverse=True):  # what is inside of another one comes first
            with suppress(OSError):
                each.rmdir()
        raise


def check_folder(path: str, option: str) -> None:
    """Refuse an output folder that is not a folder, or whose parent is missing or read-only.

    Raises
    ------
    InputError
        One line that names it and the option.
    """
    folder = Path(path)
    try:
        if not folder.exists():
            check_output(path, option)
        elif not folder.is_dir():
            raise InputError(f"is not a directory ({option})", path=path)
        else:
            check_output(str(folder / "cyscc"), option)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {reason(error)} ({option})", path=path) from None


def figure_format(path: str) -> str:
    """Return the format that a figure's file suffix names; SVG without a suffix.

    Raises
    ------
    InputError
        There is no such format.
    """
    suffix = Path(path).suffix
    form = suffix[1:].lower() or _FIGURES[0]
    if form not in _FIGURES:
        raise InputError(f"a figure is .svg, .png or .pdf, not {suffix!r}", path=path)
    return form


def reason(error: OSError | ValueError) -> str:
    """Return the message of an error, for an `OSError` without its number and file name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def renamed_when_complete(path: str) -> Iterator[Path]:
    """Yield a temporary name beside an output file; rename it at the end of the block, or remove it after an error.

    The name of a device or a pipe is yielded unchanged. If the output file is a link, its target is replaced. The
    permissions of a replaced file are kept.

    Parameters
    ----------
    path : str
        The output file.
    """
    target = Path(path).resolve()
    if _is_special(target):
        yield target
        return
    with replaced(target) as temporary:
        yield temporary


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Name an output in write errors of the block; pass on a broken pipe of standard output."""
    try:
        yield
    except OSError as error:
        if path == _STANDARD and isinstance(error, BrokenPipeError):
            raise
        raise InputError(f"cannot be written: {reason(error)}", path=path) from None


def show(text: str) -> None:
    """Write a text to standard output.

    Raises
    ------
    InputError
        It cannot be written.
    """
    with writing(_STANDARD):
        sys.stdout.write(text)


@contextmanager
def open_output(path: str) -> Iterator[BinaryIO]:
    """Open an output file, or standard output, for writing in the block; the file appears whole or not at all.

    Raises
    ------
    InputError
        It could not be written.
    """
    if path == STANDARD_OUTPUT:
        with writing(_STANDARD):
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    with writing(path), renamed_when_complete(path) as name, name.open("wb") as file:
        yield file


def version() -> str:
    """Return the version of the installed program; ``(not installed)`` if it runs from its sources."""
    import importlib.metadata

    try:
        return importlib.metadata.version("cyscc")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def identity() -> dict[str, Any]:
    """Return the first fields of every JSON document."""
    return {"schema": SCHEMA, "version": version()}


def write_json(path: str, document: dict[str, Any]) -> None:
    """Write a document as JSON.

    Raises
    ------
    InputError
        The file could not be written.
    """
    with open_output(path) as file:
        file.write(json.dumps(document, indent=2).encode() + b"\n")


def output_result(document: dict[str, Any], text: str, *, path: str | None, quiet: bool) -> None:
    """Write a document as JSON if a file is given, and print its text unless the JSON goes to standard output.

    Raises
    ------
    InputError
        The file could not be written.
    """
    if path is not None:
        write_json(path, document)
    if not quiet and path != STANDARD_OUTPUT:
        show(text)
