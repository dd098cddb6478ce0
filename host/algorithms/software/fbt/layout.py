"""The graph as the algorithm keeps it: states renumbered, and the transitions of those of few interleaved."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.algorithms.software.fbt.bits import MOST
from host.devices import Device, DeviceArray, step
from host.errors import InputError
from host.graph.csr import Graph

__all__ = ["PADDING", "WARP", "Layout", "lay_out"]

WARP = 32
"""States of a segment."""
PADDING = 2**31 - 1
"""A transition that is none; those of a state come before it."""
_FEWEST = 2
"""The smallest interval that changes anything: with one transition each, those of 32 states are adjacent already."""


class Layout(NamedTuple):
    """A graph and its transpose on a device."""

    states: int
    """How many, n."""
    names: NDArray[np.int64] | None
    """int64, shape (n,): what the graph calls each state; none if they keep their numbers."""
    segmented: int
    """States in segments, which are the first ones."""
    interval: int
    """Transitions of each of them, padding included."""
    places: int
    """Length of `trans`."""
    offsets: DeviceArray
    """int32, shape (n + 1,): where the transitions of each state begin, with bits of bookkeeping."""
    trans: DeviceArray
    """int32: targets of the transitions, those of a segment 32 apart."""
    backward_offsets: DeviceArray
    """int32, shape (n + 1,), of the transpose."""
    backward_trans: DeviceArray
    """int32, of the transpose."""


@step
def _place(
    thread: int,
    names: Any,
    numbers: Any,
    source_offsets: Any,
    source_targets: Any,
    offsets: Any,
    trans: Any,
    segmented: int,
    interval: int,
) -> None:
    """Copy the transitions of a state to where its new number has them."""
    first = source_offsets[names[thread]]
    degree = source_offsets[names[thread] + 1] - first
    place = offsets[thread]
    stride = WARP if thread < segmented else 1
    for each in range(degree):
        trans[place + each * stride] = numbers[source_targets[first + each]]
    if thread < segmented:
        for each in range(degree, interval):
            trans[place + each * stride] = PADDING


def _positions(degrees: NDArray[np.int64], segmented: int, interval: int) -> NDArray[np.int64]:
    """Return where the transitions of each state begin, and where those of the last one end."""
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


def lay_out(device: Device, graph: Graph, transpose: Graph, segment: int) -> Layout:
    """Copy a graph to a device.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : Graph
        The graph and its transpose.
    segment : int
        States of at most so many transitions are numbered first, in their order, and stand in segments of 32; what
        does not fill a segment stands with the others behind them. With 0 or 1 nothing is changed.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    states = graph.vertices
    if segment < _FEWEST:
        _check(states, graph.edges)
        return Layout(
            states=states,
            names=None,
            segmented=0,
            interval=0,
            places=graph.edges,
            offsets=device.array(graph.offsets.astype(np.int32)),
            # A copy: pivots are written into it, and the graph may be of a file.
            trans=device.array(graph.targets.view(np.int32).copy()),
            backward_offsets=device.array(transpose.offsets.astype(np.int32)),
            backward_trans=device.array(transpose.targets.view(np.int32)),
        )
    degrees = graph.out_degrees()
    few = np.flatnonzero(degrees <= segment)
    segmented = few.size // WARP * WARP
    behind = np.ones(states, np.bool_)
    behind[few[:segmented]] = False
    # Before there are arrays of positions: their integers are of 64 bits, these of any size.
    places = segmented * segment + int(degrees[behind].sum())
    _check(states, places)
    names = np.concatenate([few[:segmented], np.flatnonzero(behind)])
    numbers = np.empty(states, np.int32)
    numbers[names] = np.arange(states, dtype=np.int32)
    forward = _positions(degrees[names], segmented, segment)
    backward = _positions(transpose.out_degrees()[names], 0, 0)
    device_names, device_numbers = device.array(names), device.array(numbers)
    arrays = []
    for source, positions, first in ((graph, forward, segmented), (transpose, backward, 0)):
        offsets = device.array(positions.astype(np.int32))
        trans = device.zeros(int(positions[-1]), np.int32)
        source_arrays = device.array(source.offsets), device.array(source.targets.view(np.int32))
        device.run(_place, states, device_names, device_numbers, *source_arrays, offsets, trans, first, segment)
        arrays += [offsets, trans]
    return Layout(
        states=states,
        names=names,
        segmented=segmented,
        interval=segment,
        places=places,
        offsets=arrays[0],
        trans=arrays[1],
        backward_offsets=arrays[2],
        backward_trans=arrays[3],
    )
