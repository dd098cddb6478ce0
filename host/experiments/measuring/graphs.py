"""Specifications of the graphs and models to measure: a generator with its parameters, or a file."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.graph.kinds import KINDS, generate_graph
from cyscc.host.output.documents import file_digest
from cyscc.host.output.errors import InputError, refusing
from cyscc.host.specification.numbers import number_text
from cyscc.sim.documents import DocumentError, open_plain


@dataclass(frozen=True, kw_only=True)
class GraphSpec:
    """A generated graph, specified by its generator.

    Parameters
    ----------
    kind : str
        One of `cyscc.host.graph.kinds.KINDS`.
    degree : int
        Average out-degree; for kinds whose generator takes it.
    exact_edges : int
        Number of edges; for kinds whose generator takes it.
    vertices : int
        Number of vertices.
    seed : int
        Seed of the generator.
    """

    kind: str
    degree: int = 0
    vertices: int
    seed: int
    exact_edges: int = 0

    @property
    def edges(self) -> int:
        """Approximate number of edges."""
        return self.vertices * self.degree if "degree" in KINDS[self.kind].sizes else self.exact_edges

    @property
    def label(self) -> str:
        """Name in messages."""
        by_degree = "degree" in KINDS[self.kind].sizes
        size = f"degree {self.degree}" if by_degree else f"{number_text(self.edges)} edges"
        return f"{self.kind}, {size}, {number_text(self.vertices)} vertices"

    def identity(self) -> dict[str, Any]:
        """Return the inputs of the generator as JSON values, for digests."""
        return asdict(self)

    def generate(self) -> Graph:
        """Return the graph.

        Raises
        ------
        InputError
            The generator cannot make a graph of this size.
        """
        values = {**asdict(self), "edges": self.exact_edges}
        return generate_graph(self.kind, **{name: values[name] for name in KINDS[self.kind].sizes})


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A generated Markov decision process, specified by its family.

    Parameters
    ----------
    family : str
        One of `cyscc.host.baselines.mdp.families.FAMILIES`.
    sizes : tuple of pairs
        Name and value of each size that differs from its default.
    """

    family: str
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.family} ({', '.join(f'{name} = {number}' for name, number in self.sizes)})"

    def identity(self) -> dict[str, Any]:
        """Return the inputs of the generator as JSON values, for digests."""
        return asdict(self)

    def model(self) -> Mdp:
        """Return the model.

        Raises
        ------
        InputError
            There is no such family, or it has no model of this size.
        """
        sizes: dict[str, Any] = dict(self.sizes)
        return family(self.family, **sizes)

    def generate(self) -> Graph:
        """Return the model's graph; raises the same errors as `model`."""
        return self.model().graph()


_EDGE_BYTES = 6
"""Approximate lower bound of a file's bytes per edge."""


@dataclass(frozen=True, kw_only=True)
class GraphFile:
    """A graph in a file.

    Parameters
    ----------
    path : Path
        The file.
    digest : str
        Digest of its contents.
    size : int
        Size of the file in bytes.
    name : str
        Name in messages; by default that of the file.
    """

    path: Path
    digest: str
    size: int
    name: str = ""

    @classmethod
    def of(cls, path: Path, *, follow: bool = True) -> "GraphFile":
        """Return the graph of a file, with the file's current digest and size.

        Parameters
        ----------
        path : Path
            The file; not a device or a pipe, since it is read again for each run.
        follow : bool
            Whether it may be a symbolic link.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        with (
            refusing(OSError, DocumentError, before="cannot be read: ", path=path),
            open_plain(path, follow=follow) as file,
        ):
            digest, size = file_digest(file), os.fstat(file.fileno()).st_size
        return cls(path=path.resolve(), digest=digest, size=size)

    @property
    def vertices(self) -> int:
        """Approximate upper bound of the number of vertices."""
        return self.edges

    @property
    def edges(self) -> int:
        """Approximate upper bound of the number of edges."""
        return self.size // _EDGE_BYTES

    @property
    def label(self) -> str:
        """Name in messages."""
        return self.name or self.path.name

    def identity(self) -> dict[str, Any]:
        """Return the identity of the file's contents as JSON values, for digests."""
        return {"contents": self.digest, "format": "".join(self.path.suffixes[-2:])}

    def generate(self) -> Graph:
        """Read the graph.

        Raises
        ------
        InputError
            The file cannot be read, or has changed.
        """
        if GraphFile.of(self.path).digest != self.digest:
            raise InputError("has changed since it was named", path=self.path)
        return read_graph(str(self.path))


def graph_text(table: Mapping[str, Any]) -> str:
    """Return the display name of a generated graph: ``rmat 2^16 x 8 seed 1``.

    Parameters
    ----------
    table : mapping
        The graph's parameters: any of ``graph.kind``, ``graph.vertices``, ``graph.degree``, ``graph.seed``.
    """
    kind, vertices, degree, seed = (table.get(f"graph.{name}") for name in ("kind", "vertices", "degree", "seed"))
    words = [] if kind is None else [kind]
    if vertices is not None:
        words += [number_text(vertices), "vertices" if degree is None else f"x {degree}"]
    elif degree is not None:
        words.append(f"degree {degree}")
    if seed is not None:
        words.append(f"seed {seed}")
    return " ".join(words)
