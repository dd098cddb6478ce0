"""Decomposition of a graph on a device, as a whole or within regions."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.devices.primitives import DeviceGraph, upload
from cyscc.host.baselines.devices.steps import DeviceArray, step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt.layout import lay_out
from cyscc.host.baselines.software.fbt.schemes import MASK, REMOVED, Listed, Published
from cyscc.host.graph.csr import Graph


class Fbt:
    """A graph on a device, decomposed once or, as its subgraphs shrink, several times.

    Parameters
    ----------
    graph, transpose : Graph or DeviceGraph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. Options: ``as-printed``, the published scheme alone; ``cached``, iterations of a search in a launch
        (0); ``segment``, the most transitions of a state in a segment (0); ``no-hybrid``, a launch for each direction.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """

    def __init__(self, graph: Graph | DeviceGraph, transpose: Graph | DeviceGraph, setting: SoftwareSetting) -> None:
        device = setting.device
        self._setting = setting
        on, back = (upload(device, each) if isinstance(each, Graph) else each for each in (graph, transpose))
        self._layout = lay_out(device, on, back, int(setting.options.get("segment", 0)))
        self._states = on.offsets.size - 1

    def decompose(self, regions: NDArray[np.integer] | None = None) -> Decomposition:
        """Find the components within regions.

        Parameters
        ----------
        regions : ndarray of integers, shape (n,), optional
            Region of each state, 0 to n - 1, or -1 for a state outside of the subgraph. No cycle of the subgraph may
            pass through two regions. Edges between regions, and those of states outside, are ignored. By default all
            states are in one region.

        Returns
        -------
        Decomposition
            The label of a state is the pivot of its component, or -1. Counts: ``rounds``, in each of which every region
            gets a pivot; ``pivots``; ``trimming_rounds`` and ``search_iterations``, one launch each; ``passes``, all
            launches including these; ``edges``, transitions inspected.

        Raises
        ------
        ValueError
            The regions are invalid.
        """
        device, removed, given = self._setting.device, 0, None
        if regions is not None:
            if regions.shape != (self._states,):
                raise ValueError(f"regions must be of {self._states} states, not of shape {regions.shape}")
            if regions.size and not REMOVED <= regions.min() <= regions.max() < self._states:
                raise ValueError(f"regions must be -1 to {self._states - 1}, not {regions.min()} to {regions.max()}")
            removed, given = int(np.count_nonzero(regions == REMOVED)), device.array(regions.astype(np.int64))
        found = self.divide(given, removed)
        return replace(found, labels=device.read(found.labels).astype(np.int64))

    def divide(self, regions: DeviceArray | None, removed: int = 0) -> Decomposition:
        """Find the components within regions, all in device memory.

        Parameters
        ----------
        regions : array of int64, shape (n,), optional
            As for `decompose`, unchecked.
        removed : int
            Number of states outside of the subgraph.

        Returns
        -------
        Decomposition
            As of `decompose`, with an array of int32 as labels.
        """
        device, states, names = self._setting.device, self._states, self._layout.names
        initial, labels = (device.zeros(states, np.int32) for _ in range(2))
        if regions is not None:
            device.run(_enter, states, names, regions, initial)
        scheme = Published if self._setting.options.get("as-printed", False) else Listed
        run = scheme(self._layout, self._setting, initial, removed)
        run.finish()
        device.run(_label, states, names, run.on.results, labels)
        return Decomposition(labels=labels, counts=run.counts())


@step
def _enter(state: int, names: DeviceArray, regions: DeviceArray, results: DeviceArray) -> None:
    """Store the region of a state."""
    results[state] = regions[names[state]]


@step
def _label(state: int, names: DeviceArray, results: DeviceArray, labels: DeviceArray) -> None:
    """Store the pivot of a state's component, both in the graph's numbers; -1 for a state outside of the subgraph."""
    word = results[state]
    labels[names[state]] = REMOVED if word == REMOVED else names[word & MASK]


def decompose_regions(
    graph: DeviceGraph, transpose: DeviceGraph, setting: SoftwareSetting, regions: DeviceArray | None
) -> Decomposition:
    """Find the components within given regions of a graph on a device; see `Fbt.divide`."""
    return Fbt(graph, transpose, setting).divide(regions)


def fbt(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Label the components of a graph by forward-backward search with trimming (Wijs et al. 2014, section 3.3).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs, see `Fbt`.

    Returns
    -------
    Decomposition
        Labels are pivots; counts are those of `Fbt.decompose`.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    return Fbt(graph, transpose, setting).decompose()
