"""DIMACS shortest-path files (.gr), which GTgraph writes too."""

from typing import IO

from host.errors import InputError, placed
from host.graph.csr import Graph
from host.graph.formats.header import number, size
from host.graph.formats.text import Layout, read_edges, read_line, shown
from host.graph.formats.writer import write_edges

__all__ = ["read", "write"]


def _header(stream: IO[bytes]) -> tuple[int, int, int]:
    """Read comments and the problem line; return vertices, edges and the number of that line."""
    line = 1
    while True:
        text = read_line(stream, line)
        words = text.split()
        if not text:
            raise InputError("has no header 'p sp VERTICES EDGES'")
        if words and words[0] == b"p":
            break
        if words and not words[0].startswith(b"c"):
            raise InputError(f"expected the header 'p sp VERTICES EDGES', not {shown(words[0])}", line=line)
        line += 1
    with placed(line=line):
        if len(words) != 4 or words[1] != b"sp":
            raise InputError("expected the header 'p sp VERTICES EDGES'")
        vertices, edges = number(words[2], "vertices"), number(words[3], "edges")
        size(vertices, edges)
    return vertices, edges, line


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
    vertices, edges, line = _header(stream)
    layout = Layout(
        form="a SOURCE TARGET WEIGHT", letter="a", comments="c", fewest=2, most=3, smallest=1, largest=vertices
    )
    return read_edges(stream, layout, line=line + 1, expected=edges).graph(vertices, base=1)


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
