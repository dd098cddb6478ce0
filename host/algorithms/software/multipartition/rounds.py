"""The rounds of the multi-partition method.

In a round what is weakly connected in a partition becomes a partition of its own, with a pivot.
Trees of parents are joined along every edge, by one atomic operation (Jaiganesh and Burtscher 2018 do the same on
graphics processors): one launch finds the components, whatever their diameter. Of two roots the one with the higher
priority becomes the child, so that the root of a component is a vertex drawn at random, the same in every order of
threads.

The vice pivot of a partition is a vertex that its pivot does not reach. So it is in another component, and nothing that
the pivot reaches can reach it: its backward search goes on where the pivot's forward search did not, and divides what
that left together.
"""

import numpy as np

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.multipartition.searching import begin_partition, colour, search
from host.algorithms.software.multipartition.trimming import Trimming
from host.algorithms.software.multipartition.work import (
    BACKWARD,
    EDGES,
    FORWARD,
    FOUND,
    PARTITION,
    PARTS,
    QUEUED,
    STRIP,
    VERTEX,
    VICE,
    Arrays,
    Work,
    drawn_number,
    gather,
    priority,
    settle,
    strips,
)
from host.devices.primitives import root
from host.devices.steps import DeviceArray, Step, atomic_add, atomic_max, atomic_swap, step
from host.graph.csr import Graph

__all__ = ["draw", "largest", "multipartition"]


@step
def _plant(thread: int, length: int, vertices: DeviceArray, on: Arrays) -> None:
    """Make a tree of each vertex of a list."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        on.parents[vertices[place]] = vertices[place]


@step
def _join(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    """Join the trees of each two vertices of the same partition, and the same flags, between which an edge leads."""
    edges = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        first = on.forward.offsets[vertex]
        last = on.forward.offsets[vertex + 1]
        edges += last - first
        here = vertex
        for edge in range(first, last):
            target = int(on.forward.targets[edge])
            if on.marks[target] != mark:
                continue
            here = root(here, on.parents)
            there = root(target, on.parents)
            while here != there:
                if priority(here, salt) > priority(there, salt):
                    here, there = there, here
                # When the other one has become a child meanwhile, go on from its parent.
                parent = atomic_swap(on.parents, there, there, here)
                there = here if parent == there else root(parent, on.parents)
    atomic_add(on.counters, EDGES, edges)


@step
def _divide(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Make a partition of each tree. Its root becomes the pivot, which the forward search starts from."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        pivot = root(vertex, on.parents)
        if pivot == vertex:
            begin_partition(vertex, on, queue)
        else:
            on.marks[vertex] = pivot << PARTITION


@step
def _largest_of_strip(
    thread: int, length: int, vertices: DeviceArray, on: Arrays, mark: int, products: DeviceArray, found: DeviceArray
) -> None:
    best = -1
    best_vertex = -1
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        if on.marks[vertex] == mark:
            after, before = on.forward.offsets, on.backward.offsets
            product = (after[vertex + 1] - after[vertex]) * (before[vertex + 1] - before[vertex])
            if product > best:
                best = product
                best_vertex = vertex
    products[thread] = best
    found[thread] = best_vertex


def largest(work: Work, mark: int) -> int:
    """Return the vertex with a mark that has the largest product of degrees, the first of them, or -1."""
    device, size = work.device, strips(work.left)
    products, found = device.zeros(size), device.zeros(size, np.int32)
    work.each(_largest_of_strip, mark, products, found)
    return int(device.read(found)[device.read(products).argmax()])


@step
def draw(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    """Draw in each partition a vertex at random that the pivot does not reach."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        mark = on.marks[vertex]
        if mark & FORWARD == 0:
            number = drawn_number(vertex, salt)
            partition = mark >> PARTITION
            # Numbers only grow, so that what is not above an old one is not above the present one.
            if number > on.drawn[partition]:
                atomic_max(on.drawn, partition, number)


