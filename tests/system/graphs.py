"""Graphs that are awkward for the accelerator, by name; all small enough for every machine and memory."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph, rmat_graph, ssca2_graph

Pairs = list[tuple[int, int]]


def graph_of(vertices: int, pairs: Iterable[tuple[int, int]]) -> Graph:
    """Return the graph of some edges, given as pairs of source and target."""
    edges = np.array(list(pairs), np.uint32).reshape(-1, 2)
    return Graph.from_edges(vertices, edges[:, 0], edges[:, 1])


def repeated(copies: int) -> Graph:
    """Return a graph of 30 vertices in cycles, in which each edge is repeated a number of times."""
    return graph_of(30, [(v, (7 * v + 1) % 30) for v in range(30)] * copies)


def messy_graph(vertices: int, edges: int, seed: int) -> Graph:
    """Return a random graph in which self-loops and repeated edges stay, unlike in the generators' graphs."""
    ends = np.random.default_rng(seed).integers(0, vertices, (2, edges), dtype=np.uint32)
    return Graph.from_edges(vertices, ends[0], ends[1])


def _chain(vertices: Iterable[int]) -> Pairs:
    return list(pairwise(vertices))


def _cycle(vertices: Iterable[int]) -> Pairs:
    listed = list(vertices)
    return list(zip(listed, [*listed[1:], listed[0]], strict=True))


def _complete(vertices: Iterable[int]) -> Pairs:
    listed = list(vertices)
    return [(u, v) for u in listed for v in listed if u != v]


def _star(hub: int, leaves: Iterable[int]) -> Pairs:
    return [(hub, leaf) for leaf in leaves]


def _reverse(pairs: Pairs) -> Pairs:
    return [(target, source) for source, target in pairs]


def _nested_cycles() -> Pairs:
    """Cycles inside one component: 2, 4, 8, 16 and 32 long, all through vertex 0."""
    return [edge for length in (2, 4, 8, 16, 32) for edge in _cycle(range(length))]


def _bow_tie() -> Pairs:
    """Leaves and components that lead into a core, the core, those that it leads to, a tube past it, tendrils."""
    core = [*_cycle(range(10)), *_complete(range(3, 7))]
    into = [*_cycle(range(10, 14)), (10, 0), (14, 10), (15, 14), (16, 3)]
    out = [*_cycle(range(20, 25)), (5, 20), (9, 22), (24, 25), (25, 26)]
    return [*core, *into, *out, (15, 25), (14, 27), (28, 26)]


def _component_chain(components: int, size: int) -> Pairs:
    """Components each of which leads to the next one, so that every forward search reaches all that follow."""
    cycles = [edge for c in range(components) for edge in _cycle(range(c * size, (c + 1) * size))]
    return cycles + [(c * size + 1, (c + 1) * size + 2) for c in range(components - 1)]


def _touching() -> Pairs:
    """Return cycles of four of which each has an edge into the next."""
    cycles = [edge for c in range(4) for edge in _cycle(range(4 * c, 4 * c + 4))]
    return [*cycles, *((4 * c, 4 * c + 4) for c in range(3))]


def _tailed_path() -> Pairs:
    """Return a long path with a cycle at each end and loops on the way."""
    ends = [*_cycle([0, 1, 2]), *_cycle(range(20, 24))]
    return [*ends, *_chain(range(2, 21)), *((v, v) for v in (5, 6, 20)), (9, 8)]


def _ladder() -> Pairs:
    """Two paths in opposite directions with rungs both ways: a component of large diameter."""
    rungs = [(v, 15 + v) for v in range(15)]
    return [*_chain(range(15)), *_chain(range(29, 14, -1)), *rungs, *_reverse(rungs)]


def _acyclic(vertices: int, edges: int, seed: int) -> Pairs:
    ends = np.sort(np.random.default_rng(seed).integers(0, vertices, (edges, 2)), axis=1)
    return [(int(u), int(v)) for u, v in ends if u != v]


_CROSSED = [(u, v) for _ in range(50) for u in range(8) for v in (8, (u + 1) % 8)] + [(8, 0)] * 40

