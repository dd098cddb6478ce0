"""JSON documents of folders that the program writes and reads again, sealed with a digest of their contents.

A seal detects damage, not forgery: who writes a document can seal it, too. What a document says is therefore checked as
any other input is.
"""

import hashlib
import json
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from cyscc.host.output.errors import InputError, reason, refusing
from cyscc.host.output.files import write_json
from cyscc.sim.documents import DocumentError, read_plain
from cyscc.sim.files import replaced

SEAL = "sha256"
"""Field of a sealed document: the digest of all others."""

DAMAGED = "is damaged: its digest is another"
"""Cause of the refusal of a file whose digest is not the one that was kept of it."""

_LONGEST = 64 << 20
"""Most bytes of a document."""


def _digest(document: Mapping[str, Any]) -> str:
    """Return the digest of a document without its seal: that of its values, however they are laid out."""
    values = {name: value for name, value in document.items() if name != SEAL}
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its seal."""
    return {**document, SEAL: _digest(document)}


def write_sealed(path: Path | str, document: Mapping[str, Any]) -> None:
    """Write a document with its seal, atomically.

    Raises
    ------
    InputError
        The file could not be written.
    """
    write_json(str(path), sealed(document))


def write_durable(path: Path, document: Mapping[str, Any]) -> str:
    """Write a document with its seal, atomically and so that it survives a crash of the machine; return the seal.

    Raises
    ------
    OSError
        It cannot be written.
    """
    closed = sealed(document)
    with replaced(path, durable=True) as temporary:
        temporary.write_text(json.dumps(closed))
    return str(closed[SEAL])


def read_content(path: Path | str, *, most: int) -> bytes:
    """Return the contents of a file of a folder, which is no link, device or pipe, of at most so many bytes.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    InputError
        It cannot be read, or is too long.
    """
    try:
        return read_plain(path, most=most, follow=False)
    except FileNotFoundError:
        raise
    except (OSError, DocumentError) as error:
        raise InputError(reason(error), path=path) from None


def read_document(path: Path | str) -> dict[str, Any]:
    """Return the JSON object in a file of a folder; the file must be no link, device or pipe.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    InputError
        It cannot be read, is too long, or is no JSON object.
    """
    content = read_content(path, most=_LONGEST)
    with refusing(ValueError, RecursionError, before="is not JSON: ", path=path):
        document: Any = json.loads(content)
        # A surrogate by itself may only stand for a byte of a name that is not UTF-8.
        json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape")
    if not isinstance(document, dict):
        raise InputError("is no JSON object", path=path)
    return document


def read_sealed(path: Path | str) -> dict[str, Any]:
    """Return a sealed document, without its seal.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    InputError
        See `read_document`; or the document has no seal, or that of another one.
    """
    document = read_document(path)
    if SEAL not in document:
        raise InputError(f"is damaged, or of another version: it has no digest ({SEAL})", path=path)
    if document.pop(SEAL) != _digest(document):
        raise InputError(DAMAGED, path=path)
    return document


def read_verified(path: Path | str, digest: str, *, most: int) -> bytes:
    """Return the contents of a file of a folder whose digest was kept; the file must be no link, device or pipe.

    Parameters
    ----------
    path : Path or str
        The file.
    digest : str
        Its SHA-256, in hexadecimal.
    most : int
        Most bytes that it may have.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    InputError
        It cannot be read, is too long, or is damaged.
    """
    content = read_content(path, most=most)
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError(DAMAGED, path=path)
    return content


def file_digest(file: BufferedReader) -> str:
    """Return the SHA-256 of an open file from its current position to its end, in hexadecimal."""
    return hashlib.file_digest(file, "sha256").hexdigest()
