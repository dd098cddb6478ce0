"""Pruning: vertices without a neighbour on one side are components of their own (section 4.1.1)."""

from typing import Any

from host.algorithms.software.quach.arrays import Arrays
from host.algorithms.software.quach.words import GONE
from host.devices import Device, device_function, step

__all__ = ["prune"]


@device_function
def _neighbour(vertex: int, offsets: Any, targets: Any, component: Any) -> int:
    """Return the first edge to another vertex without a component, where the edges end if there is none."""
    last = offsets[vertex + 1]
    for edge in range(offsets[vertex], last):
        target = targets[edge]
        if component[target] < 0 and target != vertex:
            return edge
    return last


@step
def _prune(
    vertex: int,
    offsets: Any,
    targets: Any,
    back_offsets: Any,
    back_targets: Any,
    component: Any,
    forward: Any,
    backward: Any,
    looked: Any,
    pruned: Any,
) -> None:
    """Make a component of a vertex without a neighbour before it or behind it.

    Neighbours are pruned in the same launch. Whether that is seen decides only about the round in which a vertex goes.
    """
    if component[vertex] >= 0:
        return
    last = offsets[vertex + 1]
    edge = _neighbour(vertex, offsets, targets, component)
    looked[vertex] += min(edge + 1, last) - offsets[vertex]
    if edge < last:
        last = back_offsets[vertex + 1]
        edge = _neighbour(vertex, back_offsets, back_targets, component)
        looked[vertex] += min(edge + 1, last) - back_offsets[vertex]
        if edge < last:
            return
    component[vertex] = vertex
    forward[vertex] = GONE
    backward[vertex] = GONE
    pruned[0] = 1  # all that write it write the same


def prune(device: Device, arrays: Arrays, vertices: int) -> int:
    """Prune until a round finds nothing.

    Parameters
    ----------
    device : Device
        The device.
    arrays : Arrays
        Of the run; the marks are changed.
    vertices : int
        Number of vertices.

    Returns
    -------
    int
        Rounds, the last of which found nothing.
    """
    marks = arrays.marks
    pruned = device.zeros(1)
    rounds = 0
    while True:
        device.store(pruned, 0, 0)
        device.run(
            _prune, vertices, *arrays.edges, marks.component, marks.forward, marks.backward, marks.looked, pruned
        )
        rounds += 1
        if not device.value(pruned, 0):
            return rounds
