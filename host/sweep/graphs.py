"""The graphs of a sweep: those that files hold, and what those that are generated are called."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.formats import read_graph
from host.measuring.graphs import size_text
from host.output import reason

__all__ = ["GraphFile", "graph_text"]

_EDGE_BYTES = 6
"""Bytes of a file for an edge, at least, about."""


@dataclass(frozen=True, kw_only=True)
class GraphFile:
    """A graph that a file holds.

    Parameters
    ----------
    path : Path
        The file.
    digest : str
        Digest of its contents.
    size : int
        Its bytes.
    """

    path: Path
    digest: str
    size: int

    @classmethod
    def of(cls, path: Path) -> "GraphFile":
        """Return the graph of a file, looked at as it is now.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            return cls(path=path.resolve(), digest=digest, size=path.stat().st_size)
        except OSError as error:
            raise InputError(f"cannot be read: {reason(error)}", path=path) from None

    @property
    def vertices(self) -> int:
        """Number of vertices, at most, about."""
        return self.edges

    @property
    def edges(self) -> int:
        """Number of edges, at most, about."""
        return self.size // _EDGE_BYTES

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.path.name

    def identity(self) -> dict[str, Any]:
        """Return all that the graph depends on, JSON-able."""
        return {"contents": self.digest, "format": "".join(self.path.suffixes[-2:])}

    def generate(self) -> Graph:
        """Return the graph.

        Raises
        ------
        InputError
            The file cannot be read, or holds none.
        """
        return read_graph(str(self.path))


def graph_text(table: Mapping[str, Any]) -> str:
    """Return what people call a graph that is generated, by what a table says of it: ``rmat 2^16 x 8 seed 1``.

    Parameters
    ----------
    table : mapping
        Some of ``graph.kind``, ``graph.vertices``, ``graph.degree``, ``graph.seed``.
    """
    kind, vertices, degree, seed = (table.get(f"graph.{name}") for name in ("kind", "vertices", "degree", "seed"))
    words = [] if kind is None else [kind]
    if vertices is not None:
        words += [size_text(vertices), "vertices" if degree is None else f"x {degree}"]
    elif degree is not None:
        words.append(f"degree {degree}")
    if seed is not None:
        words.append(f"seed {seed}")
    return " ".join(words)
