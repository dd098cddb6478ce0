"""Small graphs for tests, by name."""

import numpy as np

from cyscc.host.graph.csr import Graph
from tests.system.graphs import graph_of, messy_graph


def without_repeats(graph: Graph) -> Graph:
    """Return the graph without repeated edges."""
    sources = np.repeat(np.arange(graph.vertices), graph.out_degrees())
    edges = np.unique(np.stack([sources, graph.targets]), axis=1).astype(np.uint32)
    return Graph.from_edges(graph.vertices, edges[0], edges[1])


GRAPHS: dict[str, Graph] = {
    "one vertex": graph_of(1, []),
    "one self-loop": graph_of(1, [(0, 0)]),
    "isolated": graph_of(5, []),
    "self-loops": graph_of(4, [(0, 0), (1, 1), (1, 2), (2, 1), (3, 3), (2, 3)]),
    "repeated edges": graph_of(3, [(0, 1), (0, 1), (0, 1), (1, 0), (1, 2), (1, 2), (2, 2)]),
    "chain": graph_of(20, [(v, v + 1) for v in range(19)]),
    "cycle": graph_of(20, [(v, (v + 1) % 20) for v in range(20)]),
    "two-cycles": graph_of(20, [(v, v ^ 1) for v in range(20)]),
    "star out": graph_of(20, [(0, v) for v in range(1, 20)]),
    "star in": graph_of(20, [(v, 0) for v in range(1, 20)]),
    "hub": graph_of(20, [(0, v) for v in range(1, 20)] + [(v, 0) for v in range(1, 20)]),
    "bow tie": graph_of(9, [(0, 3), (1, 3), (2, 1), (1, 2), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7), (7, 6), (4, 8)]),
    "touching": graph_of(7, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (3, 4), (4, 5), (5, 6), (6, 4)]),
    "random sparse": messy_graph(60, 90, 1),
    "random": messy_graph(60, 150, 2),
    "random dense": messy_graph(40, 400, 3),
}
