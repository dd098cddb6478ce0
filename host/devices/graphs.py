"""Graphs in the memory of a device."""

from typing import NamedTuple

import numpy as np

from host.devices.device import Device, DeviceArray
from host.errors import InputError
from host.graph.csr import Graph

__all__ = ["DeviceGraph", "upload"]

_MOST = 2**31 - 1
"""Vertices and edges, which steps count in 32-bit integers with a sign."""


class DeviceGraph(NamedTuple):
    """A graph in compressed sparse row form on a device."""

    offsets: DeviceArray
    """int64, shape (n + 1,): the neighbours of vertex v are ``targets[offsets[v]:offsets[v + 1]]``."""
    targets: DeviceArray
    """int32, shape (m,): neighbour ids."""


def upload(device: Device, graph: Graph) -> DeviceGraph:
    """Copy a graph to a device; the processor takes its arrays as they are.

    Raises
    ------
    InputError
        The graph has more than 2**31 - 1 vertices or edges.
    """
    if max(graph.vertices, graph.edges) > _MOST:
        raise InputError(f"algorithms made of steps take at most {_MOST} vertices and edges")
    return DeviceGraph(device.array(graph.offsets), device.array(graph.targets.view(np.int32)))
