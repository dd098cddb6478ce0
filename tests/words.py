"""Graph words for tests."""

from cyscc.hw.graph_word import GraphWord


def graph_word(start: int, degree: int, visited: bool = False) -> int:
    """Return the graph word of a vertex."""
    return GraphWord.const({"start": start, "degree": degree, "visited": visited}).as_bits()
