"""Directed graphs in compressed sparse row (CSR) form, their limits and sizes."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cyscc.host.graph.available_memory import check_available_memory
from cyscc.host.graph.loops import loop
from cyscc.host.output.errors import InputError, VertexError
from cyscc.host.output.text import count_text
from cyscc.hw.values import plain

Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32]]
"""Offsets and targets of a graph, as compiled functions take them."""

MAX_VERTICES = 2**32 - 2
"""Most vertices of a graph: 32-bit ids 0 to 2**32 - 3, so that all ones is no id and the count does not overflow."""

MAX_EDGES = 2**32 - 1
"""Most edges of a graph: the start index of a graph word is 32 bits wide (paper, section 3.1)."""

MAX_DEGREE = 2**31 - 1
"""Most edges of one vertex: the neighbour count of a graph word is 31 bits wide (paper, section 3.1)."""

OFFSET_BYTES = 8
"""Bytes of a CSR offset, of a graph word, and of an entry of a frontier queue."""

ID_BYTES = 4
"""Bytes of a vertex id: a CSR target, an endpoint, an entry of a reach queue; also of a colour or a level."""


def check_limits(vertices: int, edges: int, *, nouns: tuple[str, str] = ("vertices", "edges")) -> None:
    """Refuse a graph whose size does not fit the accelerator's 32-bit indices.

    Parameters
    ----------
    vertices, edges : int
        The size, from a header or a request; checked before anything is allocated.
    nouns : (str, str)
        What they are, for messages.

    Raises
    ------
    InputError
        When `vertices` exceeds `MAX_VERTICES` or `edges` exceeds `MAX_EDGES`.
    """
    for count, most, noun in zip((vertices, edges), (MAX_VERTICES, MAX_EDGES), nouns, strict=True):
        if count > most:
            raise InputError(f"{count} {noun} are too many for 32 bits (at most {most})")


def check_size(vertices: int, edges: int) -> None:
    """Refuse the size in a file header if it has no vertices or does not fit in 32 bits.

    Raises
    ------
    InputError
        The size is not supported.
    """
    if vertices == 0:
        raise InputError("the graph is empty: it has no vertices")
    check_limits(vertices, edges)


def check_degrees(offsets: NDArray[np.int64]) -> None:
    """Refuse a graph in which a vertex has more edges than its 31-bit count holds.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        CSR offsets.

    Raises
    ------
    InputError
        When an out-degree exceeds `MAX_DEGREE`.
    """
    if offsets[-1] <= MAX_DEGREE:
        return
    degrees = np.diff(offsets)
    vertex = int(degrees.argmax())
    if degrees[vertex] > MAX_DEGREE:
        raise InputError(f"{degrees[vertex]} edges of one vertex are too many for 31 bits (at most {MAX_DEGREE})")


def size_text(vertices: int, edges: int) -> str:
    """Return the size of a graph in words."""
    return f"{count_text(vertices, 'vertex')} and {count_text(edges, 'edge')}"


def csr_bytes(vertices: int, edges: int) -> int:
    """Return the bytes of a graph in CSR form."""
    return OFFSET_BYTES * vertices + ID_BYTES * edges


def list_bytes(vertices: int, edges: int) -> int:
    """Return the bytes of an edge list and of the graph built from it, which exist at the same time."""
    return 2 * ID_BYTES * edges + csr_bytes(vertices, edges)


def rows_by_column(rows: NDArray[np.int64], columns: NDArray[np.uint32], count: int) -> Csr:
    """Transpose a CSR matrix: return the rows of each of `count` columns, in ascending order."""
    offsets, sorted_ = np.zeros(count + 2, np.int64), np.empty(len(columns), np.uint32)
    columns = np.ascontiguousarray(columns)
    loop("count", columns, columns.size, offsets, count)
    loop("scatter_rows", np.ascontiguousarray(rows), len(rows) - 1, columns, offsets, sorted_)
    return offsets[:-1], sorted_


def _endpoints(name: str, given: ArrayLike, vertices: int) -> NDArray[np.uint32]:
    """Return one end of each edge, given as whole numbers of any type.

    Raises
    ------
    ValueError
        The array has another shape, or a value is no vertex. One line, which quotes it.
    """
    mask = getattr(given, "mask", None)
    if isinstance(mask, np.ndarray) and mask.any():
        raise ValueError(f"{name} must not be masked")
    # numpy would turn a list's truth values into numbers, and its numbers beside a text into texts.
    exact = hasattr(given, "dtype") or (isinstance(given, Sequence) and {*map(type, given)} <= {int})
    ends = np.asarray(given, None if exact else object)
    if ends.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {ends.ndim}")
    numbers = ends
    if ends.dtype.kind not in "iuf":
        found = map(plain, ends)
        numbers = np.array([each if type(each) in (int, float) and 0 <= each < vertices else -1 for each in found])
    if numbers.dtype.kind == "f" or numbers.min(initial=0) < 0 or numbers.max(initial=0) >= vertices:
        right = (numbers >= 0) & (numbers < vertices) & (np.trunc(numbers) == numbers)
        if not right.all():
            wrong = ends[right.argmin() :][:1].tolist()[0]
            raise ValueError(f"{name}: {wrong!r} is no vertex: there are 0 to {vertices - 1}")
    return np.ascontiguousarray(numbers, dtype=np.uint32)


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """A directed graph in CSR form.

    Vertices are numbered 0 to n - 1; their ids in the input are stored separately. Parallel edges and self-loops are
    edges like any other.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        The neighbours of vertex ``v`` are ``targets[offsets[v]:offsets[v + 1]]``.
    targets : ndarray of uint32, shape (m,)
        Neighbour ids, 0 to n - 1.
    ids : ndarray of int64, shape (n,), optional
        The vertices' ids in the input, ascending; by default consecutive numbers from `base`.
    base : int
        The first id if `ids` is absent: 0, or 1 for formats that count from 1.
    undirected : bool
        Whether it was read as undirected, so that each edge stands in both directions.

    Raises
    ------
    ValueError
        The arrays are inconsistent.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.uint32]
    ids: NDArray[np.int64] | None = None
    base: int = 0
    undirected: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        for name, kind in (("offsets", np.int64), ("targets", np.uint32), ("ids", np.int64)):
            found = getattr(self, name)
            wrong = not isinstance(found, np.ndarray) or found.dtype != kind or found.ndim != 1
            if wrong and not (name == "ids" and found is None):
                raise ValueError(f"{name} must be an array of {kind.__name__} of one dimension, not {found!r:.60}")
        first = self.offsets
        if len(first) < 2 or first[0] != 0 or first[-1] != len(self.targets) or (first[1:] < first[:-1]).any():
            raise ValueError(f"offsets must rise from 0 to {len(self.targets)}, at least 2 of them")
        if self.ids is not None and len(self.ids) != self.vertices:
            raise ValueError(f"ids must name {self.vertices} vertices, not {len(self.ids)}")
        _endpoints("targets", self.targets, self.vertices)

    @property
    def vertices(self) -> int:
        """Number of vertices, n."""
        return len(self.offsets) - 1

    @property
    def csr(self) -> Csr:
        """Offsets and targets."""
        return self.offsets, self.targets

    @property
    def edges(self) -> int:
        """Number of edges, m, including parallel edges and self-loops."""
        return len(self.targets)

    @classmethod
    def from_edges(
        cls,
        vertices: int,
        sources: ArrayLike,
        targets: ArrayLike,
        *,
        ids: NDArray[np.int64] | None = None,
        base: int = 0,
    ) -> "Graph":
        """Build a graph from a list of edges by a stable counting sort.

        The edges of a vertex keep the order of the list. Memory use is that of the list and of the CSR arrays.

        Parameters
        ----------
        vertices : int
            Number of vertices, n.
        sources, targets : array_like, shape (m,)
            The endpoints of each edge, whole numbers of any type from 0 to n - 1; copied unless they are uint32.
        ids : ndarray of int64, shape (n,), optional
            Ids of the vertices in the input, ascending.
        base : int
            First id if `ids` is absent.

        Raises
        ------
        ValueError
            The lists differ in length, or an endpoint is no vertex.
        """
        keys, values = _endpoints("sources", sources, vertices), _endpoints("targets", targets, vertices)
        if len(keys) != len(values):
            raise ValueError(f"sources and targets must be equally long, not {len(keys)} and {len(values)}")
        offsets = np.zeros(vertices + 2, dtype=np.int64)
        sorted_ = np.empty(len(values), dtype=np.uint32)
        loop("count", keys, keys.size, offsets, vertices)
        loop("scatter", keys, values, keys.size, offsets, sorted_)
        return cls(offsets=offsets[:-1], targets=sorted_, ids=ids, base=base)

    def transpose(self) -> "Graph":
        """Return the transpose, with neighbours in ascending order."""
        offsets, targets = rows_by_column(self.offsets, self.targets, self.vertices)
        return Graph(offsets=offsets, targets=targets, ids=self.ids, base=self.base)

    def simplified(self) -> "Graph":
        """Return the graph without parallel edges and self-loops; the graph itself if it has none.

        Distances and the order of the edges are unchanged.
        """
        kept = np.empty(self.edges, np.bool_)
        offsets = np.zeros(self.vertices + 1, np.int64)
        met = np.zeros(self.vertices, np.uint32)
        loop("mark_first", self.offsets, self.vertices, self.targets, met, kept, offsets)
        if offsets[-1] == self.edges:
            return self
        return replace(self, offsets=offsets, targets=self.targets[kept])

    def mirrored(self, on_note: Callable[[str], None] | None = None) -> "Graph":
        """Return the graph with the reverse of each edge but self-loops; the graph itself if it is undirected already.

        The edges of a vertex precede the reversed ones.

        Parameters
        ----------
        on_note : callable, optional
            Called with a line if there are edges in both directions, which become parallel edges.

        Raises
        ------
        InputError
            The graph would not fit in 32 bits, or exceed the memory.
        """
        if self.undirected:
            return self
        sources = np.repeat(np.arange(self.vertices, dtype=np.uint32), self.out_degrees())
        others = sources != self.targets
        edges = self.edges + int(np.count_nonzero(others))
        check_limits(self.vertices, edges)
        check_available_memory(size_text(self.vertices, edges), list_bytes(self.vertices, edges))
        pair = sources, self.targets
        first, second = (np.concatenate([end, other[others]]) for end, other in (pair, pair[::-1]))
        graph = replace(Graph.from_edges(self.vertices, first, second, ids=self.ids, base=self.base), undirected=True)
        check_degrees(graph.offsets)
        # Two vertices with edges in one direction count once here and twice there, those with both twice in each.
        if on_note is not None and (both := self.simplified().edges - graph.simplified().edges // 2):
            on_note(f"has both directions of {count_text(both, 'edge')}, which are parallel edges, each read both ways")
        return graph

    def out_degrees(self) -> NDArray[np.int64]:
        """Return the out-degree of each vertex, int64, shape (n,)."""
        return np.diff(self.offsets)

    def original(self, vertices: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the input ids of the given vertices.

        Parameters
        ----------
        vertices : ndarray of integers
            Vertex numbers, 0 to n - 1.

        Returns
        -------
        ndarray of int64, same shape
        """
        if self.ids is None:
            return np.add(vertices, self.base, dtype=np.int64)
        return self.ids[vertices]

    def index(self, name: int) -> int:
        """Return the number, 0 to n - 1, of the vertex with input id `name`.

        Raises
        ------
        VertexError
            When the graph has no such vertex.
        """
        if self.ids is None:
            vertex, found = name - self.base, 0 <= name - self.base < self.vertices
        else:
            vertex = int(np.searchsorted(self.ids, name)) if abs(name) < 2**63 else self.vertices
            found = vertex < self.vertices and self.ids[vertex] == name
        if not found:
            raise VertexError(f"the graph has no vertex {name}")
        return vertex


def graph_digest(graph: Graph) -> str:
    """Return a digest of a graph's CSR arrays and ids."""
    digest = hashlib.sha256()
    for array in (graph.offsets, graph.targets, graph.ids):
        if array is not None:
            digest.update(f"{array.dtype.str} {array.size}\n".encode())
            digest.update(array.data)
    return digest.hexdigest()


def trim(graph: Graph, transpose: Graph) -> NDArray[np.bool_]:
    """Mark the vertices with no edge in or no edge out (paper, section 4.1).

    A single pass, as in the paper: a vertex that loses its last neighbour only by trimming is not marked. A self-loop
    counts as an edge in and an edge out, so a vertex with only a self-loop is not marked either.

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