@step
def _start_backward(thread: int, on: Arrays, queue: DeviceArray) -> None:
    """Flag the pivot of a partition, and the vertex that was drawn, from which the backward searches start.

    A vertex that the pivot reaches is never a vice pivot: the sweeps rely on that.
    """
    pivot = int(on.pivots[thread])
    on.marks[pivot] = on.marks[pivot] | BACKWARD
    queue[atomic_add(on.counters, QUEUED, 1)] = pivot
    number = on.drawn[pivot]
    if number > 0:
        on.drawn[pivot] = 0
        vice = (number - 1) & VERTEX
        mark = on.marks[vice]
        if mark & FORWARD == 0:
            on.marks[vice] = mark | VICE
            queue[atomic_add(on.counters, QUEUED, 1)] = vice
            atomic_add(on.counters, FOUND, 1)


class _Run:
    """One run: what it works on, and what is counted."""

    def __init__(self, graph: Graph, transpose: Graph, setting: Setting) -> None:
        self._watch = setting.watch
        self._total = graph.vertices
        self._salts = np.random.default_rng(setting.seed)
        self._work = Work(setting.device, graph, transpose)
        self._trimming = Trimming(self._work)
        self._coloured = False
        self.rounds = self.pivots = self.vice_pivots = self.joins = self.colourings = 0

    @property
    def marks(self) -> DeviceArray:
        """The marks of the vertices."""
        return self._work.on.marks

    def run(self) -> None:
        """Find the components."""
        self._trimming.whole()
        self._keep(gather)
        if self._work.left:
            self._first_round()
        while self._work.left:
            self._trimming.trim()
            self._keep(gather)
            if self._work.left:
                self._round()

    def counts(self) -> dict[str, int]:
        """Return what was counted."""
        return {
            "rounds": self.rounds,
            "passes": self._work.passes,
            "edges": self._work.take(EDGES),
            "trim_rounds": self._trimming.rounds,
            "trimmed": self._trimming.singles,
            "two_vertex_components": self._trimming.pairs,
            "pivots": self.pivots,
            "vice_pivots": self.vice_pivots,
            "partitions": self._work.take(PARTS),
            "wcc_rounds": self.joins,
            "colour_rounds": self.colourings,
        }

    def _keep(self, keeping: Step) -> None:
        """Drop from the list what has a component."""
        self._work.keep(keeping)
        self._watch(self._total - self._work.left, self._total)

    def _first_round(self) -> None:
        """Divide the whole graph, by vertices with the largest product of degrees."""
        work, marks, whole, store = self._work, self.marks, self._work.whole, self._work.device.store
        pivot = largest(work, whole)
        store(marks, pivot, whole | FORWARD)
        store(work.queue, 0, pivot)
        search(work, FORWARD, 1)
        vice = largest(work, whole)
        store(marks, pivot, whole | FORWARD | BACKWARD)
        store(work.queue, 0, pivot)
        if vice >= 0:
            store(marks, vice, whole | VICE)
            store(work.queue, 1, vice)
            self.vice_pivots += 1
        search(work, BACKWARD | VICE, 1 + (vice >= 0))
        self.pivots += 1
        self._settle()

    def _round(self) -> None:
        """Divide each partition into smaller ones, and each of these by a pivot and a vice pivot."""
        work = self._work
        if self._coloured:
            self.colourings += 1
            pivots = colour(work, self._salt())
        else:
            pivots = self._join()
            search(work, FORWARD, pivots)
            work.each(draw, self._salt())
        work.device.run(_start_backward, pivots, work.on, work.queue)
        self.pivots += pivots
        self.vice_pivots += work.take(FOUND)
        search(work, BACKWARD | VICE, work.take(QUEUED))
        untouched = self._settle()
        self._coloured = not self._coloured and 2 * untouched > work.left

    def _join(self) -> int:
        """Make a partition of what is weakly connected in one; return how many there are."""
        work = self._work
        self.joins += 1
        work.passes += 1
        work.each(_plant)
        work.each(_join, self._salt())
        work.each(_divide, work.queue)
        return work.take(QUEUED)

    def _settle(self) -> int:
        """End a round: what is reached both ways has its component. Return how much was reached no way."""
        self.rounds += 1
        self._keep(settle)
        return self._work.take(FOUND)

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
