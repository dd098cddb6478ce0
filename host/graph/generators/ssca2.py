"""SSCA#2 graphs: cliques of random size, loosely joined."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from host.graph.csr import Graph
from host.graph.generators.stream import OnStep, below, check_request, draw, stream, unit
from sim.caching.code import njit

__all__ = ["ssca2_graph"]

_Ids: TypeAlias = NDArray[np.uint32]

_PARALLEL = 3
_ONE_WAY = 0.2

# Inter-clique edges leave a vertex for the distances 1, 2, 4, ... with probability 0.5, 0.25, 0.125, ..., about one
# pair a vertex, of two parallel edges on average.
_INTERCLIQUE_DEGREE = 2.0

# A member of a clique of uniform size 1..C meets 2 (C - 1) / 3 others on average; each is its neighbour with
# probability 0.9 (both ways 0.8, this way round 0.1) over two parallel edges.
_DEGREE_PER_MEMBER = 1.2


def _largest_clique(vertices: int, degree: int) -> int:
    cube_root = round(vertices ** (1 / 3))
    cube_root -= cube_root**3 > vertices
    return max(1, min(cube_root, 1 + int((degree - _INTERCLIQUE_DEGREE) / _DEGREE_PER_MEMBER)))


@njit(cache=True, nogil=True)
def _cliques(state: NDArray[np.uint64], largest: int, cliques: NDArray[np.uint32]) -> None:
    """Divide the vertices, in order, into cliques of uniform size; write each vertex's clique."""
    vertex = clique = 0
    while vertex < len(cliques):
        end = min(vertex + 1 + below(state, largest), len(cliques))
        cliques[vertex:end] = clique
        vertex = end
        clique += 1


@njit(cache=True, nogil=True)
def _clique_edges(state: NDArray[np.uint64], cliques: _Ids, sources: _Ids, targets: _Ids) -> int:
    """Write the edges inside the cliques and return their number; those beyond the arrays are only counted."""
    count = 0
    for first in range(len(cliques)):
        second = first + 1
        while second < len(cliques) and cliques[second] == cliques[first]:
            choice = unit(state)
            for reverse in range(2):
                if choice < _ONE_WAY and (choice < _ONE_WAY / 2) != (reverse == 0):
                    continue
                for _ in range(1 + below(state, _PARALLEL)):
                    if count < len(sources):
                        sources[count] = second if reverse else first
                        targets[count] = first if reverse else second
                    count += 1
            second += 1
    return count


@njit(cache=True, nogil=True)
def _interclique_edges(state: NDArray[np.uint64], cliques: _Ids, sources: _Ids, targets: _Ids) -> None:
    """Fill the arrays with edges between cliques."""
    vertices = len(cliques)
    count = 0
    while count < len(sources):
        source = below(state, vertices)
        bits = draw(state)
        distance = 1
        while bits & np.uint64(1) and distance < vertices:
            distance <<= 1
            bits >>= np.uint64(1)
        target = (source + distance) % vertices
        if distance >= vertices or cliques[source] == cliques[target]:
            continue
        for _ in range(min(1 + below(state, _PARALLEL), len(sources) - count)):
            sources[count] = source
            targets[count] = target
            count += 1


def ssca2_graph(vertices: int, degree: int, seed: int = 0, *, on_step: OnStep | None = None) -> Graph:
    """Draw a graph of the SSCA#2 kind with GTgraph's default parameters, sized by its average degree.

    Vertices fall, in order, into cliques of uniform size, at most the cube root of n (2**(scale/3)). A pair in a
    clique is joined one way with probability 0.2, either way round, and both ways otherwise, each way by one to three
    parallel edges. Further edges, in ones to threes, lead from a uniform vertex to that 1, 2, 4, ... places on, with
    probability 0.5, 0.25, 0.125, ..., when it lies in another clique.

    GTgraph takes no degree: its cliques grow with n and give about 1.2 times the largest size. Here the degree is
    kept: the largest clique is such that cliques give all but about two edges a vertex (never more than the cube root
    of n), and edges between cliques make up the rest.

    Parameters
    ----------
    vertices : int
        Number of vertices, n; at least 2 when `degree` is not 0.
    degree : int
        Average out-degree: the graph has exactly n * degree directed edges.
    seed : int
        0 to 2**64 - 1; the same seed gives the same graph on every machine.
    on_step : callable, optional
        Called now and then with the edges drawn, and all of them.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits.
    """
    check_request(vertices, degree, seed)
    edges = vertices * degree
    sources = np.empty(edges, dtype=np.uint32)
    targets = np.empty(edges, dtype=np.uint32)
    cliques = np.empty(vertices, dtype=np.uint32)
    largest = _largest_clique(vertices, degree)
    while True:
        state = stream(np.uint64(seed), 0)
        _cliques(state, largest, cliques)
        inside = _clique_edges(state, cliques, sources, targets)
        if inside <= edges:
            break
        largest -= 1
    if on_step is not None:
        on_step(inside, edges)
    _interclique_edges(state, cliques, sources[inside:], targets[inside:])
    return Graph.from_edges(vertices, sources, targets)
