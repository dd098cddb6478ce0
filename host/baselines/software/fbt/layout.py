"""The graph and its transpose on a device; states can be renumbered, and their transitions interleaved."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.devices.primitives import DeviceGraph
from cyscc.host.baselines.devices.steps import Device, DeviceArray, step
from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError

__all__ = ["MOST", "PADDING", "WARP", "Layout", "Transitions", "lay_out"]

MOST = 2**29 - 1
"""Most states, and longest array of transitions."""
WARP = 32
"""States of a segment."""
PADDING = 2**31 - 1
"""Padding entry of `trans`, after the transitions of a state."""
_FEWEST = 2
"""Smallest interval to interleave: with one transition each, the transitions of 32 states are adjacent already."""


class Transitions(NamedTuple):
    """The transitions of one direction on a device."""

    offsets: DeviceArray
    """int32, shape (n + 1,): where the transitions of each state begin; forward with bits of bookkeeping."""
    trans: DeviceArray
    """int32: targets of the transitions; within a segment, those of a state are 32 apart."""
    segmented: int
    """Number of states in segments, which come first."""
    interval: int
    """Transitions of each state in a segment, padding included."""


class Layout(NamedTuple):
    """A graph and its transpose on a device."""

    names: NDArray[np.int64] | None
    """int64, shape (n,): original number of each state; None if states are not renumbered."""
    places: int
    """Length of the array of transitions."""
    hub: int
    """A state with the largest product of degrees."""
    forward: Transitions
    backward: Transitions


@step
def _place(thread: int, names: DeviceArray, numbers: DeviceArray, source: DeviceGraph, placed: Transitions) -> None:
    """Copy the transitions of a state to the place of its new number."""
    first = source.offsets[names[thread]]
    degree = source.offsets[names[thread] + 1] - first
    place = placed.offsets[thread]
    stride = WARP if thread < placed.segmented else 1
    for each in range(degree):
        placed.trans[place + each * stride] = numbers[source.targets[first + each]]
    if thread < placed.segmented:
        for each in range(degree, placed.interval):
            placed.trans[place + each * stride] = PADDING


def _positions(degrees: NDArray[np.int64], segmented: int, interval: int) -> NDArray[np.int64]:
    """Return the start of each state's transitions, and the end of the last one's."""
    states = np.arange(segmented)
    offsets = np.empty(degrees.size + 1, np.int64)
    offsets[:segmented] = states // WARP * (WARP * interval) + states % WARP
    offsets[segmented] = segmented * interval
    np.cumsum(degrees[segmented:], out=offsets[segmented + 1 :])
    offsets[segmented + 1 :] += offsets[segmented]
    return offsets


def _check(states: int, places: int) -> None:
    if max(states, places) > MOST:
        raise InputError(
            f"fbt takes at most {MOST} states and as many transitions, padding included, not {states} and {places}"
        )


def _hub(graph: Graph, transpose: Graph) -> int:
    """Return the state with the largest product of degrees, 0 of an empty graph."""
    return int((graph.out_degrees() * transpose.out_degrees()).argmax()) if graph.vertices else 0


def lay_out(device: Device, graph: Graph, transpose: Graph, segment: int) -> Layout:
    """Copy a graph to a device.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : Graph
        The graph and its transpose.
    segment : int
        States with at most this many transitions come first, in order, in segments of 32. A remainder that does not
        fill a segment is placed with the other states. With 0 or 1 the layout is unchanged.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    states = graph.vertices
    if segment < _FEWEST:
        _check(states, graph.edges)
        # A copy: pivots overwrite forward targets, and the graph's arrays may be mapped from a file.
        forward, backward = (
            Transitions(device.array(each.offsets.astype(np.int32)), device.array(targets.view(np.int32)), 0, 0)
            for each, targets in ((graph, graph.targets.copy()), (transpose, transpose.targets))
        )
        return Layout(None, graph.edges, _hub(graph, transpose), forward, backward)
    degrees = graph.out_degrees()
    few = np.flatnonzero(degrees <= segment)
    segmented = few.size // WARP * WARP
    behind = np.ones(states, np.bool_)
    behind[few[:segmented]] = False
    # Before computing positions in 64-bit integers: Python integers cannot overflow.
    places = segmented * segment + int(degrees[behind].sum())
    _check(states, places)
    names = np.concatenate([few[:segmented], np.flatnonzero(behind)])
    numbers = np.empty(states, np.int32)
    numbers[names] = np.arange(states, dtype=np.int32)
    device_names, device_numbers = device.array(names), device.array(numbers)
    layouts = []
    for source, first in ((graph, segmented), (transpose, 0)):
        positions = _positions(source.out_degrees()[names], first, segment)
        trans = device.zeros(int(positions[-1]), np.int32)
        layouts.append(Transitions(device.array(positions.astype(np.int32)), trans, first, segment))
        given = DeviceGraph(device.array(source.offsets), device.array(source.targets.view(np.int32)))
        device.run(_place, states, device_names, device_numbers, given, layouts[-1])
    return Layout(names, places, int(numbers[_hub(graph, transpose)]), *layouts)
