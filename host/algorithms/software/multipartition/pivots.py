"""Pivots and vice pivots.

The vice pivot of a partition is a vertex that its pivot does not reach. So it is in another component, and nothing that
the pivot reaches can reach it: its backward search goes on where the pivot's forward search did not, and divides what
that left together.
"""

from typing import Any

import numpy as np

from host.algorithms.software.multipartition.lists import FOUND, QUEUED, STRIP, strips
from host.algorithms.software.multipartition.marks import BACKWARD, FORWARD, PARTITION, VERTEX, VICE, drawn_number
from host.devices import Device, DeviceArray, atomic_add, atomic_max, step

__all__ = ["draw", "largest", "start_backward"]


@step
def _largest_of_strip(
    thread: int, length: int, vertices: Any, marks: Any, mark: int, offsets: Any, back_offsets: Any, products: Any,
    found: Any,
) -> None:  # fmt: skip
    best = -1
    best_vertex = -1
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        if marks[vertex] == mark:
            product = (offsets[vertex + 1] - offsets[vertex]) * (back_offsets[vertex + 1] - back_offsets[vertex])
            if product > best:
                best = product
                best_vertex = vertex
    products[thread] = best
    found[thread] = best_vertex


def largest(
    device: Device, vertices: DeviceArray, size: int, marks: DeviceArray, mark: int, offsets: tuple[DeviceArray, ...]
) -> int:
    """Return the vertex with a mark that has the largest product of degrees, the first of them, or -1."""
    products, found = device.zeros(strips(size)), device.zeros(strips(size), np.int32)
    device.run(_largest_of_strip, strips(size), size, vertices, marks, mark, *offsets, products, found)
    return int(device.read(found)[device.read(products).argmax()])


@step
def draw(thread: int, length: int, vertices: Any, salt: int, marks: Any, drawn: Any) -> None:
    """Draw in each partition a vertex at random that the pivot does not reach."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = marks[vertex]
        if mark & FORWARD == 0:
            number = drawn_number(vertex, salt)
            partition = mark >> PARTITION
            # Numbers only grow, so that what is not above an old one is not above the present one.
            if number > drawn[partition]:
                atomic_max(drawn, partition, number)


@step
def start_backward(thread: int, pivots: Any, drawn: Any, marks: Any, queue: Any, counters: Any) -> None:
    """Flag the pivot of a partition, and the vertex that was drawn, from which the backward searches start.

    A vertex that the pivot reaches is never a vice pivot: the sweeps rely on that.
    """
    pivot = int(pivots[thread])
    marks[pivot] = marks[pivot] | BACKWARD
    queue[atomic_add(counters, QUEUED, 1)] = pivot
    number = drawn[pivot]
    if number > 0:
        drawn[pivot] = 0
        vice = (number - 1) & VERTEX
        mark = marks[vice]
        if mark & FORWARD == 0:
            marks[vice] = mark | VICE
            queue[atomic_add(counters, QUEUED, 1)] = vice
            atomic_add(counters, FOUND, 1)
