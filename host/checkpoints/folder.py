"""A folder with a checkpoint: whole or absent, whenever the process ends.

What is kept is cut into blocks, and each block is a file named by its digest. So what has not changed since the last
checkpoint is there already, and what is all zero needs none. The manifest names the blocks of all files; it takes the
place of the one before it when everything that it names is on the disk, and only then are blocks that nobody names any
more removed.
"""

import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.output import reason
from sim.files import is_temporary, lock_folder, replaced

__all__ = ["VERSION", "CheckpointFolder"]

VERSION = 1
"""Of the format."""

_FORMAT = "cyscc checkpoint"
_BLOCK = 1 << 20
_MANIFEST = "checkpoint.json"
_BLOCKS = "blocks"
_OWN_BLOCK = re.compile(r"[0-9a-f]{64}")

_LEVEL = 1
"""Of the compression: higher ones take several times as long."""

_LONGEST_MANIFEST = 1 << 30
_LONGEST_BLOCK = 2 * _BLOCK
"""Bytes of their files, at most."""


class CheckpointFolder:
    """A folder for the checkpoints of one run, each in the place of the one before it.

    Parameters
    ----------
    path : Path
        The folder.
    create : bool
        Make it where it is not there.

    Raises
    ------
    InputError
        It cannot be used, holds something else, or is in use.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        try:
            self._made = create and not path.exists()
            if self._made:
                path.mkdir()
            other = min(_others(path), default=None)
            if other is not None:
                raise InputError(f"is no folder of checkpoints: it holds {other}", path=path)
            self._lock = lock_folder(path)
        except OSError as error:
            raise InputError(reason(error), path=path) from None
        if self._lock is None:
            raise InputError("is in use by another run", path=path)

    def close(self) -> None:
        """Let others use the folder; remove it if it was made here, and no checkpoint has come of it."""
        if self._lock is not None:
            if self._made and not self.complete:
                self.remove()
            os.close(self._lock)
            self._lock = None

    @property
    def complete(self) -> bool:
        """Whether there is a complete checkpoint."""
        return (self.path / _MANIFEST).exists()

    def write(self, about: Mapping[str, Any], files: Mapping[str, NDArray[np.uint8]]) -> None:
        """Put a checkpoint in the place of the one before it.

        Parameters
        ----------
        about : dict
            What to say about it, JSON-able.
        files : dict of ndarray of uint8
            Its files by name.

        Raises
        ------
        OSError
            It cannot be written; the one before it is as it was.
        """
        folder = self.path / _BLOCKS
        folder.mkdir(exist_ok=True)
        here = {entry.name for entry in os.scandir(folder)}
        with ThreadPoolExecutor() as pool:
            blocks = {name: list(pool.map(_name, _cut(content))) for name, content in files.items()}
            missing = {
                block: part
                for name, content in files.items()
                for block, part in zip(blocks[name], _cut(content), strict=True)
                if block is not None and block not in here
            }
            list(pool.map(self._keep, missing, missing.values()))
        _sync_folder(folder)
        body = json.dumps(
            {
                "about": about,
                "files": {name: {"size": content.size, "blocks": blocks[name]} for name, content in files.items()},
            }
        ).encode()
        head = json.dumps({"format": _FORMAT, "version": VERSION, "sha256": hashlib.sha256(body).hexdigest()}).encode()
        _write_whole(self.path / _MANIFEST, head + b"\n" + body + b"\n")
        _sync_folder(self.path)
        named = {block for parts in blocks.values() for block in parts}
        for name in {entry.name for entry in os.scandir(folder)} - named:
            (folder / name).unlink()

    def _keep(self, name: str, content: NDArray[np.uint8]) -> None:
        """Write a block."""
        _write_whole(self.path / _BLOCKS / name, zlib.compress(content.data, _LEVEL))

    def read(self) -> "Checkpoint":
        """Return the checkpoint.

        Raises
        ------
        InputError
            There is none, or it is damaged.
        """
        path = self.path / _MANIFEST
        try:
            head, _, body = _content(path, _LONGEST_MANIFEST).partition(b"\n")
        except FileNotFoundError:
            raise InputError("holds no complete checkpoint", path=self.path) from None
        try:
            title = json.loads(head)
            if title["format"] != _FORMAT:
                raise ValueError
            version, digest = title["version"], title["sha256"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError("is no manifest of a checkpoint", path=path) from None
        if version != VERSION:
            raise InputError(f"has version {version!r} of the format, and this program reads {VERSION}", path=path)
        body = body.removesuffix(b"\n")
        if hashlib.sha256(body).hexdigest() != digest:
            raise InputError("is damaged: its digest is another", path=path)
        manifest = json.loads(body)
        return Checkpoint(self.path / _BLOCKS, manifest["about"], manifest["files"])

    def remove(self) -> None:
        """Remove the checkpoint, and the folder if that leaves it empty."""
        with suppress(OSError):
            (self.path / _MANIFEST).unlink(missing_ok=True)
            for entry in os.scandir(self.path / _BLOCKS):
                os.unlink(entry.path)
            (self.path / _BLOCKS).rmdir()
        with suppress(OSError):
            self.path.rmdir()


class Checkpoint:
    """A complete checkpoint.

    Parameters
    ----------
    folder : Path
        Where its blocks are.
    about : dict
        What was said about it.
    files : dict
        Size and blocks of each file.
    """

    def __init__(self, folder: Path, about: dict[str, Any], files: dict[str, dict[str, Any]]) -> None:
        self._folder = folder
        self.about = about
        self._files = files

    def file(self, name: str) -> NDArray[np.uint8]:
        """Return a file.

        Raises
        ------
        InputError
            A block of it is damaged or missing.
        """
        size, blocks = self._files[name]["size"], self._files[name]["blocks"]
        content = np.zeros(size, np.uint8)
        with ThreadPoolExecutor() as pool:
            list(pool.map(self._fill, blocks, _cut(content)))
        return content

    def _fill(self, name: str | None, content: NDArray[np.uint8]) -> None:
        if name is None:
            return
        path = self._folder / name
        try:
            packed = _content(path, _LONGEST_BLOCK)
        except FileNotFoundError:
            raise InputError("is missing", path=path) from None
        try:
            data = zlib.decompressobj().decompress(packed, content.size + 1)
        except zlib.error:
            data = b""
        if len(data) != content.size or hashlib.sha256(data).hexdigest() != name:
            raise InputError("is damaged: its digest is another", path=path)
        content[:] = np.frombuffer(data, np.uint8)


def _others(folder: Path) -> Iterator[str]:
    """Yield what is in a folder and of no checkpoint."""
    for entry in os.scandir(folder):
        if entry.name == _BLOCKS and entry.is_dir(follow_symlinks=False):
            named = (name for name in os.listdir(entry) if not (_OWN_BLOCK.fullmatch(name) or is_temporary(name)))
            yield from (f"{_BLOCKS}/{name}" for name in named)
        elif entry.name != _MANIFEST and not is_temporary(entry.name):
            yield entry.name


def _content(path: Path, most: int) -> bytes:
    """Return the bytes of a plain file, of which there are at most so many; nothing else is read, or waited for."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError("is no plain file", path=path)
            if status.st_size > most:
                raise InputError("is damaged: it is too long", path=path)
            return file.read(most)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(reason(error), path=path) from None


def _cut(content: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Yield the blocks of a file."""
    return (content[first : first + _BLOCK] for first in range(0, content.size, _BLOCK))


def _name(content: NDArray[np.uint8]) -> str | None:
    """Return the name of a block, None for one that is all zero."""
    return hashlib.sha256(content.data).hexdigest() if content.any() else None


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file that is on the disk when it has its name."""
    with replaced(path, durable=True) as temporary:
        temporary.write_bytes(data)


def _sync_folder(path: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
