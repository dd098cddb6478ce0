"""Graphs of all degrees and sizes up to a number of edges, which figures 10 to 13 show."""

import itertools
from collections.abc import Sequence
from typing import Any

from host.errors import InputError
from host.measuring.graphs import size_text

__all__ = ["bounded", "left_out", "left_out_text"]


def bounded(
    vertices: Sequence[int], degrees: Sequence[int], *, most: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the pairs of degree and vertices of at most `most` edges, and those of more.

    Raises
    ------
    InputError
        None is left.
    """
    pairs = list(itertools.product(degrees, vertices))
    kept = [pair for pair in pairs if pair[0] * pair[1] <= most]
    if not kept:
        least = min(degree * size for degree, size in pairs)
        raise InputError(f"no graph has at most {most} edges: the smallest one has {least} (--max-edges)")
    return kept, [pair for pair in pairs if pair not in kept]


def left_out(pairs: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Return the pairs of degree and vertices of the graphs that were too large, for a document."""
    return [{"degree": degree, "vertices": vertices} for degree, vertices in pairs]


def left_out_text(document: dict[str, Any]) -> str:
    """Return a line that names the graphs left out, empty when there are none."""
    names = [f"degree {each['degree']} with {size_text(each['vertices'])}" for each in document["left_out"]]
    if not names:
        return ""
    return f"\nLeft out, more than {size_text(document['max_edges'])} edges: {', '.join(names)} vertices.\n"
