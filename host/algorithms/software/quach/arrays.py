"""What the steps work on."""

from typing import NamedTuple

import numpy as np

from host.devices import Device, DeviceArray
from host.devices.graphs import upload
from host.graph.csr import Graph

__all__ = ["Arrays", "Edges", "Marks"]


class Edges(NamedTuple):
    """A graph and its transpose on a device."""

    offsets: DeviceArray
    """int64, shape (n + 1,)."""
    targets: DeviceArray
    """int32, shape (m,)."""
    back_offsets: DeviceArray
    """int64, shape (n + 1,)."""
    back_targets: DeviceArray
    """int32, shape (m,)."""


class Marks(NamedTuple):
    """What is known of each vertex."""

    component: DeviceArray
    """int32, shape (n,): a vertex of its component, -1 without one."""
    forward: DeviceArray
    """int64, shape (n,): the forward searches there (`host.algorithms.software.quach.words`)."""
    backward: DeviceArray
    """int64, shape (n,): the backward searches there."""
    looked: DeviceArray
    """int64, shape (n,): edges of it that were looked at."""
    by_pivot: DeviceArray
    """int64, shape (n,): of those the searches', each as often as there were pivots whose searches went along it."""


class Arrays(NamedTuple):
    """All arrays of a run."""

    edges: Edges
    marks: Marks

    @classmethod
    def of(cls, device: Device, graph: Graph, transpose: Graph) -> "Arrays":
        """Return those of a graph of n vertices and its transpose, before a run."""
        size = graph.vertices
        return cls(
            Edges(*upload(device, graph), *upload(device, transpose)),
            Marks(device.full(size, -1, np.int32), *(device.zeros(size) for _ in range(4))),
        )
