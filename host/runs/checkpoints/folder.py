"""A folder with a checkpoint, written atomically: it is whole or absent, even if the process is killed.

The contents are cut into blocks, each stored in a file named by its digest. Blocks unchanged since the last checkpoint
are already there, and blocks that are all zero are not stored. The manifest lists the blocks of all files. It replaces
the previous manifest once all its blocks are on disk; only then are unreferenced blocks removed.
"""

import hashlib
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.available_memory import check_available_memory
from cyscc.host.output.documents import DAMAGED, read_content, read_sealed, write_durable
from cyscc.host.output.errors import InputError, locating_errors, refusing
from cyscc.host.output.folders import OwnFolder
from cyscc.sim.files import remove_left, replaced

_VERSION = 2
"""Version of the format."""

_BLOCK = 1 << 20
_MANIFEST = "checkpoint.json"
_BLOCKS = "blocks"
_BLOCK_NAME = r"^[0-9a-f]{64}\Z"

_LEVEL = 1
"""Compression level; higher ones take several times as long."""

_LONGEST_BLOCK = 2 * _BLOCK
"""Largest size of a block file in bytes."""


class Identity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Identity of a run, which resuming must not change; see `cyscc.host.specification.run.RunSpec.identity`."""

    graph: str
    configuration: dict[str, Any]
    memory: dict[str, Any]
    options: dict[str, Any]


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Metadata of a checkpoint.

    Parameters
    ----------
    cycle : int
        The cycle in which it was written.
    program : str
        Digest of the program's sources.
    folder : str
        Working folder of the run.
    options : dict
        Options of the run, see `cyscc.host.specification.run.RunSpec.document`.
    seconds : float
        Simulation time so far.
    identity : Identity
        Identity of the run.
    outputs : list of str
        Options of the outputs that the run was asked for, which do not say where.
    """

    cycle: Annotated[int, msgspec.Meta(ge=0)]
    program: str
    folder: str
    options: dict[str, Any]
    seconds: Annotated[float, msgspec.Meta(ge=0, lt=1e12)]
    identity: Identity
    outputs: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """Size of a file in bytes, and the names of its blocks; None for one that is all zero."""

    size: Annotated[int, msgspec.Meta(ge=0)]
    blocks: list[Annotated[str, msgspec.Meta(pattern=_BLOCK_NAME)] | None]


