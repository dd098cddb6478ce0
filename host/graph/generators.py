"""Seeded synthetic graphs after GTgraph (Bader and Madduri 2006), the source of the paper's inputs (section 6).

Random numbers come from numbered streams, and are the same on every machine.

Each function named ``..._graph`` except the last makes the graphs of one of `cyscc.host.graph.kinds.KINDS`.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.available_memory import check_available_memory
from cyscc.host.graph.csr import Graph, check_limits, list_bytes, size_text
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import OnProgress
from cyscc.sim.caching.numba_code import njit
from cyscc.sim.processors import available_cores

if TYPE_CHECKING:
    from cyscc.hw.config import AcceleratorConfig

_CHUNK = 1 << 18

_State: TypeAlias = NDArray[np.uint64]
_Ids: TypeAlias = NDArray[np.uint32]
_Fill = Callable[[_State, int, _Ids, _Ids], None]
"""Function that fills a chunk of sources and targets from a stream; the integer is the number of vertices."""


@njit(cache=True, nogil=True, forceinline=True)
def _mix(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True)
def stream(seed: int, number: int) -> NDArray[np.uint64]:
    """Return the initial state, uint64 (1,), of a numbered stream of a seed (SplitMix64, Steele et al. 2014)."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = _mix(_mix(np.uint64(seed)) ^ (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)))
    return state


