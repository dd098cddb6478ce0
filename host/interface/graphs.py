"""Graphs, configurations and memory profiles for the Python interface, which no command has."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy.typing as npt

from cyscc.host.graph.available_memory import check_available_memory
from cyscc.host.graph.csr import Graph, check_limits, csr_bytes
from cyscc.host.graph.formats import read_graph as _read
from cyscc.host.graph.formats import write_graph as _write
from cyscc.host.output.text import count_text
from cyscc.host.specification.numbers import checked_number
from cyscc.sim.configuration import AcceleratorConfig, load_config
from cyscc.sim.memory import Profile, parse_profile
from cyscc.sim.notices import notice
from cyscc.sim.trust import GivenText


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
        ``hc2``, ``hbm2``, ``ddr4``, ``fixed:CYCLES``, ``stress``, ``stress:SEED``, a TOML file, or a file of rules
        (code).
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
    TypeError
        It is no graph.
    InputError
        It could not be written.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"graph must be a Graph, not {graph!r}")
    _write(graph, Path(path))


def graph_from_edges(vertices: int, sources: npt.ArrayLike, targets: npt.ArrayLike) -> Graph:
    """Make a graph from arrays of edges.

    Parameters
    ----------
    vertices : int
        Number of vertices, n.
    sources, targets : array_like, shape (m,)
        Source and target of each edge, whole numbers of any type from 0 to n - 1.

    Raises
    ------
    ValueError
        A number is not whole, an edge has a vertex outside 0 to n - 1, or the arrays differ in length.
    InputError
        The graph is too large.
    """
    count = checked_number("vertices", vertices, low=1)
    check_limits(count, 0)
    check_available_memory(count_text(count, "vertex"), csr_bytes(count, 0))
    return Graph.from_edges(count, sources, targets)
