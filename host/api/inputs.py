"""Graphs, configurations and memory profiles for the Python interface."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph as _read
from cyscc.host.graph.formats import write_graph as _write
from cyscc.host.graph.kinds import KINDS_BY_DEGREE, generate_graph
from cyscc.sim.configuration import AcceleratorConfig, load_config
from cyscc.sim.memory import Profile, parse_profile
from cyscc.sim.notices import notice
from cyscc.sim.trust import GivenText

__all__ = ["configuration", "generate", "graph_from_edges", "memory_profile", "read_graph", "write_graph"]


def configuration(name: str = "hc2", **changes: Any) -> AcceleratorConfig:
    """Return a configuration.

    Parameters
    ----------
    name : str
        A preset, one of `PRESETS`, or a TOML file.
    **changes
        Overrides: ``configuration("hc2", word_depth=256)``.

    Raises
    ------
    ValueError
        The name is unknown, or the values are invalid.
    TypeError
        A key is unknown.
    """
    return load_config(name).replace(**changes)


def memory_profile(name: str = "hc2", **changes: Any) -> Profile:
    """Return a memory profile.

    Parameters
    ----------
    name : str
        ``hc2``, ``hbm2``, ``fixed:CYCLES``, ``stress``, ``stress:SEED``, a TOML file, or a file of rules (code).
    **changes
        Overrides: ``memory_profile("hc2", links=4)``.

    Raises
    ------
    ValueError
        The name is unknown, or the values are invalid.
    TypeError
        A key is unknown.
    """
    profile = parse_profile(GivenText(name))
    return replace(profile, **changes) if changes else profile


def read_graph(path: str | PathLike[str], *, undirected: bool = False) -> Graph:
    """Read a graph: SNAP edge list, Matrix Market, DIMACS or GTgraph, scipy sparse matrix; each also gzipped.

    Parameters
    ----------
    path : str or path
        The file.
    undirected : bool
        Read each edge in both directions, self-loops once.

    Raises
    ------
    InputError
        It cannot be read, or is not a graph; names file, line and cause.
    """
    return _read(str(path), undirected=undirected, on_note=notice)


def write_graph(graph: Graph, path: str | PathLike[str]) -> None:
    """Write a graph in the format named by the file's suffix.

    Raises
    ------
    InputError
        It could not be written.
    """
    _write(graph, Path(path))


def generate(kind: str, vertices: int, degree: int, seed: int = 0) -> Graph:
    """Generate a graph; the same arguments give the same graph.

    Parameters
    ----------
    kind : str
        ``random``, ``rmat`` or ``ssca2``.
    vertices : int
        Number of vertices.
    degree : int
        Average number of edges of a vertex.
    seed : int
        Seed of the generator.

    Raises
    ------
    ValueError
        There is no such kind.
    InputError
        The graph would be too large, or the generator has none of this size.
    """
    if kind not in KINDS_BY_DEGREE:
        raise ValueError(f"unknown kind of graph {kind!r}: there are {', '.join(KINDS_BY_DEGREE)}")
    return generate_graph(kind, vertices=vertices, degree=degree, seed=seed)


def graph_from_edges(vertices: int, sources: npt.ArrayLike, targets: npt.ArrayLike) -> Graph:
    """Make a graph from arrays of edges.

    Parameters
    ----------
    vertices : int
        Number of vertices, n.
    sources, targets : array_like of int, shape (m,)
        Source and target of each edge, 0 to n - 1.

    Raises
    ------
    ValueError
        An edge has a vertex outside 0 to n - 1, or the arrays differ in length.
    InputError
        The graph is too large.
    """
    begins, ends = (np.asarray(given, dtype=np.int64).ravel() for given in (sources, targets))
    if begins.size != ends.size:
        raise ValueError(f"{begins.size} edges begin, and {ends.size} end")
    for ids in (begins, ends):
        wrong = ids[(ids < 0) | (ids >= vertices)]
        if wrong.size:
            raise ValueError(f"an edge has vertex {wrong[0]}, and there are 0 to {vertices - 1}")
    return Graph.from_edges(vertices, begins.astype(np.uint32), ends.astype(np.uint32))