@njit(cache=True, nogil=True, forceinline=True)
def draw(state: NDArray[np.uint64]) -> np.uint64:
    """Draw 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return _mix(state[0])


@njit(cache=True, nogil=True, forceinline=True)
def unit(state: NDArray[np.uint64]) -> float:
    """Draw a number from [0, 1) in steps of 2**-53."""
    return np.float64(draw(state) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True, forceinline=True)
def below(state: NDArray[np.uint64], limit: int) -> np.int64:
    """Draw an integer from [0, `limit`), `limit` at most 2**32, without bias (Lemire 2019)."""
    size = np.uint64(limit)
    low = np.uint64(0xFFFFFFFF)
    product = (draw(state) >> np.uint64(32)) * size
    if product & low < size:
        threshold = (np.uint64(1 << 32) - size) % size
        while product & low < threshold:
            product = (draw(state) >> np.uint64(32)) * size
    return np.int64(product >> np.uint64(32))


def _check_request(vertices: int, degree: int, seed: int) -> None:
    """Refuse a graph that cannot be generated.

    Parameters
    ----------
    vertices : int
        Number of vertices, at least 1, and at least 2 for a graph with edges.
    degree : int
        Average out-degree, at least 0.
    seed : int
        0 to 2**64 - 1.

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits or for the memory there is.
    """
    if degree < 0 < vertices:
        raise InputError(f"the degree must not be negative, not {degree}")
    if vertices == 1 and degree > 0:
        raise InputError(f"a graph of one vertex without self-loops has no edges: degree {degree} cannot be had")
    _check_edges(vertices, vertices * degree, seed)


def _check_edges(vertices: int, edges: int, seed: int) -> None:
    """Refuse a graph that cannot be generated, by its number of edges; see `_check_request`.

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits or for the memory there is.
    """
    if vertices < 1:
        raise InputError(f"a graph needs at least one vertex, not {vertices}")
    if edges < 0:
        raise InputError(f"the number of edges must not be negative, not {edges}")
    if not 0 <= seed < 2**64:
        raise InputError(f"the seed must be 0 to {2**64 - 1}, not {seed}")
    check_limits(vertices, edges)
    check_available_memory(size_text(vertices, edges), list_bytes(vertices, edges))


def _draw_graph(fill: _Fill, vertices: int, degree: int, seed: int, on_step: OnProgress | None) -> Graph:
    """Draw a graph's edges on all cores, in chunks with one random stream each.

    The result depends on the seed, not on the number of cores.

    Parameters
    ----------
    fill : callable
        Compiled function that fills a chunk; it must release the GIL.
    vertices, degree, seed : int
        See `_check_request`.
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
    _check_request(vertices, degree, seed)
    edges = vertices * degree
    sources, targets = np.empty((2, edges), np.uint32)

    def work(chunk: int) -> None:
        part = slice(chunk * _CHUNK, (chunk + 1) * _CHUNK)
        fill(stream(np.uint64(seed), chunk), vertices, sources[part], targets[part])

    chunks = -(-edges // _CHUNK)
    with ThreadPoolExecutor(max_workers=available_cores()) as pool:
        # The first chunk runs alone, to compile the function once rather than in every thread.
        if chunks:
            work(0)
        for done, _ in enumerate(pool.map(work, range(1, chunks)), start=2):
            if on_step is not None:
                on_step(min(done * _CHUNK, edges), edges)
    return Graph.from_edges(vertices, sources, targets)


@njit(cache=True, nogil=True)
def _fill_random(state: _State, vertices: int, sources: _Ids, targets: _Ids) -> None:
    for edge in range(len(sources)):
        source, target = below(state, vertices), below(state, vertices)
        while source == target:
            source, target = below(state, vertices), below(state, vertices)
        sources[edge], targets[edge] = source, target


def random_graph(vertices: int, degree: int, seed: int = 0, *, on_step: OnProgress | None = None) -> Graph:
    """Draw a uniform random graph as GTgraph does.

    Both endpoints of an edge are uniform and independent. Self-loops are redrawn, parallel edges are kept.

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
    return _draw_graph(_fill_random, vertices, degree, seed, on_step)


_A, _B, _C, _D = 0.45, 0.15, 0.15, 0.25
_VARIATION = 0.05


@njit(cache=True, nogil=True, forceinline=True)
def _fraction(bits: np.uint64, place: int) -> float:
    """Return 16 of 64 random bits as a fraction in [0, 1)."""
    return np.float64((bits >> np.uint64(16 * place)) & np.uint64(0xFFFF)) * 2.0**-16


@njit(cache=True, nogil=True, forceinline=True)
def _edge(state: _State, vertices: int) -> tuple[int, int]:
    a, b, c, d = _A, _B, _C, _D
    source = target = 0
    step = vertices >> 1
    while step:
        # All changes are factors, so scaling the random choice by the sum is equivalent to normalizing a, b, c and d.
        choice = unit(state) * (a + b + c + d)
        upper = choice < a + b
        left = choice < a or (not upper and choice < a + b + c)
        source += 0 if upper else step
        target += 0 if left else step
        step >>= 1
        bits = draw(state)
        a *= 1.0 + _VARIATION * (2.0 * _fraction(bits, 0) - 1.0)
        b *= 1.0 + _VARIATION * _fraction(bits, 1)
        c *= 1.0 + _VARIATION * (2.0 * _fraction(bits, 2) - 1.0)
        d *= 1.0 + _VARIATION * (2.0 * _fraction(bits, 3) - 1.0)
    return source, target


@njit(cache=True, nogil=True)
def _fill_rmat(state: _State, vertices: int, sources: _Ids, targets: _Ids) -> None:
    for edge in range(len(sources)):
        source, target = _edge(state, vertices)
        while source == target:
            source, target = _edge(state, vertices)
        sources[edge], targets[edge] = source, target


def rmat_graph(vertices: int, degree: int, seed: int = 0, *, on_step: OnProgress | None = None) -> Graph:
    """Draw an R-MAT graph (Chakrabarti et al. 2004) as GTgraph does.

    Each edge halves the adjacency matrix log2(n) times, into the quadrants a (upper left), b (upper right), c (lower
    left) and d with probabilities 0.45, 0.15, 0.15 and 0.25 at first. After each halving a, c and d change by up to
    5 % either way and b grows by up to 5 %, then all are scaled to a sum of one. Self-loops are redrawn, parallel
    edges are kept, and vertices are not permuted.

    Parameters
    ----------
    vertices : int
        Number of vertices, n: a power of two, at least 2 when `degree` is not 0.
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
    if vertices > 0 and vertices & (vertices - 1):
        raise InputError(f"the vertices of an R-MAT graph must be a power of two, not {vertices}")
    return _draw_graph(_fill_rmat, vertices, degree, seed, on_step)


_PARALLEL = 3
_ONE_WAY = 0.2

# A vertex has inter-clique edges to the distances 1, 2, 4, ... with probability 0.5, 0.25, 0.125, ..., so about one
# connected pair per vertex, with two parallel edges on average.
_INTERCLIQUE_DEGREE = 2.0

# A member of a clique of uniform size 1..C meets 2 (C - 1) / 3 others on average; each is its neighbour with
# probability 0.9 (both ways 0.8, this way round 0.1) over two parallel edges.
_DEGREE_PER_MEMBER = 1.2


@njit(cache=True, nogil=True)
def _cliques(state: _State, largest: int, cliques: _Ids) -> None:
    """Divide the vertices, in order, into cliques of uniformly random size; write each vertex's clique."""
    vertex = clique = 0
    while vertex < len(cliques):
        end = min(vertex + 1 + below(state, largest), len(cliques))
        cliques[vertex:end] = clique
        vertex = end
        clique += 1


@njit(cache=True, nogil=True)
def _clique_edges(state: _State, cliques: _Ids, sources: _Ids, targets: _Ids) -> int:
    """Write the edges within cliques; return their number, including those that do not fit the arrays."""
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
                        sources[count], targets[count] = (second, first) if reverse else (first, second)
                    count += 1
            second += 1
    return count


@njit(cache=True, nogil=True)
def _interclique_edges(state: _State, cliques: _Ids, sources: _Ids, targets: _Ids) -> None:
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
            sources[count], targets[count] = source, target
            count += 1


def ssca2_graph(vertices: int, degree: int, seed: int = 0, *, on_step: OnProgress | None = None) -> Graph:
    """Draw a graph of the SSCA#2 kind with GTgraph's default parameters, sized by its average degree.

    Vertices are divided, in order, into cliques of uniformly random size, at most the cube root of n (2**(scale/3)). A
    pair in a clique is connected in one random direction with probability 0.2, otherwise in both, each by one to three
    parallel edges. Further edges, one to three in parallel, lead from a uniform vertex to the one 1, 2, 4, ... places
    on, with probability 0.5, 0.25, 0.125, ..., if that is in another clique.

    GTgraph takes no degree: its cliques grow with n, and the average degree is about 1.2 times the largest clique. Here
    the degree is given. The largest clique (at most the cube root of n) is chosen so that cliques provide all but about
    two edges per vertex, and edges between cliques provide the rest.

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
    _check_request(vertices, degree, seed)
    edges = vertices * degree
    sources, targets, cliques = (np.empty(size, np.uint32) for size in (edges, edges, vertices))
    cube_root = round(vertices ** (1 / 3))
    cube_root -= cube_root**3 > vertices
    largest = max(1, min(cube_root, 1 + int((degree - _INTERCLIQUE_DEGREE) / _DEGREE_PER_MEMBER)))
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


@njit(cache=True, nogil=True)
def _fill_pairs(state: _State, vertices: int, pairs: NDArray[np.int64]) -> None:
    for place in range(len(pairs)):
        source = below(state, vertices)
        target = below(state, vertices - 1)
        # Skip the vertex itself.
        pairs[place] = source * vertices + target + (target >= source)


def gnm_graph(vertices: int, edges: int, seed: int = 0, *, on_step: OnProgress | None = None) -> Graph:
    """Draw a uniform random graph with a given number of edges, the G(n, m) model.

    There are no self-loops and no parallel edges: a repeated edge is redrawn.

    Parameters
    ----------
    vertices : int
        Number of vertices, n.
    edges : int
        Number of directed edges, 0 to n * (n - 1).
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
    _check_edges(vertices, edges, seed)
    if edges > vertices * (vertices - 1):
        most = vertices * (vertices - 1)
        raise InputError(f"{vertices} vertices have at most {most} different edges without self-loops, not {edges}")
    pairs = np.empty(0, np.int64)
    rounds = 0
    while pairs.size < edges:
        drawn = np.empty(edges - pairs.size, np.int64)
        _fill_pairs(stream(np.uint64(seed), rounds), vertices, drawn)
        pairs = np.unique(np.concatenate([pairs, drawn]))
        rounds += 1
        if on_step is not None:
            on_step(pairs.size, edges)
    sources, targets = np.divmod(pairs, vertices)
    return Graph.from_edges(vertices, sources.astype(np.uint32), targets.astype(np.uint32))


def netlist_graph(config: "AcceleratorConfig") -> Graph:
    """Return the signal-dependency graph of a machine's netlist; its strong components are feedback loops.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine.

    Returns
    -------
    Graph
        An edge leads from each signal to every signal that it drives.
    """
    from cyscc.sim.hardware import signal_graph

    vertices, sources, targets = signal_graph(config)
    return Graph.from_edges(vertices, sources, targets)
