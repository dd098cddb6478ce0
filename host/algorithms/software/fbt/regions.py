"""Forward-backward search with trimming in all regions at once (algorithm 1), from one region or from given ones."""

import numpy as np
from numpy.typing import NDArray

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.fbt.bits import MASK, REMOVED
from host.algorithms.software.fbt.counting import counter, total
from host.algorithms.software.fbt.layout import lay_out
from host.algorithms.software.fbt.pivots import begin_states, claim_pivots, merge_searches, revert_transitions
from host.algorithms.software.fbt.searching import BACKWARD, FORWARD, search_cached, search_once
from host.algorithms.software.fbt.trimming import trim_states
from host.devices import DeviceArray
from host.graph.csr import Graph

__all__ = ["Fbt", "decompose_regions", "fbt"]

_TRIMMED, _FOLLOWING, _PIVOTS = 0, 3, 4
"""Cells beside those of the two directions: the last round that trimmed a state, the next hash, pivots."""
_CELLS = 5
_NO_HASH = 2**40
_BITS = 3
"""What a hash is above the region's number at most."""


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
        run = _Run(self, self._initial(regions))
        while True:
            run.trim()
            self._watch(run.done, self._layout.states)
            if not run.claim():
                return Decomposition(labels=self._labels(run.results), counts=run.counts())
            run.search()
            run.merge()

    def _initial(self, regions: NDArray[np.integer] | None) -> NDArray[np.int32]:
        """Return the first contents of `results`."""
        layout = self._layout
        if regions is None:
            return np.zeros(layout.states, np.int32)
        if regions.shape != (layout.states,):
            raise ValueError(f"regions must be of {layout.states} states, not of shape {regions.shape}")
        if regions.size and not REMOVED <= regions.min() <= regions.max() < layout.states:
            raise ValueError(f"regions must be -1 to {layout.states - 1}, not {regions.min()} to {regions.max()}")
        return (regions if layout.names is None else regions[layout.names]).astype(np.int32)

    def _labels(self, results: DeviceArray) -> NDArray[np.int64]:
        """Return the labels, by the graph's own numbers."""
        names = self._layout.names
        words = self._device.read(results)
        pivots = (words & MASK).astype(np.int64)
        pivots[words == REMOVED] = -1
        if names is None:
            return pivots
        labels = np.empty_like(pivots)
        labels[names] = np.where(pivots < 0, -1, names[pivots])
        return labels


class _Run:
    """One decomposition: the arrays, and the launches of each part."""

    def __init__(self, machine: Fbt, initial: NDArray[np.int32]) -> None:
        self._device = machine._device
        self._layout = machine._layout
        self._iterations = machine._iterations
        self._hybrid = machine._hybrid
        layout = self._layout
        self._states = layout.states
        self.results = self._device.array(initial)
        self._edges, self._done = counter(self._device), counter(self._device)
        self._cells = self._device.zeros(_CELLS)
        self._removed = int(np.count_nonzero(initial == REMOVED))
        self._forward = (layout.offsets, layout.trans, layout.segmented, layout.interval)
        self._backward = (layout.backward_offsets, layout.backward_trans)
        self._rounds = self._trims = self._searches = self._others = 0
        self._device.run(begin_states, self._states, self.results, layout.offsets)

    @property
    def done(self) -> int:
        """States that have a component, or are none of the subgraph."""
        return total(self._device, self._done) + self._removed

    def counts(self) -> dict[str, int]:
        """Return what was counted."""
        return {
            "rounds": self._rounds,
            "pivots": self._device.value(self._cells, _PIVOTS),
            "trimming_rounds": self._trims,
            "search_iterations": self._searches,
            "passes": self._trims + self._searches + self._others,
            "edges": total(self._device, self._edges),
        }

    def trim(self) -> None:
        """Trim to a fixpoint."""
        while True:
            self._trims += 1
            counts = (self._edges, self._done, self._cells, _TRIMMED, self._trims)
            self._device.run(trim_states, self._states, self.results, *self._forward, *self._backward, *counts)
            if self._device.value(self._cells, _TRIMMED) != self._trims:
                return

    def claim(self) -> bool:
        """Give each state its region, and each region a pivot; return whether there is any."""
        device, layout = self._device, self._layout
        before = device.value(self._cells, _PIVOTS)
        # Hashes may be larger than the array is long: then it serves for one range of them after the other. Ranges in
        # which there is none are left out, since where there are few transitions they are many.
        first = 0
        while first < _NO_HASH and layout.places:
            places = min(layout.places, self._states + _BITS - first)
            device.store(self._cells, _FOLLOWING, _NO_HASH)
            arrays = (self.results, layout.offsets, layout.trans)
            device.run(claim_pivots, self._states, *arrays, places, first, self._cells, _FOLLOWING)
            device.run(revert_transitions, places, self.results, layout.trans, self._cells, _PIVOTS)
            self._others += 2
            following = device.value(self._cells, _FOLLOWING)
            first = following if following == _NO_HASH else following // layout.places * layout.places
        return device.value(self._cells, _PIVOTS) > before

    def search(self) -> None:
        """Search both ways until no state is in a frontier."""
        directions = FORWARD | BACKWARD
        while directions:
            self._searches += 1
            for direction in (directions,) if self._hybrid else (directions & FORWARD, directions & BACKWARD):
                if direction:
                    self._launch(direction)
            found = self._device.read(self._cells)
            directions = sum(way for way in (FORWARD, BACKWARD) if found[way] == self._searches)
        self._rounds += 1

    def _launch(self, directions: int) -> None:
        """Launch an iteration, or several that have a cache."""
        device = self._device
        arrays = (self.results, *self._forward, *self._backward, self._edges, self._cells, self._searches)
        if self._iterations == 0:
            device.run(search_once, self._states, directions, *arrays)
        else:
            phases = 1 + self._iterations
            blocks = device.blocks_of(self._states)
            device.run_blocks(search_cached, blocks, phases, self._iterations, self._states, directions, *arrays)

    def merge(self) -> None:
        """Make components of what both searches of a region have reached."""
        self._device.run(merge_searches, self._states, self.results, self._layout.offsets, self._done)
        self._others += 1


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
