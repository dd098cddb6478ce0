"""Matrix Market files: the nonzeros (i, j) of a square matrix are edges from i to j."""

from typing import IO

from host.errors import InputError, placed
from host.graph.csr import Graph
from host.graph.formats.header import number, size
from host.graph.formats.text import Layout, read_edges, read_line, shown
from host.graph.formats.writer import write_edges
from host.words import counted

__all__ = ["read", "write"]

_BANNER = b"%%MatrixMarket"
_VALUES = {b"pattern": 0, b"integer": 1, b"real": 1}
_SYMMETRIES = {b"general": False, b"symmetric": True, b"skew-symmetric": True}


def _one_of(token: bytes, known: dict[bytes, int] | dict[bytes, bool], what: str) -> None:
    if token.lower() not in known:
        names = ", ".join(name.decode() for name in known)
        raise InputError(f"{what} {shown(token)} is not supported, only {names}", line=1)


def _banner(stream: IO[bytes]) -> tuple[int, bool]:
    """Read the first line; return the number of value columns and whether entries have mirror images."""
    words = read_line(stream, 1).split()
    if len(words) != 5 or words[0].lower() != _BANNER.lower() or words[1].lower() != b"matrix":
        raise InputError("expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", line=1)
    _one_of(words[2], {b"coordinate": 0}, "the layout")
    _one_of(words[3], _VALUES, "the field")
    _one_of(words[4], _SYMMETRIES, "the symmetry")
    return _VALUES[words[3].lower()], _SYMMETRIES[words[4].lower()]


def _sizes(stream: IO[bytes]) -> tuple[int, int, int]:
    """Read comments and the size line; return vertices, entries and the number of that line."""
    line = 2
    while (text := read_line(stream, line)).startswith(b"%") or text.isspace():
        line += 1
    words = text.split()
    with placed(line=line):
        if len(words) != 3:
            raise InputError("expected the sizes 'ROWS COLUMNS ENTRIES'")
        rows, columns, entries = (
            number(word, what) for word, what in zip(words, ("rows", "columns", "entries"), strict=True)
        )
        if rows != columns:
            raise InputError(f"the matrix is not square: {counted(rows, 'row')}, {counted(columns, 'column')}")
        size(rows, entries)
    return rows, entries, line


def read(stream: IO[bytes]) -> Graph:
    """Read a matrix as a graph; its vertices are called 1 to n.

    Explicit zeros are edges and repeated entries are repeated edges. An entry of a symmetric or skew-symmetric matrix
    is followed by its mirror image.

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
    values, mirror = _banner(stream)
    vertices, entries, line = _sizes(stream)
    layout = Layout(
        form="ROW COLUMN VALUE" if values else "ROW COLUMN",
        comments="%",
        fewest=2 + values,
        most=2 + values,
        smallest=1,
        largest=vertices,
    )
    edges = read_edges(stream, layout, line=line + 1, expected=entries, mirror=mirror)
    return edges.graph(vertices, base=1)


def write(graph: Graph, stream: IO[bytes]) -> None:
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
    write_edges(stream, graph, base=1)
