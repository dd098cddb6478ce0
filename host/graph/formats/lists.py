"""Graphs as text: SNAP edge lists, Matrix Market, DIMACS and GTgraph, a line for each edge."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cyscc.host.graph.available_memory import GrowingColumns, check_available_memory
from cyscc.host.graph.csr import Graph, check_limits, check_size, csr_bytes, list_bytes, size_text
from cyscc.host.graph.formats import parsing
from cyscc.host.graph.formats.parsing import Column, Layout, Lines, numbers, read_lines, shown, words
from cyscc.host.graph.formats.writer import write_edges
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.text import count_text

_BANNERS = {
    "layout": {b"coordinate": 0},
    "field": {b"pattern": 0, b"integer": 1, b"unsigned-integer": 1, b"real": 1, b"double": 1, b"complex": 2},
    "symmetry": {b"general": 0, b"symmetric": 1, b"skew-symmetric": 1, b"hermitian": 1},
}
"""Words of a banner that are read, of each field with its number of values, of each symmetry whether it mirrors."""
_LETTERS = (b"c", b"p", b"a")
_PROBLEM = "p sp VERTICES EDGES"

_LARGEST_SHORT = 2**32 - 1
_DENSE = 1 << 20  # a lookup table of ids up to here is always small
_BATCH = 1 << 18
_ENTRY = 32  # bytes of an id in a hash table

_UNDIRECTED = rb"[#%]+\s*(?:undirected\b|.*\bundirected (?:graph|network)\b|sym(?:\s+\w+)?$)"
_BIPARTITE = rb"%+\s*bip(?:\s+\w+)?"
_METIS_HEADER = rb"(?:[ \t]*[#%].*\n)*[ \t]*(\d{1,18})(?:[ \t]+\d+){1,3}[ \t]*\n"
_NO_PAIR = rb"(?m)^(?![ \t]*(?:[#%]|\d+[ \t]+\d+[ \t]*$)).*\n"

HEADER_NOTE = "the first line of numbers is read as an edge: is it a header, of numbers of vertices and edges?"
"""Note about an edge list that may have a header."""

_Compacted: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]


class EdgeBuffer:
    """Buffer of edges while a file is read.

    Endpoints take four bytes each until an id needs more.
    """

    def __init__(self) -> None:
        # Building the graph takes another copy of the targets.
        self._ends = GrowingColumns(np.uint32, np.uint32, of="edges", extra=4)
        self._largest = -1

    @property
    def count(self) -> int:
        """Number of edges so far."""
        return self._ends.count

    def append(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Append edges.

        Parameters
        ----------
        sources, targets : ndarray of int64, shape (k,)
            Their endpoints, nonnegative.

        Raises
        ------
        InputError
            The total exceeds `cyscc.host.graph.csr.MAX_EDGES`, or the memory.
        """
        if len(sources) == 0:
            return
        check_limits(0, self.count + len(sources))
        self._largest = max(self._largest, int(sources.max()), int(targets.max()))
        if self._largest > _LARGEST_SHORT:
            self._ends.columns = [column.astype(np.uint64, copy=False) for column in self._ends.columns]
        self._ends.append(sources, targets)

    def graph(self, vertices: int, *, base: int) -> Graph:
        """Build the graph of vertices with ids `base` to `base` + `vertices` - 1, and empty the buffer."""
        sources, targets = (ends.astype(np.uint32, copy=False) for ends in self._ends.take())
        sources -= np.uint32(base)
        targets -= np.uint32(base)
        return Graph.from_edges(vertices, sources, targets, base=base)

    def compact(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Renumber the ids that occur to 0, 1, 2, ... in ascending order, and empty the buffer.

        Returns
        -------
        ids : ndarray of int64, shape (n,)
            The ids, ascending.
        sources, targets : ndarray of uint32, shape (count,)
            The edges in the new numbers.

        Raises
        ------
        InputError
            When more than `cyscc.host.graph.csr.MAX_VERTICES` ids occur.
        """
        dense = self._largest < max(self.count, _DENSE)
        pair = self._ends.take()
        return _compact_dense(pair, self._largest) if dense else _compact_sparse(pair)


def _rename(ends: NDArray[Any], names: NDArray[np.uint32], renamed: NDArray[Any]) -> NDArray[Any]:
    """Look up the new number of each endpoint in batches, because numpy needs eight bytes per index."""
    for start in range(0, len(ends), _BATCH):
        renamed[start : start + _BATCH] = names[ends[start : start + _BATCH]]
    return renamed


def _compact_dense(pair: list[NDArray[Any]], largest: int) -> _Compacted:
    """Renumber by a lookup table of all ids up to the largest."""
    rank = np.zeros(largest + 1, np.uint32)
    for ends in pair:
        for start in range(0, len(ends), _BATCH):
            rank[ends[start : start + _BATCH]] = 1
    ids = np.flatnonzero(rank)
    check_limits(len(ids), 0)
    rank[ids] = np.arange(len(ids), dtype=np.uint32)
    sources, targets = (_rename(ends, rank, ends).astype(np.uint32, copy=False) for ends in pair)
    return ids, sources, targets


def _compact_sparse(pair: list[NDArray[Any]]) -> _Compacted:
    """Renumber by Arrow's hash table; numpy would sort all endpoints."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(pair[0].dtype)
    chunks = [pa.Array.from_buffers(kind, len(ends), [None, pa.py_buffer(ends)]) for ends in pair]
    pair.clear()
    encoded = pa.chunked_array(chunks).dictionary_encode()
    chunks.clear()
    names = np.from_dlpack(encoded.chunk(0).dictionary)
    check_limits(len(names), 0)
    check_available_memory("the ids of the vertices", len(names) * _ENTRY)
    order = np.argsort(names)
    rank = np.empty(len(names), np.uint32)
    rank[order] = np.arange(len(names), dtype=np.uint32)
    codes = [np.from_dlpack(chunk.indices) for chunk in encoded.chunks]
    sources, targets = (_rename(each, rank, np.empty(len(each), np.uint32)) for each in codes)
    return names[order].astype(np.int64), sources, targets


def _read_edges(lines: Lines, layout: Layout, *, expected: int | None = None, mirror: bool = False) -> EdgeBuffer:
    """Read the edges from the current line to the end of a file.

    Parameters
    ----------
    lines : Lines
        The file, after its header.
    layout : Layout
        Layout of its lines.
    expected : int, optional
        Number of edges announced by the header.
    mirror : bool
        Add the reverse after each edge, except for self-loops (symmetric matrices).

    Returns
    -------
    EdgeBuffer

    Raises
    ------
    InputError
        A line is malformed (the first one is named), the number of edges is not the expected one, or they need more
        memory than is available.
    """
    edges = EdgeBuffer()
    for first, second in read_lines(lines, layout, expected=expected):
        if mirror:
            pairs = np.array([[first, second], [second, first]])
            kept = np.stack([np.ones(len(first), np.bool_), first != second], axis=1)
            first, second = (pairs[:, end].T[kept] for end in range(2))
        edges.append(first, second)
        del first, second
    return edges


def _check_announced(vertices: int, edges: int, *, mirror: bool = False) -> None:
    """Refuse the size in a file header if it is not supported, or exceeds the memory.

    Parameters
    ----------
    vertices, edges : int
        The size in the header.
    mirror : bool
        Whether the reverse of each edge may be added.

    Raises
    ------
    InputError
        The size is not supported, or exceeds the memory.
    """
    check_size(vertices, edges)
    check_available_memory(size_text(vertices, edges), list_bytes(vertices, edges * (1 + mirror)))


def recognised_text(lines: Sequence[bytes]) -> str:
    """Return the suffix of the format that a text is unmistakably in, or an empty one.

    A matrix has its banner, perhaps with more or fewer percent signs, among the leading comments. The first line of the
    other format, after empty lines and comments of an edge list, begins with one of its letters.

    Parameters
    ----------
    lines : sequence of bytes
        The first lines of the text.
    """
    for found in filter(None, map(words, lines)):
        if re.match(rb"%+MatrixMarket", found[0], re.IGNORECASE):
            return ".mtx"
        if not found[0].startswith((b"#", b"%")):
            return ".gr" if found[0] in _LETTERS else ""
    return ""


def _first_line(lines: Lines, comment: bytes) -> tuple[int, list[bytes]]:
    """Read comments and empty lines; return number and words of the line behind them, without words at the end."""
    text = lines.content(comment)
    return lines.number - (text is not None), words(text or b"")


def stated_notes(head: Sequence[bytes], *, undirected: bool) -> list[str]:
    """Return a note about an edge list if its leading comments say that it is undirected, and it is read as directed.

    Parameters
    ----------
    head : sequence of bytes
        The first lines of the file.
    undirected : bool
        Whether it is read as undirected.

    Raises
    ------
    InputError
        A comment says that the graph is bipartite, as KONECT's files do.
    """
    for place, line in enumerate(map(bytes.strip, head), start=1):
        if line[:1] not in (b"#", b"%", b""):
            break
        if re.fullmatch(_BIPARTITE, line):
            raise InputError(f"{shown(line)} means two sides with ids of their own, which are not read", line=place)
        if re.match(_UNDIRECTED, line, re.IGNORECASE) and not undirected:
            says = f"although line {place} says {shown(line)}"
            return [f"read as directed, {says}: --undirected reads each edge both ways"]
    return []


def metis_shape(stream: IO[bytes]) -> tuple[bool, bool]:
    """Return whether a text has the shape of METIS's format, and whether it cannot be an edge list.

    The first of two to four numbers in METIS's header is that of vertices. A line follows for each of them, with its
    neighbours and perhaps weights.

    Parameters
    ----------
    stream : binary file
        The text.
    """
    lines, left, pairs = Lines(stream), None, True
    while (text := lines.block()) and (left is None or left >= 0):
        if left is None:
            if (header := re.match(_METIS_HEADER, text)) is None:
                break
            left, text = int(header[1]), text[header.end() :]
        left -= text.count(b"\n") - len(re.findall(rb"(?m)^[ \t]*[#%]", text))
        pairs = pairs and re.search(_NO_PAIR, text) is None
    return left == 0, left == 0 and not pairs


def read_snap(stream: IO[bytes], on_note: Callable[[str], None] | None = None) -> Graph:
    """Read an edge list.

    The vertices are the ids that occur. Lines that begin with # or % are comments. A third and a fourth column, such as
    weight or time, must be numbers, and are ignored. All lines have the same number of columns.

    Parameters
    ----------
    stream : binary file
        The file.
    on_note : callable, optional
        Called with a line if the first edge may be a header.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        A line is not an edge, or there are no edges.
    """
    # Edge lists often have a weight and a time too. More columns, or a varying number of them, mean another format,
    # such as adjacency lists.
    columns = (Column("vertex id", 0, parsing.LARGEST_ID),) * 2
    layout = Layout(form="SOURCE TARGET", comments="#%", columns=columns, fewest=2, most=4, alike=True)
    edges = _read_edges(Lines(stream), layout)
    if edges.count == 0:
        raise InputError("has no edges, and so no vertices")
    ids, sources, targets = edges.compact()
    check_available_memory(size_text(len(ids), len(sources)), csr_bytes(len(ids), len(sources)))
    counted = len(sources) > 1 and ids[targets[0]] == len(sources) - 1
    if on_note is not None and counted and sources[0] > max(sources[1:].max(), targets[1:].max()):
        on_note(HEADER_NOTE)
    vertices, base = len(ids), int(ids[0])
    if base in (0, 1) and ids[-1] == base + vertices - 1:
        return Graph.from_edges(vertices, sources, targets, base=base)
    return Graph.from_edges(vertices, sources, targets, ids=ids)


def write_snap(graph: Graph, stream: IO[bytes]) -> None:
    """Write an edge list, by source, with the graph's ids.

    Vertices without edges are lost.

    Parameters
    ----------
    graph : Graph
        The graph.
    stream : binary file
        Where to write.

    Raises
    ------
    InputError
        The graph has no edges: the file would not be readable.
    """
    if graph.edges == 0:
        raise InputError("a graph without edges cannot be written as an edge list")
    stream.write(f"# Directed graph\n# Nodes: {graph.vertices} Edges: {graph.edges}\n".encode())
    write_edges(stream, graph)


def _banner(lines: Lines) -> tuple[int, bool]:
    """Read the first line; return the number of value columns, and whether the matrix is symmetric."""
    found = words(lines.next() or b"")
    if len(found) != 5 or found[0].lower() != parsing.BANNER or found[1].lower() != b"matrix":
        raise InputError("expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", line=1)
    for token, (what, known) in zip(found[2:], _BANNERS.items(), strict=True):
        if token.lower() not in known:
            names = ", ".join(name.decode() for name in known)
            raise InputError(f"the {what} {shown(token)} is not supported, only {names}", line=1)
    return _BANNERS["field"][found[3].lower()], bool(_BANNERS["symmetry"][found[4].lower()])


def _sizes(lines: Lines, *, mirror: bool) -> tuple[int, int]:
    """Read comments and the size line; return vertices and entries."""
    line, found = _first_line(lines, b"%")
    with locating_errors(line=line):
        if len(found) != 3:
            raise InputError("expected the sizes 'ROWS COLUMNS ENTRIES'")
        rows, columns, entries = numbers(found, "rows", "columns", "entries")
        if rows != columns:
            raise InputError(f"the matrix is not square: {count_text(rows, 'row')}, {count_text(columns, 'column')}")
        _check_announced(rows, entries, mirror=mirror)
    return rows, entries


def read_matrix(stream: IO[bytes]) -> Graph:
    """Read a matrix as a graph with vertex ids 1 to n.

    Explicit zeros are edges, and repeated entries are parallel edges. Each entry of a symmetric, skew-symmetric or
    hermitian matrix is followed by its mirror image.

    Parameters
    ----------
    stream : binary file
        The file.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        When it is not a square coordinate matrix with the announced number of entries.
    """
    lines = Lines(stream)
    values, mirror = _banner(lines)
    vertices, entries = _sizes(lines, mirror=mirror)
    form = " ".join(["ROW COLUMN", *["VALUE"] * values])
    columns = (Column("vertex id", 1, vertices),) * 2
    layout = Layout(form=form, comments="%", columns=columns, fewest=2 + values, most=2 + values, alike=True)
    graph = _read_edges(lines, layout, expected=entries, mirror=mirror).graph(vertices, base=1)
    return replace(graph, undirected=mirror)


def write_matrix(graph: Graph, stream: IO[bytes]) -> None:
    """Write a graph as a general pattern matrix; its vertices become 1 to n.

    Parameters
    ----------
    graph : Graph
        The graph.
    stream : binary file
        Where to write.
    """
    header = f"%%MatrixMarket matrix coordinate pattern general\n{graph.vertices} {graph.vertices} {graph.edges}\n"
    stream.write(header.encode())
    write_edges(stream, graph, 1)


def _problem(lines: Lines) -> tuple[int, int]:
    """Read comments and the problem line; return vertices and edges."""
    line, found = _first_line(lines, b"c")
    if not found:
        raise InputError(f"has no header {_PROBLEM!r}")
    if found[0] != b"p":
        raise InputError(f"expected the header {_PROBLEM!r}, not {shown(found[0])}", line=line)
    with locating_errors(line=line):
        if len(found) != 4 or found[1] != b"sp":
            raise InputError(f"expected the header {_PROBLEM!r}")
        vertices, edges = numbers(found[2:], "vertices", "edges")
        _check_announced(vertices, edges)
    return vertices, edges


def read_dimacs(stream: IO[bytes]) -> Graph:
    """Read a graph with vertex ids 1 to n.

    Lines are ``c`` comments, one ``p sp VERTICES EDGES``, and ``a SOURCE TARGET WEIGHT`` for each edge; the weight is
    optional and ignored.

    Parameters
    ----------
    stream : binary file
        The file.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        The header is missing or wrong, a line is malformed, or the number of edges differs from the header.
    """
    lines = Lines(stream)
    vertices, edges = _problem(lines)
    columns = (Column("vertex id", 1, vertices),) * 2
    layout = Layout(form="a SOURCE TARGET WEIGHT", letter="a", comments="c", columns=columns, fewest=2, most=3)
    return _read_edges(lines, layout, expected=edges).graph(vertices, base=1)


def write_dimacs(graph: Graph, stream: IO[bytes]) -> None:
    """Write a graph with weights of 1; its vertices become 1 to n.

    Parameters
    ----------
    graph : Graph
        The graph.
    stream : binary file
        Where to write.
    """
    stream.write(f"p sp {graph.vertices} {graph.edges}\n".encode())
    write_edges(stream, graph, 1, prefix=b"a ", suffix=b" 1\n")
