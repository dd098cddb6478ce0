"""Results by the shortest way, from the edges alone, with nothing of the product's."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tests.fuzz.shapes import Edges


def _matrix(vertices: int, edges: Edges) -> NDArray[np.bool_]:
    matrix = np.zeros((vertices, vertices), np.bool_)
    ends = np.array(edges, np.int64).reshape(-1, 2)
    matrix[ends[:, 0], ends[:, 1]] = True
    return matrix


def component_lines(vertices: int, edges: Edges) -> str:
    """Return what ``scc --labels`` must write: each vertex and the least of its component, counted from 1."""
    _, labels = connected_components(coo_array(_matrix(vertices, edges)), connection="strong")
    least: dict[int, int] = {}
    names = [least.setdefault(label, vertex) for vertex, label in enumerate(labels.tolist())]
    return "".join(f"{vertex + 1} {name + 1}\n" for vertex, name in enumerate(names))


def level_lines(vertices: int, edges: Edges, source: int) -> str:
    """Return what ``bfs --levels`` must write: each vertex reached and its level, counted from 1 and from 0."""
    matrix = _matrix(vertices, edges)
    levels = np.full(vertices, -1)
    frontier, level = np.arange(vertices) == source, 0
    while frontier.any():
        levels[frontier] = level
        frontier = matrix[frontier].any(axis=0) & (levels < 0)
        level += 1
    return "".join(f"{vertex + 1} {level}\n" for vertex, level in enumerate(levels.tolist()) if level >= 0)
