"""Forward-backward search with trimming in all regions at once (algorithm 1), from one region or from given ones.

States are renumbered where the graph is laid out, and the transitions of those of few interleaved.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.fbt.steps import (
    BACKWARD,
    FOLLOWING,
    FORWARD,
    MASK,
    MOST,
    PADDING,
    PIVOTS,
    REMOVED,
    TRIMMED,
    WARP,
    States,
    Way,
    begin_states,
    claim_pivots,
    merge_searches,
    revert_transitions,
    search_cached,
    search_once,
    trim_states,
)
from host.devices.primitives import DeviceGraph
from host.devices.steps import Device, DeviceArray, step
from host.errors import InputError
from host.graph.csr import Graph

__all__ = ["Fbt", "Layout", "decompose_regions", "fbt", "lay_out"]

_FEWEST = 2
"""The smallest interval that changes anything: with one transition each, those of 32 states are adjacent already."""
_CELLS = 5
_COUNTED = 1024
"""Cells of a counter."""
_NO_HASH = 2**40
_BITS = 3
"""What a hash is above the region's number at most."""


class Layout(NamedTuple):
    """A graph and its transpose on a device."""

    names: NDArray[np.int64] | None
    """int64, shape (n,): what the graph calls each state; none if they keep their numbers."""
    places: int
    """Length of the array of transitions."""
    forward: Way
    backward: Way


@step
def _place(thread: int, names: DeviceArray, numbers: DeviceArray, source: DeviceGraph, way: Way) -> None:
    """Copy the transitions of a state to where its new number has them."""
    first = source.offsets[names[thread]]
    degree = source.offsets[names[thread] + 1] - first
    place = way.offsets[thread]
    stride = WARP if thread < way.segmented else 1
    for each in range(degree):
        way.trans[place + each * stride] = numbers[source.targets[first + each]]
    if thread < way.segmented:
        for each in range(degree, way.interval):
            way.trans[place + each * stride] = PADDING


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
        # A copy: pivots are written into the forward targets, and the graph may be of a file.
        forward, backward = (
            Way(device.array(each.offsets.astype(np.int32)), device.array(targets.view(np.int32)), 0, 0)
            for each, targets in ((graph, graph.targets.copy()), (transpose, transpose.targets))
        )
        return Layout(None, graph.edges, forward, backward)
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
    device_names, device_numbers = device.array(names), device.array(numbers)
    ways = []
    for source, first in ((graph, segmented), (transpose, 0)):
        positions = _positions(source.out_degrees()[names], first, segment)
        trans = device.zeros(int(positions[-1]), np.int32)
        ways.append(Way(device.array(positions.astype(np.int32)), trans, first, segment))
        given = DeviceGraph(device.array(source.offsets), device.array(source.targets.view(np.int32)))
        device.run(_place, states, device_names, device_numbers, given, ways[-1])
    return Layout(names, places, *ways)


