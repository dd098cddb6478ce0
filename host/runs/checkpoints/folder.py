"""A folder with a checkpoint, written atomically: it is whole or absent, even if the process is killed.

The contents are cut into blocks, each stored in a file named by its digest. Blocks unchanged since the last checkpoint
are already there, and blocks that are all zero are not stored. The manifest lists the blocks of all files. It replaces
the previous manifest once all its blocks are on disk; only then are unreferenced blocks removed.
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

from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason
from cyscc.sim.files import is_temporary, lock_folder, replaced

__all__ = ["VERSION", "CheckpointFolder"]

VERSION = 1
"""Version of the format."""

_FORMAT = "cyscc checkpoint"
_BLOCK = 1 << 20
_MANIFEST = "checkpoint.json"
_BLOCKS = "blocks"
_OWN_BLOCK = re.compile(r"[0-9a-f]{64}")

_LEVEL = 1
"""Compression level; higher ones take several times as long."""

_LONGEST_MANIFEST = 1 << 30
_LONGEST_BLOCK = 2 * _BLOCK
"""Largest size of a block file in bytes."""


class CheckpointFolder:
    """A folder for the checkpoints of one run, each of which replaces the one before it.

    Parameters
    ----------
    path : Path
        The folder.
    create : bool
        Create it if it does not exist.

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
        """Release the folder; remove it if it was created here and holds no checkpoint."""
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
        """Write a checkpoint, and replace the previous one with it.

        Parameters
        ----------
        about : dict
            Its metadata, JSON-able.
        files : dict of ndarray of uint8
            Its files by name.

        Raises
        ------
        OSError
            It cannot be written; the previous one is unchanged.
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
        """Write a block if it does not exist yet."""
        _write_whole(self.path / _BLOCKS / name, zlib.compress(content.data, _LEVEL))

    def read(self) -> "Checkpoint":
        """Return the checkpoint.

        Raises
        ------
        InputError
            The folder holds no checkpoint, or it is damaged.
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
        The folder with its blocks.
    about : dict
        Its metadata.
    files : dict
        Size and blocks of each file.
    """

    def __init__(self, folder: Path, about: dict[str, Any], files: dict[str, dict[str, Any]]) -> None:
        self._folder = folder
        self.about = about
        self._files = files

    def file(self, name: str) -> NDArray[np.uint8]:
        """Return the contents of a file.

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
    """Yield the names of entries in a folder that belong to no checkpoint."""
    for entry in os.scandir(folder):
        if entry.name == _BLOCKS and entry.is_dir(follow_symlinks=False):
            named = (name for name in os.listdir(entry) if not (_OWN_BLOCK.fullmatch(name) or is_temporary(name)))
            yield from (f"{_BLOCKS}/{name}" for name in named)
        elif entry.name != _MANIFEST and not is_temporary(entry.name):
            yield entry.name


def _content(path: Path, most: int) -> bytes:
    """Return the contents of a regular file of at most `most` bytes; refuse anything else without blocking."""
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
    """Return the file name of a block; None if it is all zero."""
    return hashlib.sha256(content.data).hexdigest() if content.any() else None


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically and durably."""
    with replaced(path, durable=True) as temporary:
        temporary.write_bytes(data)


def _sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
