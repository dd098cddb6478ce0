"""The main algorithm: searches of several pivots at a time, until every vertex has a component (section 4.1.2)."""

import numpy as np

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.quach.arrays import Arrays
from host.algorithms.software.quach.drawing import Lots
from host.algorithms.software.quach.pruning import prune
from host.algorithms.software.quach.searching import begin, go_on, judge, settle
from host.graph.csr import Graph

__all__ = ["PIVOTS", "quach"]

PIVOTS = 10
"""The text's number of pivots."""

_OFTEN = 64
"""Settlements from one report of progress to the next."""


class _Search:
    """The searches of all pivots, and what is counted of them.

    Sets of pivots are integers, with a bit for each.
    """

    def __init__(self, setting: Setting, arrays: Arrays, lots: Lots, vertices: int) -> None:
        device = setting.device
        self._device = device
        self._arrays = arrays
        self._lots = lots
        self._vertices = vertices
        self._count = setting.options.get("pivots", PIVOTS)
        self.everyone = (1 << self._count) - 1
        self._pivots = device.zeros(self._count)
        self._active = device.zeros(1)
        self._verdict = device.zeros(2)
        self.levels = self.settlements = self.found = self.wasted = 0

    def begin(self, new: int) -> bool:
        """Draw pivots, and begin their searches; tell whether there were vertices for them."""
        marks = self._arrays.marks
        for slot in range(self._count):
            if new >> slot & 1:
                vertex = self._lots.draw()
                if vertex is None:
                    return False
                self._device.store(self._pivots, slot, vertex)
        self._device.run(begin, self._count, self._pivots, marks.forward, marks.backward, new)
        return True

    def go_on(self) -> int:
        """Go on with all searches until those of some pivots are over; return the pivots."""
        marks = self._arrays.marks
        while True:
            self._device.store(self._active, 0, 0)
            self._device.run(
                go_on,
                self._vertices,
                *self._arrays.edges,
                marks.forward,
                marks.backward,
                self._active,
                marks.looked,
                marks.by_pivot,
            )
            self.levels += 1
            done = self.everyone & ~self._device.value(self._active, 0)
            if done:
                return done

    def settle(self, done: int) -> int:
        """Make components of pivots whose searches are over; return those pivots, and the others in the components."""
        device, marks = self._device, self._arrays.marks
        device.store(self._verdict, 0, 0)
        device.store(self._verdict, 1, 0)
        device.run(judge, self._count, self._pivots, marks.forward, marks.backward, done, self._verdict)
        ended, finders = device.value(self._verdict, 0), device.value(self._verdict, 1)
        device.run(settle, self._vertices, marks.component, self._pivots, marks.forward, marks.backward, finders, ended)
        self.settlements += 1
        self.found += finders.bit_count()
        self.wasted += (ended & ~finders).bit_count()
        return ended


def quach(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Label the components of a graph.

    Vertices without a neighbour on one side are pruned until there are none left. Then each of some pivots searches
    forward and backward, all of them a level in a launch over all vertices. When both searches of a pivot are over,
    what both came to and has no component yet is its component. New pivots take the place of it and of those that it
    has in its component.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs. Its option ``pivots`` is the number of pivots at a time, at most `MOST_PIVOTS` of
        `host.algorithms.names`.
    """
    device, vertices = setting.device, graph.vertices
    arrays = Arrays.of(device, graph, transpose)
    rounds = prune(device, arrays, vertices)
    pruning = int(device.read(arrays.marks.looked).sum())
    lots = Lots(device, arrays.marks.component, setting.seed)
    left = lots.left
    setting.watch(vertices - left, vertices)
    search = _Search(setting, arrays, lots, vertices)
    new = search.everyone
    while search.begin(new):
        new = search.settle(search.go_on())
        if search.settlements % _OFTEN == 0:
            lots.renew()
            setting.watch(vertices - lots.left, vertices)
    looked = int(device.read(arrays.marks.looked).sum())
    return Decomposition(
        labels=device.read(arrays.marks.component).astype(np.int64),
        counts={
            "edges": looked,
            "edges_pruning": pruning,
            "edges_by_pivot": pruning + int(device.read(arrays.marks.by_pivot).sum()),
            "passes": rounds + search.levels + search.settlements,
            "prune_rounds": rounds,
            "levels": search.levels,
            "pruned": vertices - left,
            "components_searched": search.found,
            "pivots_wasted": search.wasted,
        },
    )
