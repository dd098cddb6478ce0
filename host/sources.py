"""Digests of the source code, part of the cache keys of results."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["digest_beside", "files_digest", "source_files", "sources_digest", "text_digest"]

_ROOT = Path(__file__).resolve().parents[1]
_ROOMS = ("measuring", "runs")
"""Packages of the host that produce results; they and their imports are digested."""

_IMPORTED = re.compile(r"^\s*(?:from|import) host\.(\w+)", re.MULTILINE)
_SUFFIXES = {".py", ".cpp", ".h"}


def _files(place: Path) -> list[Path]:
    """Return the source files of a package or a module, sorted."""
    inside = sorted(place.rglob("*")) if place.is_dir() else [place.with_suffix(".py")]
    return [file for file in inside if file.suffix in _SUFFIXES]


def source_files() -> list[Path]:
    """Return all files that a result depends on: hardware, simulator, and the host packages that are imported."""
    rooms: dict[str, list[Path]] = {}
    waiting = list(_ROOMS)
    while waiting:
        room = waiting.pop()
        if room not in rooms:
            rooms[room] = _files(_ROOT / "host" / room)
            waiting += [name for file in rooms[room] for name in _IMPORTED.findall(file.read_text())]
    host = (file for _, files in sorted(rooms.items()) for file in files)
    return [*_files(_ROOT / "hw"), *_files(_ROOT / "sim"), *host]


def files_digest(files: Iterable[Path]) -> str:
    """Return a digest, 64 hexadecimal digits, of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        text = file.read_bytes()
        # The length in front separates files: a line moved from one file to the next changes the digest.
        digest.update(f"{file.name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def text_digest(text: str) -> str:
    """Return a digest, 64 hexadecimal digits, of a text, for the cache key of a measurement."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_beside(file: str) -> str:
    """Return the digest of the package that contains a module, for studies with their own measuring code."""
    return files_digest(_files(Path(file).parent))


# Computed at import: this process does not run later changes of the files.
_SOURCES = files_digest(source_files())


def sources_digest() -> str:
    """Return the digest of the hardware, the simulator and the host packages that a result depends on."""
    return _SOURCES