_TREE = [((v - 1) // 2, v) for v in range(1, 31)]
_HUB = [*_star(0, range(1, 70)), *_reverse(_star(0, range(1, 70)))]

GRAPHS: dict[str, Graph] = {
    "one vertex": graph_of(1, []),
    "one self-loop": graph_of(1, [(0, 0)]),
    "one edge": graph_of(2, [(0, 1)]),
    "two-cycle": graph_of(2, [(0, 1), (1, 0)]),
    "isolated": graph_of(9, []),
    "isolated between": graph_of(13, [(3, 7), (7, 11), (11, 3), (7, 1)]),
    "self-loops only": graph_of(6, [(v, v) for v in range(6)]),
    "self-loops": graph_of(
        8, [(0, 0), (0, 0), *_cycle([0, 1, 2]), (2, 3), (3, 3), (3, 4), (4, 4), *_cycle([5, 6]), (6, 4)]
    ),
    "repeated edges": graph_of(5, [*(_cycle([0, 1, 2]) * 5), *([(2, 3)] * 9), *(_cycle([3, 4]) * 3), *([(4, 4)] * 4)]),
    "many self-loops of a source": graph_of(3, [(0, 0)] * 20 + [(1, 0), (1, 2)]),
    "chain": graph_of(20, _chain(range(20))),
    "chain backwards": graph_of(20, _chain(range(19, -1, -1))),
    "cycle": graph_of(40, _cycle(range(40))),
    "cycle backwards": graph_of(40, _cycle(range(39, -1, -1))),
    "two-cycles": graph_of(12, [(v, v ^ 1) for v in range(12)]),
    "two-cycles in a row": graph_of(12, [*((v, v ^ 1) for v in range(12)), *((v, v + 2) for v in range(10))]),
    "star out": graph_of(60, _star(0, range(1, 60))),
    "star in": graph_of(60, _reverse(_star(0, range(1, 60)))),
    "hub": graph_of(70, _HUB),
    "hub, every edge three times": graph_of(70, _HUB * 3),
    "copies of two in turn, and of one by all": graph_of(9, _CROSSED),
    "two hubs": graph_of(60, [*_star(0, range(2, 60)), *_reverse(_star(1, range(2, 60))), (1, 0)]),
    "hub of leaves": graph_of(90, [(0, 1), (1, 0), *_star(0, range(2, 90))]),
    "complete": graph_of(14, _complete(range(14))),
    "complete, loops too": graph_of(10, [(u, v) for u in range(10) for v in range(10)]),
    "bipartite one way": graph_of(20, [(u, v) for u in range(10) for v in range(10, 20)]),
    "bipartite both ways": graph_of(16, [e for u in range(8) for v in range(8, 16) for e in ((u, v), (v, u))]),
    "tree out": graph_of(31, _TREE),
    "tree in": graph_of(31, _reverse(_TREE)),
    "acyclic": graph_of(24, _acyclic(24, 60, 3)),
    "nested cycles": graph_of(32, _nested_cycles()),
    "touching components": graph_of(16, _touching()),
    "components in a row": graph_of(30, _component_chain(6, 5)),
    "figure of eight": graph_of(15, [*_cycle(range(8)), *_cycle([0, *range(8, 15)])]),
    "bow tie": graph_of(29, _bow_tie()),
    "path with loops": graph_of(24, _tailed_path()),
    "ladder": graph_of(30, _ladder()),
    "zero-degree neighbours": graph_of(
        50, [*_cycle(range(5)), *((v % 5, v) for v in range(5, 50)), *((v % 5, v) for v in range(5, 50, 2))]
    ),
    "random sparse": messy_graph(90, 110, 1),
    "random": messy_graph(80, 200, 2),
    "random dense": messy_graph(50, 600, 3),
    "uniform": random_graph(128, 4, seed=4),
    "R-MAT": rmat_graph(128, 4, seed=5),
    "SSCA#2": ssca2_graph(64, 6, seed=6),
}
"""Awkward graphs, each named for its difficulty."""

SOURCES: dict[str, int] = {"chain backwards": 19, "tree in": 30, "star in": 7, "path with loops": 2, "bow tie": 15}
"""Where a search of a graph starts, unless it is vertex 0."""