class Fbt:
    """A graph on a device, to be decomposed once or, as its subgraphs get smaller, several times.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs. Options: ``cached``, iterations of a search in a launch (0); ``segment``, the most transitions of
        a state in a segment (0); ``no-hybrid``, a launch for each direction.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """

    def __init__(self, graph: Graph, transpose: Graph, setting: Setting) -> None:
        options = setting.options
        self._device = setting.device
        self._states = graph.vertices
        self._watch = setting.watch
        self._iterations = int(options.get("cached", 0))
        self._hybrid = not options.get("no-hybrid", False)
        self._layout = lay_out(setting.device, graph, transpose, int(options.get("segment", 0)))

    def decompose(self, regions: NDArray[np.integer] | None = None) -> Decomposition:
        """Find the components within regions.

        Parameters
        ----------
        regions : ndarray of integers, shape (n,), optional
            For each state the number of its region, 0 to n - 1, or -1 if it is none of the subgraph. No cycle of the
            subgraph may lead through two regions: edges between them, and those of states that are not of it, then
            change nothing. Without, all states are of one region.

        Returns
        -------
        Decomposition
            As labels the pivot of each state's component, or -1. Counts: ``rounds``, in each of which every region gets
            a pivot; ``pivots``; ``trimming_rounds`` and ``search_iterations``, which are launches; ``passes``, these
            and what there is besides; ``edges``, those looked at.

        Raises
        ------
        ValueError
            When the regions are none.
        """
        device, initial = self._device, self._initial(regions)
        counters = (device.zeros(size) for size in (_COUNTED, _COUNTED, _CELLS))
        self._on = States(self._layout.forward, self._layout.backward, device.array(initial), *counters)
        self._removed = int(np.count_nonzero(initial == REMOVED))
        self._rounds = self._trims = self._searches = self._others = 0
        device.run(begin_states, self._states, self._on)
        while True:
            self._trim()
            self._watch(int(device.read(self._on.done).sum()) + self._removed, self._states)
            if not self._claim():
                return Decomposition(labels=self._labels(), counts=self._counts())
            self._search()
            device.run(merge_searches, self._states, self._on)
            self._others += 1

    def _initial(self, regions: NDArray[np.integer] | None) -> NDArray[np.int32]:
        """Return the first contents of `results`."""
        states, names = self._states, self._layout.names
        if regions is None:
            return np.zeros(states, np.int32)
        if regions.shape != (states,):
            raise ValueError(f"regions must be of {states} states, not of shape {regions.shape}")
        if regions.size and not REMOVED <= regions.min() <= regions.max() < states:
            raise ValueError(f"regions must be -1 to {states - 1}, not {regions.min()} to {regions.max()}")
        return (regions if names is None else regions[names]).astype(np.int32)

    def _labels(self) -> NDArray[np.int64]:
        """Return the labels, by the graph's own numbers."""
        names = self._layout.names
        words = self._device.read(self._on.results)
        pivots = (words & MASK).astype(np.int64)
        pivots[words == REMOVED] = -1
        if names is None:
            return pivots
        labels = np.empty_like(pivots)
        labels[names] = np.where(pivots < 0, -1, names[pivots])
        return labels

    def _counts(self) -> dict[str, int]:
        """Return what was counted."""
        return {
            "rounds": self._rounds,
            "pivots": self._device.value(self._on.cells, PIVOTS),
            "trimming_rounds": self._trims,
            "search_iterations": self._searches,
            "passes": self._trims + self._searches + self._others,
            "edges": int(self._device.read(self._on.edges).sum()),
        }

    def _trim(self) -> None:
        """Trim to a fixpoint."""
        trimmed = True
        while trimmed:
            self._trims += 1
            self._device.run(trim_states, self._states, self._on, self._trims)
            trimmed = self._device.value(self._on.cells, TRIMMED) == self._trims

    def _claim(self) -> bool:
        """Give each state its region, and each region a pivot; return whether there is any."""
        device, cells, length = self._device, self._on.cells, self._layout.places
        before = device.value(cells, PIVOTS)
        # Hashes may be larger than the array is long: then it serves for one range of them after the other. Ranges in
        # which there is none are left out, since where there are few transitions they are many.
        first = 0
        while first < _NO_HASH and length:
            places = min(length, self._states + _BITS - first)
            device.store(cells, FOLLOWING, _NO_HASH)
            device.run(claim_pivots, self._states, self._on, places, first)
            device.run(revert_transitions, places, self._on)
            self._others += 2
            following = device.value(cells, FOLLOWING)
            first = following if following == _NO_HASH else following // length * length
        return device.value(cells, PIVOTS) > before

    def _search(self) -> None:
        """Search both ways until no state is in a frontier."""
        directions = FORWARD | BACKWARD
        while directions:
            self._searches += 1
            for direction in (directions,) if self._hybrid else (directions & FORWARD, directions & BACKWARD):
                if direction:
                    self._launch(direction)
            found = self._device.read(self._on.cells)
            directions = sum(way for way in (FORWARD, BACKWARD) if found[way] == self._searches)
        self._rounds += 1

    def _launch(self, directions: int) -> None:
        """Launch an iteration, or several that have a cache."""
        device, iterations = self._device, self._iterations
        arguments = (self._on, directions, self._searches)
        if iterations == 0:
            device.run(search_once, self._states, *arguments)
        else:
            device.run_blocks(search_cached, device.blocks_of(self._states), 1 + iterations, iterations, *arguments)


def decompose_regions(graph: Graph, transpose: Graph, setting: Setting, regions: NDArray[np.integer]) -> Decomposition:
    """Find the components within given regions of a graph; parameters, result and errors are those of `Fbt`."""
    return Fbt(graph, transpose, setting).decompose(regions)


def fbt(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Label the components of a graph by forward-backward search with trimming (Wijs et al. 2014, section 3.3).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs, as `Fbt` has it.

    Returns
    -------
    Decomposition
        As labels pivots; counts as `Fbt.decompose` has them.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    return Fbt(graph, transpose, setting).decompose()
