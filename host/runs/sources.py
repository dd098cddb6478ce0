"""Digests of the source code, part of the cache keys of results."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PRODUCERS = ("host/experiments/measuring", "host/runs")
"""Packages of the host that produce results; they and the packages of their imports are digested."""

_IMPORTED = re.compile(r"^\s*(?:from|import) cyscc\.(host\.[\w.]+)", re.MULTILINE)
_SUFFIXES = {".py", ".toml", ".cpp", ".h"}


def _files(package: Path) -> list[Path]:
    """Return the source files of a package, sorted."""
    return [file for file in sorted(package.rglob("*")) if file.suffix in _SUFFIXES]


def source_files() -> list[Path]:
    """Return all files that a result depends on: hardware, simulator, and the host packages that are imported."""
    packages: dict[Path, list[Path]] = {}
    waiting = [_ROOT / name for name in _PRODUCERS]
    while waiting:
        place = waiting.pop()
        package = place if place.is_dir() else place.parent
        if package not in packages:
            packages[package] = _files(package)
            names = {name for file in packages[package] for name in _IMPORTED.findall(file.read_text(encoding="utf-8"))}
            waiting += [_ROOT / name.replace(".", "/") for name in names]
    host = {file for files in packages.values() for file in files}
    return [*_files(_ROOT / "hw"), *_files(_ROOT / "sim"), *sorted(host)]


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
