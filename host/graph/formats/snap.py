"""SNAP edge lists: one line ``SOURCE TARGET`` for each edge."""

from typing import IO

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.estimates import csr_bytes, size_text
from host.graph.formats.text import LARGEST_ID, Layout, Lines, read_edges
from host.graph.formats.writer import write_edges
from host.memory_room import check_room

__all__ = ["NAME", "read", "write"]

NAME = "edge list"

# Edge lists often carry a weight and a time as well. More numbers, or not always as many, are another format, such as
# adjacency lists.
_LAYOUT = Layout(form="SOURCE TARGET", comments="#%", fewest=2, most=4, alike=True, smallest=0, largest=LARGEST_ID)


def read(stream: IO[bytes]) -> Graph:
    """Read an edge list.

    The vertices are the ids that occur. Lines that begin with # or % are comments; a third and a fourth column, a
    weight or a time, must be numbers and are ignored. All lines have equally many columns.

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
        When a line is not an edge, or there is none.
    """
    edges = read_edges(Lines(stream), _LAYOUT)
    if edges.count == 0:
        raise InputError("has no edges, and so no vertices")
    ids, sources, targets = edges.compact()
    check_room(size_text(len(ids), len(sources)), csr_bytes(len(ids), len(sources)))
    vertices, base = len(ids), int(ids[0])
    if base in (0, 1) and ids[-1] == base + vertices - 1:
        return Graph.from_edges(vertices, sources, targets, base=base)
    return Graph.from_edges(vertices, sources, targets, ids=ids)


def write(graph: Graph, stream: IO[bytes]) -> None:
    """Write an edge list, by source, with the graph's own ids.

    A vertex without any edge does not occur in it, and is lost.

    Parameters
    ----------
    graph : Graph
        The graph.
    stream : binary file
        Where to write.

    Raises
    ------
    InputError
        When the graph has no edges, since nothing could read the file.
    """
    if graph.edges == 0:
        raise InputError("a graph without edges cannot be written as an edge list")
    stream.write(f"# Directed graph\n# Nodes: {graph.vertices} Edges: {graph.edges}\n".encode())
    write_edges(stream, graph, ids=graph.ids, base=graph.base)
