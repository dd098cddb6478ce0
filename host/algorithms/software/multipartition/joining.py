"""Weakly connected components (WCC) of the partitions: each becomes a partition of its own, with a pivot.

Trees of parents are joined along every edge, by one atomic operation (Jaiganesh and Burtscher 2018 do the same on
graphics processors): one launch finds the components, whatever their diameter. Of two roots the one with the higher
priority becomes the child, so that the root of a component is a vertex drawn at random, the same in every order of
threads.
"""

from typing import Any

from host.algorithms.software.multipartition.lists import EDGES, QUEUED, STRIP
from host.algorithms.software.multipartition.marks import FORWARD, PARTITION, priority
from host.devices import atomic_add, atomic_swap, device_function, step

__all__ = ["divide", "join", "plant"]


@step
def plant(thread: int, vertices: Any, parents: Any) -> None:
    """Make a tree of each vertex of a list."""
    parents[vertices[thread]] = vertices[thread]


@device_function
def _root(vertex: int, parents: Any) -> int:
    """Return the root of a vertex's tree, and halve the way to it.

    Parents are only replaced by theirs, and never those of roots, so that threads do not disturb each other.
    """
    parent = int(parents[vertex])
    while parent != vertex:
        grandparent = int(parents[parent])
        if grandparent != parent:
            parents[vertex] = grandparent
        vertex = parent
        parent = grandparent
    return vertex


@step
def join(
    thread: int,
    length: int,
    vertices: Any,
    salt: int,
    parents: Any,
    marks: Any,
    offsets: Any,
    targets: Any,
    counters: Any,
) -> None:
    """Join the trees of each two vertices of the same partition, and the same flags, between which an edge leads."""
    edges = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = marks[vertex]
        first = offsets[vertex]
        last = offsets[vertex + 1]
        edges += last - first
        here = vertex
        for edge in range(first, last):
            target = int(targets[edge])
            if marks[target] != mark:
                continue
            here = _root(here, parents)
            there = _root(target, parents)
            while here != there:
                if priority(here, salt) > priority(there, salt):
                    here, there = there, here
                # When the other one has become a child meanwhile, go on from its parent.
                parent = atomic_swap(parents, there, there, here)
                there = here if parent == there else _root(parent, parents)
    atomic_add(counters, EDGES, edges)


@step
def divide(
    thread: int, length: int, vertices: Any, parents: Any, pivots: Any, queue: Any, seen: Any, marks: Any, counters: Any
) -> None:
    """Make a partition of each tree. Its root becomes the pivot, which the forward search starts from."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        root = _root(vertex, parents)
        if root == vertex:
            seen[vertex] = 0
            marks[vertex] = (vertex << PARTITION) | FORWARD
            room = atomic_add(counters, QUEUED, 1)
            queue[room] = vertex
            pivots[room] = vertex
        else:
            marks[vertex] = root << PARTITION
