"""Output files, checked before the simulation starts and written atomically; the first fields of JSON documents."""

import errno
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from cyscc.host.output.errors import InputError, reason, refusing
from cyscc.sim.files import replaced, temporary_file

SCHEMA = 1
"""Schema version of all commands' JSON; increased when a field is removed or changes its meaning."""

STANDARD_OUTPUT = "-"
"""File name that stands for standard output."""
_STANDARD = "standard output"

ANSWER_OUTPUTS = ("--json", "--markdown", "--page", "--plot")
"""Options of commands that name the files of their answers."""


class Content(Enum):
    """Content of an output file: its name in messages, and its suffixes."""

    FIGURE = "a figure", ".svg", ".png", ".pdf"
    PAGE = "a page", ".html", ".htm"
    JSON = "a JSON document", ".json"
    TRACE = "a trace", ".pftrace", ".perfetto-trace"
    LIST = "a list", ".txt"
    GRAPH = "a graph", ".mtx", ".gr", ".npz", ".txt"
    WAVES = "a waveform", ".fst", ".vcd"
    LINES = "lines of JSON", ".json", ".jsonl", ".txt"
    MODEL = "a model", ".tra", ".drn"
    REQUESTS = "a list of requests", ".csv", ".parquet"


_FOREIGN = frozenset(
    (
        *(suffix for content in Content for suffix in content.value[1:] if suffix != ".txt"),
        *(".toml", ".py", ".md", ".xml", ".yaml"),
        *(".csv", ".tsv", ".parquet", ".npy", ".xlsx"),
        *(".gz", ".bz2", ".xz", ".zst", ".zip", ".7z", ".tar", ".tgz"),
    )
)
"""Suffixes that promise a content: no file with another one gets such a name."""
_ALWAYS = (Content.FIGURE, Content.PAGE)
"""Contents that no suffix but their own is used for."""

_BY_OPTION = {
    "--json": Content.JSON,
    "--plot": Content.FIGURE,
    "--choices": Content.LIST,
    "--trace": Content.TRACE,
}
"""Contents of the files that options name which mean the same in every command."""

_CLOSED = {
    ("checkpoint.json", "blocks"): "checkpoints",
    ("record.json", "kernels.parquet"): "a record",
    ("parts/run.json",): "a record",
}
"""Content of a folder by the entries that identify it: a run cannot be resumed if such a folder has other files."""


def is_special(path: Path) -> bool:
    """Return whether a path is a device, pipe or folder: no plain file."""
    # Unlike the path's own method, this takes a name that no file can have.
    return os.path.exists(path) and not stat.S_ISREG(path.stat().st_mode)


def is_replaced(path: str) -> bool:
    """Return whether an output replaces a file whenever it is written, which is no stream, device or pipe."""
    return path != STANDARD_OUTPUT and not is_special(Path(path))


def check_suffix(path: str, content: Content) -> None:
    """Refuse an output file whose suffix promises something else than is written.

    Parameters
    ----------
    path : str
        The file. Without a suffix, its name promises nothing; graphs and models may be compressed.
    content : Content
        What is written, such as `Content.FIGURE`.

    Raises
    ------
    InputError
        The suffix promises another content, or is none of a content that has always one of its own.
    """
    suffix, (told, *own) = Path(path).suffix, content.value
    if content in (Content.GRAPH, Content.MODEL) and suffix.lower() == ".gz":
        suffix = Path(path).with_suffix("").suffix
    if suffix.lower() in ("", *own) or (suffix.lower() not in _FOREIGN and content not in _ALWAYS):
        return
    forms = " or ".join(filter(None, (", ".join(own[:-1]), own[-1])))
    raise InputError(f"{told} is {forms}, not {suffix!r}", path=path)


