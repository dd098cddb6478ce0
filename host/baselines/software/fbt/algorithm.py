"""Decomposition of a graph on a device, as a whole or within regions."""

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt.layout import lay_out
from cyscc.host.baselines.software.fbt.listed import Listed
from cyscc.host.baselines.software.fbt.published import MASK, REMOVED, Published
from cyscc.host.graph.csr import Graph

__all__ = ["Fbt", "decompose_regions", "fbt"]


class Fbt:
    """A graph on a device, decomposed once or, as its subgraphs shrink, several times.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. Options: ``as-printed``, the published scheme alone; ``cached``, iterations of a search in a launch
        (0); ``segment``, the most transitions of a state in a segment (0); ``no-hybrid``, a launch for each direction.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """

    def __init__(self, graph: Graph, transpose: Graph, setting: SoftwareSetting) -> None:
        self._setting = setting
        self._states = graph.vertices
        self._layout = lay_out(setting.device, graph, transpose, int(setting.options.get("segment", 0)))

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
        scheme = Published if self._setting.options.get("as-printed", False) else Listed
        run = scheme(self._layout, self._setting, self._initial(regions))
        run.finish()
        return Decomposition(labels=self._labels(self._setting.device.read(run.on.results)), counts=run.counts())

    def _initial(self, regions: NDArray[np.integer] | None) -> NDArray[np.int32]:
        """Return the initial contents of `results`."""
        states, names = self._states, self._layout.names
        if regions is None:
            return np.zeros(states, np.int32)
        if regions.shape != (states,):
            raise ValueError(f"regions must be of {states} states, not of shape {regions.shape}")
        if regions.size and not REMOVED <= regions.min() <= regions.max() < states:
            raise ValueError(f"regions must be -1 to {states - 1}, not {regions.min()} to {regions.max()}")
        return (regions if names is None else regions[names]).astype(np.int32)

    def _labels(self, words: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the labels in the graph's original numbering."""
        names = self._layout.names
        pivots = (words & MASK).astype(np.int64)
        pivots[words == REMOVED] = -1
        if names is None:
            return pivots
        labels = np.empty_like(pivots)
        labels[names] = np.where(pivots < 0, -1, names[pivots])
        return labels


def decompose_regions(
    graph: Graph, transpose: Graph, setting: SoftwareSetting, regions: NDArray[np.integer]
) -> Decomposition:
    """Find the components within given regions of a graph; see `Fbt` for parameters, result and errors."""
    return Fbt(graph, transpose, setting).decompose(regions)


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
