"""Matrix Market files: the nonzeros (i, j) of a square matrix are edges from i to j."""

import re
from typing import IO

from host.errors import InputError, placed
from host.graph.csr import Graph
from host.graph.formats.header import list_size, number
from host.graph.formats.text import Layout, Lines, read_edges, shown, words
from host.graph.formats.writer import write_edges
from host.words import counted

__all__ = ["NAME", "read", "recognises", "write"]

NAME = "Matrix Market"
_BANNER = b"%%MatrixMarket"
_VALUES = {b"pattern": 0, b"integer": 1, b"real": 1}
_SYMMETRIES = {b"general": False, b"symmetric": True, b"skew-symmetric": True}


def _one_of(token: bytes, known: dict[bytes, int] | dict[bytes, bool], what: str) -> None:
    if token.lower() not in known:
        names = ", ".join(name.decode() for name in known)
        raise InputError(f"{what} {shown(token)} is not supported, only {names}", line=1)


def recognises(lines: list[bytes]) -> bool:
    """Whether the banner, or one with more or fewer percent signs, is among the comments that a text begins with.

    Parameters
    ----------
    lines : list of bytes
        The first lines of a text.
    """
    for line in lines:
        found = words(line)
        if found and re.match(rb"%+MatrixMarket", found[0], re.IGNORECASE):
            return True
        if found and not found[0].startswith((b"#", b"%")):
            return False
    return False


def _banner(lines: Lines) -> tuple[int, bool]:
    """Read the first line; return the number of value columns and whether entries have mirror images."""
    found = words(lines.next() or b"")
    if len(found) != 5 or found[0].lower() != _BANNER.lower() or found[1].lower() != b"matrix":
        raise InputError("expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", line=1)
    _one_of(found[2], {b"coordinate": 0}, "the layout")
    _one_of(found[3], _VALUES, "the field")
    _one_of(found[4], _SYMMETRIES, "the symmetry")
    return _VALUES[found[3].lower()], _SYMMETRIES[found[4].lower()]


def _sizes(lines: Lines, *, mirror: bool) -> tuple[int, int]:
    """Read comments and the size line; return vertices and entries."""
    while True:
        line = lines.number
        text = lines.next()
        found = words(text or b"")
        if text is None or (found and not found[0].startswith(b"%")):
            break
        if found and found[0].lower().startswith(_BANNER.lower()):
            raise InputError("a Matrix Market banner, which must be the first line", line=line)
    with placed(line=line):
        if len(found) != 3:
            raise InputError("expected the sizes 'ROWS COLUMNS ENTRIES'")
        rows, columns, entries = (
            number(word, what) for word, what in zip(found, ("rows", "columns", "entries"), strict=True)
        )
        if rows != columns:
            raise InputError(f"the matrix is not square: {counted(rows, 'row')}, {counted(columns, 'column')}")
        list_size(rows, entries, mirror=mirror)
    return rows, entries


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
    lines = Lines(stream)
    values, mirror = _banner(lines)
    vertices, entries = _sizes(lines, mirror=mirror)
    layout = Layout(
        form="ROW COLUMN VALUE" if values else "ROW COLUMN",
        comments="%",
        fewest=2 + values,
        most=2 + values,
        alike=True,
        smallest=1,
        largest=vertices,
    )
    return read_edges(lines, layout, expected=entries, mirror=mirror).graph(vertices, base=1)


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
