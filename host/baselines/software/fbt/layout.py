"""The graph and its transpose on a device; states can be renumbered, and their transitions interleaved."""

from typing import Any, NamedTuple

import numpy as np

from cyscc.host.baselines.devices.primitives import DeviceGraph, copied, count_up, hub, prefix_sum
from cyscc.host.baselines.devices.steps import Device, DeviceArray, device_function, step
from cyscc.host.output.errors import InputError

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

    names: DeviceArray
    """int32, shape (n,): original number of each state."""
    places: int
    """Length of the array of transitions."""
    hub: int
    """A state with the largest product of degrees."""
    forward: Transitions
    backward: Transitions


@device_function
def _degree(state: int, graph: DeviceGraph) -> Any:
    return graph.offsets[state + 1] - graph.offsets[state]


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


@step
def _flag(state: int, graph: DeviceGraph, segment: int, ranks: DeviceArray) -> None:
    """Flag the states with few transitions."""
    ranks[state] = 1 if _degree(state, graph) <= segment else 0


@step
def _number(state: int, segmented: int, ranks: DeviceArray, numbers: DeviceArray, names: DeviceArray) -> None:
    """Give numbers to the first `segmented` flagged states, then to the others, in their order."""
    number = min(ranks[state], segmented)
    if ranks[state + 1] == ranks[state] or number == segmented:
        number = segmented + state - number
    numbers[state] = number
    names[number] = state


@step
def _measure(number: int, names: DeviceArray, source: DeviceGraph, segmented: int, lengths: DeviceArray) -> None:
    """Store the number of transitions of a state behind the segments."""
    if number >= segmented:
        lengths[number] = _degree(names[number], source)


@step
def _position(number: int, sums: DeviceArray, placed: Transitions) -> None:
    """Store the start of a state's transitions, or the end of the last one's."""
    if number < placed.segmented:
        placed.offsets[number] = number // WARP * (WARP * placed.interval) + number % WARP
    else:
        placed.offsets[number] = placed.segmented * placed.interval + sums[number]


def _check(states: int, places: int) -> None:
    if max(states, places) > MOST:
        raise InputError(
            f"fbt takes at most {MOST} states and as many transitions, padding included, not {states} and {places}"
        )


def _placed(
    device: Device, source: DeviceGraph, names: DeviceArray, numbers: DeviceArray, segmented: int, interval: int
) -> Transitions:
    """Return the transitions of a graph at their places; the states come in the order of `names`."""
    states = source.offsets.size - 1
    sums = device.zeros(states + 1)
    device.run(_measure, states, names, source, segmented, sums)
    places = segmented * interval + prefix_sum(device, sums, states + 1)
    _check(states, places)
    placed = Transitions(device.zeros(states + 1, np.int32), device.zeros(places, np.int32), segmented, interval)
    device.run(_position, states + 1, sums, placed)
    device.run(_place, states, names, numbers, source, placed)
    return placed


def lay_out(device: Device, graph: DeviceGraph, transpose: DeviceGraph, segment: int) -> Layout:
    """Copy a graph on a device, where pivots may overwrite its transitions.

    Parameters
    ----------
    device : Device
        The device.
    graph, transpose : DeviceGraph
        The graph and its transpose.
    segment : int
        States with at most this many transitions come first, in order, in segments of 32. A remainder that does not
        fill a segment is placed with the other states. With 0 or 1 the layout is unchanged.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    states = graph.offsets.size - 1
    _check(states, graph.targets.size)
    names, numbers = (device.zeros(states, np.int32) for _ in range(2))
    largest = hub(device, graph, transpose, numbers, 0)
    if segment < _FEWEST:
        device.run(count_up, states, names)
        forward, backward = (
            Transitions(copied(device, each.offsets, np.int32), targets, 0, 0)
            for each, targets in ((graph, copied(device, graph.targets, np.int32)), (transpose, transpose.targets))
        )
        return Layout(names, graph.targets.size, largest, forward, backward)
    ranks = device.zeros(states + 1)
    device.run(_flag, states, graph, min(segment, MOST), ranks)
    segmented = prefix_sum(device, ranks, states + 1) // WARP * WARP
    device.run(_number, states, segmented, ranks, numbers, names)
    forward = _placed(device, graph, names, numbers, segmented, segment)
    backward = _placed(device, transpose, names, numbers, 0, segment)
    return Layout(names, forward.trans.size, device.value(numbers, largest) if states else 0, forward, backward)
