"""Decomposition of a graph on a device, as a whole or within regions."""

from dataclasses import replace

import numpy as np

from cyscc.host.baselines.devices.primitives import DeviceGraph, upload
from cyscc.host.baselines.devices.steps import DeviceArray, step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt.layout import lay_out
from cyscc.host.baselines.software.fbt.schemes import MASK, Listed, Published
from cyscc.host.graph.csr import Graph


@step
def _enter(state: int, names: DeviceArray, regions: DeviceArray, results: DeviceArray) -> None:
    """Store the region of a state."""
    results[state] = regions[names[state]]


@step
def _label(state: int, names: DeviceArray, results: DeviceArray, labels: DeviceArray) -> None:
    """Store the pivot of a state's component, both in the graph's numbers."""
    labels[names[state]] = names[results[state] & MASK]


def decompose_regions(
    graph: DeviceGraph, transpose: DeviceGraph, setting: SoftwareSetting, regions: DeviceArray | None
) -> Decomposition:
    """Find the components within given regions of a graph on a device.

    Parameters
    ----------
    graph, transpose : DeviceGraph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs. Options: ``as-printed``, the published scheme alone; ``cached``, iterations of a search in a launch
        (0); ``segment``, the most transitions of a state in a segment (0); ``no-hybrid``, a launch for each direction.
    regions : array of int64, shape (n,), optional
        Region of each state, 0 to n - 1. No cycle may pass through two regions. By default all states are in one.

    Returns
    -------
    Decomposition
        The label of a state is the pivot of its component, int32, in device memory. Counts: ``rounds``, in each of
        which every region gets a pivot; ``pivots``; ``trimming_rounds`` and ``search_iterations``, one launch each;
        ``passes``, all launches including these; ``edges``, transitions inspected.

    Raises
    ------
    InputError
        The graph has more than 2**29 - 1 states, or transitions with the padding.
    """
    device, states = setting.device, graph.offsets.size - 1
    layout = lay_out(device, graph, transpose, int(setting.options.get("segment", 0)))
    initial, labels = (device.zeros(states, np.int32) for _ in range(2))
    if regions is not None:
        device.run(_enter, states, layout.names, regions, initial)
    scheme = Published if setting.options.get("as-printed", False) else Listed
    run = scheme(layout, setting, initial)
    run.finish()
    device.run(_label, states, layout.names, run.on.results, labels)
    return Decomposition(labels=labels, counts=run.counts())


def fbt(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
    """Label the components of a graph by forward-backward search with trimming (Wijs et al. 2014, section 3.3).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : SoftwareSetting
        How it runs, see `decompose_regions`, with whose counts the labels are returned.

    Raises
    ------
    InputError
        See `decompose_regions`.
    """
    device = setting.device
    found = decompose_regions(upload(device, graph), upload(device, transpose), setting, None)
    return replace(found, labels=device.read(found.labels).astype(np.int64))
