"""The shape of a file that a command wrote: types, columns, names; for documents and texts also the content."""

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from tests.system.outside.normal import Mode, Normal, shape

_LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(?!data:)([^"]{1,80})"')
_MOST_LINES = 60
_LARGEST = 30_000
"""Characters of a document that is kept with its values; of a larger one the shape is."""

_ENVIRONMENT = re.compile(r'(<th scope="row">(?:version|wall time|date|computer)</th>).*')
"""Facts on a page that say when, where and by which version."""


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:12]


def _columns(path: Path) -> dict[str, Any]:
    """Return the columns of a table, and digests of their contents without real times and digests of the program."""
    table = pq.read_table(path)
    columns = {}
    for field in table.schema:
        held = (
            ""
            if field.name.startswith("wall") or field.name == "point"
            else f" {_digest(repr(table[field.name].to_pylist()))}"
        )
        columns[field.name] = f"{field.type}{held}"
    return {"rows": table.num_rows, "columns": columns}


def _document(path: Path, normal: Normal, *, mode: Mode) -> Any:
    text = path.read_text()
    try:
        parts = json.loads(text)
    except json.JSONDecodeError:
        # A head, and what it is the head of, in lines of their own.
        parts = [json.loads(line) for line in text.splitlines()]
    return normal.document(parts, mode=mode) if len(text) <= _LARGEST else shape(parts)


def _arrays(path: Path) -> dict[str, str]:
    with np.load(path) as file:
        return {name: f"{file[name].dtype} {list(file[name].shape)}" for name in file.files}


def _plain(text: str) -> str:
    """Return a text without tags."""
    return " ".join(re.sub("<[^>]*>", "", text).split())


def _page(path: Path, normal: Normal) -> dict[str, Any]:
    """Return the headings of a page, the columns of its tables, the files it loads, and a digest of everything."""
    text = _ENVIRONMENT.sub(r"\1", path.read_text())
    digest = _digest("\n".join(normal.text(text)))
    # The library that draws is in the page as well, and has tags in its texts.
    text = re.sub(r"<script\b[^>]*>.*?</script>", "", text, flags=re.DOTALL)
    parts = {tag: re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", text, re.DOTALL) for tag in ("title", "h1", "h2", "h3")}
    plain = {tag: [_plain(each) for each in found] for tag, found in parts.items()}
    return {
        **plain,
        "digest": digest,
        "columns": sorted({_plain(each) for each in re.findall(r"<th\b.*?</th>", text)}),
        "loads": sorted(set(_LOADED.findall(text))),
    }


def _waves(path: Path) -> dict[str, Any]:
    text = path.read_text()
    scopes = re.findall(r"^\$scope module (\S+) \$end", text, re.MULTILINE)
    return {"variables": text.count("$var "), "scopes": sorted(set(scopes))}


def _modules(path: Path) -> list[str]:
    return re.findall(r"^module (\\?[\w.$]+)", path.read_text(), re.MULTILINE)


def file_shape(path: Path, normal: Normal, *, mode: Mode) -> Any:
    """Return the shape of a file.

    Parameters
    ----------
    path : Path
        The file.
    normal : Normal
        Takes out what differs.
    mode : Mode
        What of it differs.
    """
    match path.suffix:
        case ".parquet":
            return _columns(path)
        case ".json":
            return _document(path, normal, mode=mode)
        case ".npz":
            return _arrays(path)
        case ".html":
            return _page(path, normal)
        case ".vcd":
            return _waves(path)
        case ".v":
            return _modules(path)
        case ".svg":
            return "drawing"
        case ".pftrace":
            return f"trace {_digest(path.read_bytes())}"
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    try:
        lines = normal.text(content.decode(), mode=mode)
    except UnicodeDecodeError:
        return "binary"
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:10], f"... {len(lines)} lines, {_digest(chr(10).join(lines))}"]