def check_output(path: str, option: str, content: Content | None = None, *, plain: bool = False) -> None:
    """Refuse an output file that cannot be written, tested by writing an empty file beside it.

    Parameters
    ----------
    path : str
        The file, or `STANDARD_OUTPUT`.
    option : str
        The option that names it, for the message.
    content : Content, optional
        What is written, such as `Content.FIGURE`, if the option does not tell.
    plain : bool
        Whether a link, a device or a pipe is refused. Only its folder is the user's choice then: what others have put
        there must not lead out of it.

    Raises
    ------
    InputError
        No file is named, it is a folder, its folder does not exist or is one of checkpoints or a record, it cannot be
        written, or its suffix promises another content.
    """
    if path == STANDARD_OUTPUT:
        return
    if not path:
        raise InputError(f"{option} names no file")
    if (written := content or _BY_OPTION.get(option)) is not None:
        check_suffix(path, written)
    check_apart({option: path}, {})
    with _writing_option(path, option):
        if plain and os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode) and not os.path.isdir(path):
            raise InputError(f"is a link or no plain file, which is not written here ({option})", path=path)
        try:
            target = Path(path).resolve()
        except RuntimeError:
            raise InputError(f"cannot be written: a link that leads to itself ({option})", path=path) from None
        if target.is_dir():
            raise InputError(f"is a directory ({option})", path=path)
        if not target.parent.is_dir():
            raise InputError(f"its directory does not exist ({option})", path=path)
        if target.exists() and not os.access(target, os.W_OK):
            raise InputError(f"cannot be written: read only ({option})", path=path)
        # Asked of the name: that of a pipe behind /dev/stderr leads nowhere.
        if not is_special(Path(path)):
            with temporary_file(target):
                pass


def _writing_option(path: str, option: str) -> AbstractContextManager[None]:
    """Name an output and its option in errors about its name or its folder."""
    return refusing(OSError, ValueError, before="cannot be written: ", after=f" ({option})", path=path)


def check_distinct(outputs: Mapping[str, str], *, read: Mapping[str, str]) -> None:
    """Refuse output files that coincide with another file of the command.

    Parameters
    ----------
    outputs : mapping of str to str
        The files by option.
    read : mapping of str to str
        Files that the command reads, or writes to a fixed place, by their names in messages.

    Raises
    ------
    InputError
        Two are the same file.
    """
    users = {os.path.realpath(path): name for name, path in read.items() if "\0" not in path}
    for option, path in outputs.items():
        if "\0" in path:
            continue
        key = path if path == STANDARD_OUTPUT else os.path.realpath(path)
        if key in users and (key == STANDARD_OUTPUT or os.path.isfile(key) or not os.path.exists(key)):
            raise InputError(f"{option} and {users[key]} are the same file: {path}")
        users[key] = option


def check_apart(outputs: Mapping[str, str | None], folders: Mapping[str, str | None]) -> None:
    """Refuse outputs inside folders of checkpoints or records, which would be refused when the run is resumed.

    Parameters
    ----------
    outputs : mapping of str to (str or None)
        Files and folders by option; None where one was not given.
    folders : mapping of str to (str or None)
        Folders of the run by option, which need not exist yet.

    Raises
    ------
    InputError
        An output lies in such a folder, or is another one of these folders.
    """
    own = {_place(option, path): option for option, path in folders.items() if path is not None}
    for option, path in outputs.items():
        if path is None or path == STANDARD_OUTPUT:
            continue
        target = _place(option, path)
        for each in (target, *target.parents):
            if own.get(each, option) != option:
                raise InputError(f"is in the folder of {own[each]}, which holds nothing else ({option})", path=path)
            for entries, what in _CLOSED.items():
                # Unlike that of a path, this `exists` takes what cannot be looked at for missing.
                if each != target and all(os.path.exists(each / entry) for entry in entries):
                    raise InputError(f"is in {each}, which holds {what} and nothing else ({option})", path=path)


def _place(option: str, path: str) -> Path:
    """Return the place that a path leads to."""
    with _writing_option(path, option):
        return Path(os.path.realpath(path))


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
    if not path:
        raise InputError(f"{option} names no folder")
    folder = Path(path)
    with _writing_option(path, option):
        if not folder.exists():
            check_output(path, option)
        elif not folder.is_dir():
            raise InputError(f"is not a directory ({option})", path=path)
        else:
            check_output(str(folder / "cyscc"), option)


def figure_format(path: str) -> str:
    """Return the format that a figure's file suffix names; SVG without a suffix.

    Raises
    ------
    InputError
        There is no such format.
    """
    check_suffix(path, Content.FIGURE)
    return (Path(path).suffix or ".svg")[1:].lower()


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
    if "\0" in path:
        raise OSError(errno.EINVAL, "a null byte in its name")
    if is_special(Path(path)):
        yield Path(path)
        return
    target = Path(path).resolve()
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


@cache
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
    write_text(path, json.dumps(document, indent=2) + "\n")


def write_text(path: str, text: str) -> int:
    """Write a text, with bytes of names that are not UTF-8 escaped, as on standard output; return its size in bytes.

    Raises
    ------
    InputError
        The file could not be written.
    """
    content = text.encode(errors="backslashreplace")
    with open_output(path) as file:
        file.write(content)
    return len(content)
