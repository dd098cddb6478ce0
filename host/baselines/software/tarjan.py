"""Single-threaded Tarjan's algorithm: one depth-first search (R. Tarjan, SIAM J. Comput. 1(2), 1972)."""

import numpy as np

from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import depth_first_components


def tarjan(graph: Graph, _: Graph | None = None, __: SoftwareSetting | None = None) -> Decomposition:
    """Label each component of a graph with one of its vertices.

    Inspects each edge once, in one pass.

    Parameters
    ----------
    graph : Graph
        The graph.
    """
    labels = depth_first_components(graph).astype(np.int64)
    return Decomposition(labels=labels, counts={"edges": graph.edges, "passes": 1})
