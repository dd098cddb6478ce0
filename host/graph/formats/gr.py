"""DIMACS shortest-path files (.gr), which GTgraph writes too."""

from typing import IO

from host.errors import InputError, placed
from host.graph.csr import Graph
from host.graph.formats.header import list_size, number
from host.graph.formats.text import Layout, Lines, read_edges, shown, words
from host.graph.formats.writer import write_edges

__all__ = ["NAME", "read", "recognises", "write"]

NAME = "DIMACS"
_LETTERS = (b"c", b"p", b"a")


def recognises(lines: list[bytes]) -> bool:
    """Whether the first line that is neither empty nor a comment of an edge list begins with a letter of this format.

    Parameters
    ----------
    lines : list of bytes
        The first lines of a text.
    """
    for line in lines:
        if (found := words(line)) and not found[0].startswith((b"#", b"%")):
            return found[0] in _LETTERS
    return False


def _header(lines: Lines) -> tuple[int, int]:
    """Read comments and the problem line; return vertices and edges."""
    while True:
        line = lines.number
        text = lines.next()
        if text is None:
            raise InputError("has no header 'p sp VERTICES EDGES'")
        found = words(text)
        if found and found[0] == b"p":
            break
        if found and not found[0].startswith(b"c"):
            raise InputError(f"expected the header 'p sp VERTICES EDGES', not {shown(found[0])}", line=line)
    with placed(line=line):
        if len(found) != 4 or found[1] != b"sp":
            raise InputError("expected the header 'p sp VERTICES EDGES'")
        vertices, edges = number(found[2], "vertices"), number(found[3], "edges")
        list_size(vertices, edges)
    return vertices, edges


def read(stream: IO[bytes]) -> Graph:
    """Read a graph; its vertices are called 1 to n.

    Lines are ``c`` comments, one ``p sp VERTICES EDGES``, and ``a SOURCE TARGET WEIGHT`` for each edge; the weight
    may be left out and is ignored.

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
        When the header is missing or wrong, a line is none of these, or the number of edges is not the announced one.
    """
    lines = Lines(stream)
    vertices, edges = _header(lines)
    layout = Layout(
        form="a SOURCE TARGET WEIGHT",
        letter="a",
        comments="c",
        fewest=2,
        most=3,
        alike=False,
        smallest=1,
        largest=vertices,
    )
    return read_edges(lines, layout, expected=edges).graph(vertices, base=1)


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write a graph with weights of 1; its vertices become 1 to n.

    Parameters
    ----------
    graph : Graph
        The graph.
    stream : binary file
        Where to write.
    """
    stream.write(f"p sp {graph.vertices} {graph.edges}\n".encode())
    write_edges(stream, graph, base=1, prefix=b"a ", suffix=b" 1\n")
