"""The rounds of the multi-partition method."""

from typing import Any

import numpy as np

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.multipartition.colouring import Colouring
from host.algorithms.software.multipartition.joining import divide, join, plant
from host.algorithms.software.multipartition.lists import EDGES, FOUND, PARTS, QUEUED, Counters, gather, settle, strips
from host.algorithms.software.multipartition.marks import BACKWARD, FORWARD, PARTITION, VICE
from host.algorithms.software.multipartition.pivots import draw, largest, start_backward
from host.algorithms.software.multipartition.searching import Searching
from host.algorithms.software.multipartition.trimming import Trimming
from host.devices import Step
from host.devices.graphs import upload
from host.graph.csr import Graph

__all__ = ["multipartition"]


class _Run:
    """One run: the graph, the marks of its vertices, and the list of those without a component."""

    def __init__(self, graph: Graph, transpose: Graph, setting: Setting) -> None:
        device = setting.device
        self._device = device
        self._watch = setting.watch
        self._total = graph.vertices
        self._salts = np.random.default_rng(setting.seed)
        self._graph = upload(device, graph)
        self._transpose = upload(device, transpose)
        # The first partition is of all vertices, and has a number that is no vertex's.
        self._whole = graph.vertices << PARTITION
        self.marks = device.full(graph.vertices, self._whole, np.int64)
        self._counters = Counters(device)
        self._vertices = device.array(np.arange(graph.vertices, dtype=np.int32))
        self._others, self._pivots, self._parents = (device.zeros(graph.vertices, np.int32) for _ in range(3))
        self._drawn, self._seen = (device.zeros(graph.vertices + 1) for _ in range(2))
        self._left = graph.vertices
        self._searching = Searching(device, self.marks, self._counters, graph.vertices)
        self._trimming = Trimming(device, self._graph, self._transpose, self.marks, self._counters, graph.vertices)
        self._colouring = Colouring(device, self._graph, self._transpose, self.marks, self._counters, graph.vertices)
        self._coloured = False
        self.rounds = 0
        self.pivots = 0
        self.vice_pivots = 0
        self.joins = 0

    def run(self) -> None:
        """Find the components."""
        self._trimming.whole()
        self._gather()
        if self._left:
            self._first_round()
        while self._left:
            self._trimming.trim(self._vertices, self._left)
            self._gather()
            if self._left:
                self._round()

    def counts(self) -> dict[str, int]:
        """Return what was counted."""
        return {
            "rounds": self.rounds,
            "passes": self._searching.passes + self._trimming.passes + self.joins + self._colouring.passes,
            "edges": self._counters.take(EDGES),
            "trim_rounds": self._trimming.rounds,
            "trimmed": self._trimming.singles,
            "two_vertex_components": self._trimming.pairs,
            "pivots": self.pivots,
            "vice_pivots": self.vice_pivots,
            "partitions": self._counters.take(PARTS),
            "wcc_rounds": self.joins,
            "colour_rounds": self._colouring.rounds,
        }

    def _gather(self) -> None:
        """Drop from the list what has a component."""
        self._run(gather, self._others, self.marks, self._counters.array)
        self._listed()

    def _listed(self) -> None:
        """Take the other list, which is written."""
        self._vertices, self._others = self._others, self._vertices
        self._left = self._counters.take(QUEUED)
        self._watch(self._total - self._left, self._total)

    def _largest(self) -> int:
        offsets = (self._graph.offsets, self._transpose.offsets)
        return largest(self._device, self._vertices, self._left, self.marks, self._whole, offsets)

    def _first_round(self) -> None:
        """Divide the whole graph, by vertices with the largest product of degrees."""
        device, queue = self._device, self._searching.queue
        pivot = self._largest()
        device.store(self.marks, pivot, self._whole | FORWARD)
        device.store(queue, 0, pivot)
        self._search(FORWARD, 1)
        vice = self._largest()
        queue = self._searching.queue
        device.store(self.marks, pivot, self._whole | FORWARD | BACKWARD)
        device.store(queue, 0, pivot)
        if vice >= 0:
            device.store(self.marks, vice, self._whole | VICE)
            device.store(queue, 1, vice)
            self.vice_pivots += 1
        self._search(BACKWARD | VICE, 1 + (vice >= 0))
        self.pivots += 1
        self._settle()

    def _round(self) -> None:
        """Divide each partition into smaller ones, and each of these by a pivot and a vice pivot."""
        if self._coloured:
            pivots = self._colouring.divide(
                self._vertices, self._left, self._salt(), self._pivots, self._searching.queue, self._seen
            )
        else:
            pivots = self._join()
            self._search(FORWARD, pivots)
            self._run(draw, self._salt(), self.marks, self._drawn)
        self._device.run(
            start_backward, pivots, self._pivots, self._drawn, self.marks, self._searching.queue, self._counters.array
        )
        self.pivots += pivots
        self.vice_pivots += self._counters.take(FOUND)
        self._search(BACKWARD | VICE, self._counters.take(QUEUED))
        coloured = self._coloured
        untouched = self._settle()
        self._coloured = not coloured and 2 * untouched > self._left

    def _join(self) -> int:
        """Make a partition of what is weakly connected in one; return how many there are."""
        counters = self._counters.array
        self.joins += 1
        self._device.run(plant, self._left, self._vertices, self._parents)
        self._run(join, self._salt(), self._parents, self.marks, *self._graph, counters)
        self._run(divide, self._parents, self._pivots, self._searching.queue, self._seen, self.marks, counters)
        return self._counters.take(QUEUED)

    def _search(self, flags: int, sources: int) -> None:
        ways = (self._graph, self._transpose)
        self._searching.search(flags, sources, *(ways if flags == FORWARD else ways[::-1]), self._vertices, self._left)

    def _settle(self) -> int:
        """End a round: what is reached both ways has its component. Return how much was reached no way."""
        self.rounds += 1
        self._run(settle, self._others, self.marks, self._seen, self._counters.array)
        self._listed()
        return self._counters.take(FOUND)

    def _run(self, step: Step, *arguments: Any) -> None:
        """Launch a step that looks after the list."""
        self._device.run(step, strips(self._left), self._left, self._vertices, *arguments)

    def _salt(self) -> int:
        return int(self._salts.integers(1 << 32))


def multipartition(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Find the components by partitions of which each has a pivot and a vice pivot.

    After *Parallel Strongly Connected Components Detection with Multi-partition on GPUs*, of which only the abstract
    was at hand; what it leaves open is filled as its references do (FW-BW-Trim with WCC of Hong, Rodia and Olukotun,
    SC 2013), and where that was not enough, by what docs/decomposition-multipartition.md says.

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How to run.
    """
    run = _Run(graph, transpose, setting)
    run.run()
    return Decomposition(labels=-1 - setting.device.read(run.marks), counts=run.counts())
