"""Trimming: vertices that are components of their own by their degree alone."""

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Graph

__all__ = ["trim"]


def trim(graph: Graph, transpose: Graph) -> NDArray[np.bool_]:
    """Mark the vertices with no edge in or no edge out (paper, section 4.1).

    One pass, as in the paper: a vertex that only loses its last neighbour to trimming is not found. A self-loop is
    an edge in and an edge out, so a vertex with nothing else is not found either.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    sinks = graph.offsets[1:] == graph.offsets[:-1]
    sources = transpose.offsets[1:] == transpose.offsets[:-1]
    return sinks | sources
