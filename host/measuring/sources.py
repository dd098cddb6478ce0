"""A digest of the code that measurements come from, so that none outlives a change of it."""

import hashlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

__all__ = ["digest_beside", "files_digest", "source_files", "sources_digest", "text_digest"]

_EVERYTHING = ("**/*.py", "**/*.cpp", "**/*.h")
_PATTERNS = {
    "hw": _EVERYTHING,
    "sim": _EVERYTHING,
    "host": (
        "algorithms/**/*.py",
        "devices/*.py",
        "graph/csr.py",
        "graph/digests.py",
        "graph/generators/*.py",
        "graph/memory_map.py",
        "graph/trim.py",
        "mdp/*.py",
        "mdp/families/*.py",
        "measuring/components.py",
        "measuring/graphs.py",
        "measuring/mecs.py",
        "measuring/models.py",
        "measuring/searches.py",
    ),
}
"""What decides about a result, by package; the rest of the host reads arguments and writes reports."""


def source_files() -> Iterator[Path]:
    """Yield all files that a result depends on, in an order that is always the same."""
    for package, patterns in _PATTERNS.items():
        folder = Path(next(iter(import_module(package).__path__)))
        for pattern in patterns:
            yield from sorted(folder.glob(pattern))


def files_digest(files: Iterable[Path]) -> str:
    """Return a digest, 64 hexadecimal digits, of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        text = file.read_bytes()
        # With its length in front, a line that moves from one file to the next is a change.
        digest.update(f"{file.name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def text_digest(text: str) -> str:
    """Return a digest, 64 hexadecimal digits, of a text, which stands for it in the inputs of a measurement."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_beside(file: str) -> str:
    """Return the digest of the modules in the folder of one, for a study that measures in its own way."""
    return files_digest(sorted(Path(file).parent.glob("*.py")))


# Taken when the program starts: a file that changes later is not what this process runs.
_SOURCES = files_digest(source_files())


def sources_digest() -> str:
    """Return the digest of the hardware, the simulator and what of the host decides about a result."""
    return _SOURCES
