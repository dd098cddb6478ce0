"""What graphs take in memory, known from their size before anything is allocated."""

from host.words import counted

__all__ = ["csr_bytes", "list_bytes", "simulation_bytes", "size_text"]

_OFFSET = 8
"""Bytes of a CSR offset, of a graph word, and of an entry of a frontier queue."""

_ID = 4
"""Bytes of a vertex number: a CSR target, an end of an edge, an entry of a reach queue, a colour, a level."""


def size_text(vertices: int, edges: int) -> str:
    """Return the size of a graph in words."""
    return f"{counted(vertices, 'vertex', 'vertices')} and {counted(edges, 'edge')}"


def csr_bytes(vertices: int, edges: int) -> int:
    """Return the bytes of a graph in CSR form."""
    return _OFFSET * vertices + _ID * edges


def list_bytes(vertices: int, edges: int) -> int:
    """Return the bytes of a list of edges and of the graph that is made of it, which exist side by side."""
    return 2 * _ID * edges + csr_bytes(vertices, edges)


def simulation_bytes(vertices: int, edges: int, *, directions: int, capacity: int, verify: bool) -> int:
    """Return the most bytes that a simulation takes beyond the graph that has been read.

    Parameters
    ----------
    vertices, edges : int
        Size of the graph.
    directions : int
        1 for a search; 2 for components, which need the transpose.
    capacity : int
        Entries of each queue.
    verify : bool
        Whether the result is checked.
    """
    # Two frontier queues, and a reach queue for each direction.
    queues = capacity * (2 * _OFFSET + directions * _ID)
    words = directions * _OFFSET * vertices
    # Targets go over to the simulated memory array by array: one of the arrays exists twice for a while.
    targets = directions * _ID * edges
    transposed = (directions - 1) * _OFFSET * vertices
    # Colours or levels, what the host counts with, and labels.
    results = directions * 3 * _ID * vertices
    # scipy is given a copy of the graph, with a byte for each edge; a search has a queue and levels.
    check = (directions - 1) * ((_ID + 1) * edges + 6 * _ID * vertices) + 2 * _ID * vertices
    # What is placed by then has left the arrays that it came from.
    placed = (directions - 1) * _ID * edges
    most = max(targets, placed + check) if verify else targets
    return queues + words + transposed + results + most