class _Manifest(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    about: About
    files: dict[str, _File]


class CheckpointFolder(OwnFolder):
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

    CONTENT = "checkpoints"
    FILES = re.compile(re.escape(_MANIFEST))
    FOLDERS = MappingProxyType({_BLOCKS: re.compile(_BLOCK_NAME)})

    def __init__(self, path: Path, *, create: bool) -> None:
        super().__init__(path, create=create)
        self._sound: set[str] = set()  # blocks that were read or written by this process

    def close(self) -> None:
        """Release the folder; remove it if it was created here and holds no checkpoint."""
        if self._lock is not None and self._made and not self.complete:
            self.remove()
        super().close()

    @property
    def complete(self) -> bool:
        """Whether there is a complete checkpoint."""
        return (self.path / _MANIFEST).exists()

    def write(self, about: About, files: Mapping[str, NDArray[np.uint8]]) -> None:
        """Write a checkpoint, and replace the previous one with it.

        Parameters
        ----------
        about : About
            Its metadata.
        files : dict of ndarray of uint8
            Its files by name.

        Raises
        ------
        OSError
            It cannot be written; the previous one is unchanged.
        """
        folder = self.path / _BLOCKS
        folder.mkdir(exist_ok=True)
        with ThreadPoolExecutor() as pool:
            blocks = {name: list(pool.map(_name, _cut(content))) for name, content in files.items()}
            missing = {
                block: part
                for name, content in files.items()
                for block, part in zip(blocks[name], _cut(content), strict=True)
                if block is not None and block not in self._sound
            }
            list(pool.map(self._keep, missing, missing.values()))
        _sync_folder(folder)
        stored = {name: _File(size=content.size, blocks=blocks[name]) for name, content in files.items()}
        self._tell(about, stored)
        named = {block for parts in blocks.values() for block in parts}
        self._sound &= named
        for name in {entry.name for entry in os.scandir(folder)} - named:
            (folder / name).unlink()

    def ask_for(self, outputs: list[str]) -> None:
        """Have the checkpoint ask for some outputs only; the others have been written.

        Raises
        ------
        InputError, OSError
            It cannot be read; it cannot be written.
        """
        checkpoint = self.read()
        self._tell(msgspec.structs.replace(checkpoint.about, outputs=outputs), checkpoint.files)

    def _tell(self, about: About, files: dict[str, _File]) -> None:
        """Write the manifest, whose blocks are on disk."""
        # Options of the command line may be texts of a type of their own.
        manifest = msgspec.to_builtins(_Manifest(version=_VERSION, about=about, files=files), enc_hook=str)
        write_durable(self.path / _MANIFEST, manifest)
        _sync_folder(self.path)

    def _keep(self, name: str, content: NDArray[np.uint8]) -> None:
        """Write a block, atomically and durably."""
        with replaced(self.path / _BLOCKS / name, durable=True) as temporary:
            temporary.write_bytes(zlib.compress(content.data, _LEVEL))
        self._sound.add(name)

    def read(self) -> "Checkpoint":
        """Return the checkpoint.

        Raises
        ------
        InputError
            The folder holds no checkpoint, or it is damaged.
        """
        path = self.path / _MANIFEST
        try:
            document = read_sealed(path)
        except FileNotFoundError:
            raise InputError("holds no complete checkpoint", path=self.path) from None
        with refusing(ValueError, before="is no manifest of a checkpoint: ", path=path):
            if (version := document.get("version")) != _VERSION:
                cause = f"has version {version!r} of the format, and this program reads {_VERSION}"
                raise InputError(cause, path=path)
            manifest = msgspec.convert(document, _Manifest)
            for name, file in manifest.files.items():
                if len(file.blocks) != -(-file.size // _BLOCK):
                    raise ValueError(f"{name} has another number of blocks")
        with locating_errors(path=self.path):
            check_available_memory("its contents", sum(file.size for file in manifest.files.values()))
        return Checkpoint(self.path / _BLOCKS, manifest.about, manifest.files, self._sound)

    def remove(self) -> None:
        """Remove the checkpoint and what killed processes left, and the folder if that leaves it empty."""
        with suppress(OSError):
            (self.path / _MANIFEST).unlink(missing_ok=True)
            for entry in os.scandir(self.path / _BLOCKS):
                os.unlink(entry.path)
            (self.path / _BLOCKS).rmdir()
        remove_left(self.path)
        with suppress(OSError):
            self.path.rmdir()


class Checkpoint:
    """A complete checkpoint.

    Parameters
    ----------
    folder : Path
        The folder with its blocks.
    about : About
        Its metadata.
    files : dict
        Size and blocks of each file.
    sound : set of str
        Gets the names of the blocks that have been read.
    """

    def __init__(self, folder: Path, about: About, files: dict[str, _File], sound: set[str]) -> None:
        self._folder = folder
        self.about = about
        self.files = files
        self._sound = sound

    @property
    def path(self) -> Path:
        """The folder of the checkpoint."""
        return self._folder.parent

    def file(self, name: str) -> NDArray[np.uint8]:
        """Return the contents of a file.

        Raises
        ------
        InputError
            There is no such file, or a block of it is damaged or missing.
        """
        file = self.files.get(name)
        if file is None:
            raise InputError(f"is damaged: it lacks {name}", path=self.path)
        content = np.zeros(file.size, np.uint8)
        with ThreadPoolExecutor() as pool:
            list(pool.map(self._fill, file.blocks, _cut(content)))
        return content

    def _fill(self, name: str | None, content: NDArray[np.uint8]) -> None:
        if name is None:
            return
        path = self._folder / name
        try:
            packed = read_content(path, most=_LONGEST_BLOCK)
            data = zlib.decompressobj().decompress(packed, content.size + 1)
        except FileNotFoundError:
            raise InputError("is missing", path=path) from None
        except zlib.error:
            data = b""
        if len(data) != content.size or hashlib.sha256(data).hexdigest() != name:
            raise InputError(DAMAGED, path=path)
        content[:] = np.frombuffer(data, np.uint8)
        self._sound.add(name)


def _cut(content: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """Yield the blocks of a file."""
    return (content[first : first + _BLOCK] for first in range(0, content.size, _BLOCK))


def _name(content: NDArray[np.uint8]) -> str | None:
    """Return the file name of a block; None if it is all zero."""
    return hashlib.sha256(content.data).hexdigest() if content.any() else None


def _sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
