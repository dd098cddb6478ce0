"""Searches in all partitions at once: from work lists while few vertices are found, by sweeps while many are.

What counts is what is reached, not how far it is. So a thread may follow a path in one launch, and a sweep may build on
what it found itself.

Where pivots reach little of their partitions, however they are chosen, there would be as many rounds as there are
components that do not reach each other. The way out is colours: every vertex is a pivot at once, and gets the highest
number that reaches it. (Orzan 2004 finds components by colours alone.)
"""

from host.algorithms.software.multipartition.work import (
    EDGES,
    FEWEST,
    FLAGS,
    FORWARD,
    FOUND,
    FRESH,
    PARTITION,
    QUEUED,
    STRIP,
    VERTEX,
    VICE,
    Arrays,
    Side,
    Work,
    drawn_number,
)
from host.devices.steps import DeviceArray, atomic_add, atomic_and, atomic_max, atomic_or, device_function, step

__all__ = ["begin_partition", "colour", "search"]

_PART = 64
"""A launch of a search from a queue looks at `FEWEST` vertices, or at that part of those left if that is more."""
_FARTHEST = 256
"""Vertices for which a thread follows a path in one launch."""
_DENSE = 16
"""A queue, and what a sweep found, are long when they have more than this part of the vertices left."""


@step
def _expand(
    thread: int,
    share: int,
    items: int,
    hops: int,
    queue: DeviceArray,
    following: DeviceArray,
    on: Arrays,
    flags: int,
    side: Side,
) -> None:
    """Pass the flags of a vertex on to its neighbours in its partition, and of the first one found to those of it.

    A neighbour is claimed by who sets a flag of its mark, so a list has it once for each flag at most. Its flags are
    read when it is looked at; who sets a flag later passes that one on.
    """
    edges = 0
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            mark = on.marks[vertex]
            carried = mark & flags
            kept = -1
            left -= 1
            first = side.offsets[vertex]
            last = side.offsets[vertex + 1]
            edges += last - first
            for edge in range(first, last):
                target = int(side.targets[edge])
                other = on.marks[target]
                if (
                    0 <= other ^ mark < FLAGS
                    and carried & ~other != 0
                    and carried & ~atomic_or(on.marks, target, carried) != 0
                ):
                    if left > 0 and kept < 0:
                        kept = target
                    else:
                        following[atomic_add(on.counters, QUEUED, 1)] = target
            vertex = kept
    atomic_add(on.counters, EDGES, edges)


@step
def _sweep(thread: int, length: int, vertices: DeviceArray, on: Arrays, flags: int, side: Side) -> None:
    """Let each vertex without a flag look for a neighbour that has it, on the graph turned round.

    Each thread writes the marks of its own vertices alone. A neighbour's mark may be from before or after its thread
    wrote it, and either is right: a flag that is there is to be passed on.
    """
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        # No vice pivot is reached forward, so nothing that is reached forward reaches it.
        missing = flags & ~mark & (~VICE if mark & FORWARD != 0 else -1)
        gained = 0
        if missing != 0:
            first = side.offsets[vertex]
            edge = first
            last = side.offsets[vertex + 1]
            while edge < last and gained != missing:
                other = on.marks[side.targets[edge]]
                if 0 <= other ^ mark < FLAGS:
                    gained |= other & missing
                edge += 1
            edges += edge - first
        if gained != 0:
            on.marks[vertex] = mark | gained | FRESH
            found += 1
        elif mark & FRESH != 0:
            on.marks[vertex] = mark ^ FRESH
    atomic_add(on.counters, EDGES, edges)
    if found > 0:
        atomic_add(on.counters, FOUND, found)


@step
def _collect(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray, taken: int) -> None:
    """Put what the last sweep reached into a queue, and take a flag from it.

    Only that can have neighbours that are still to be reached.
    """
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex]
        if mark & FRESH != 0:
            on.marks[vertex] = mark & ~taken
            queue[atomic_add(on.counters, QUEUED, 1)] = vertex


def _collected(work: Work, found: int, taken: int) -> int:
    """Begin a queue with what a sweep found, if that is little; return how many entries it has, 0 if it is not."""
    if not 0 < found * _DENSE <= work.left + FEWEST:
        return 0
    work.each(_collect, work.queue, taken)
    return work.take(QUEUED)


def search(work: Work, flags: int, sources: int) -> None:
    """Pass flags on to all that is reached in the partitions of those that have them.

    Parameters
    ----------
    work : Work
        The run's.
    flags : int
        The flags, ``FORWARD`` or ``BACKWARD | VICE``.
    sources : int
        How many vertices of the queue have flags.
    """
    side, turned = work.on.forward, work.on.backward
    if flags != FORWARD:
        side, turned = turned, side
    items, left = sources, work.left
    while items:
        if items * _DENSE > left + FEWEST:
            work.passes += 1
            work.each(_sweep, flags, turned)
            items = work.take(FOUND)
            items = _collected(work, items, FRESH) or items
        else:
            hops = min(_FARTHEST, 1 + max(FEWEST, left // _PART) // items)
            items = work.follow(_expand, items, hops, flags, side)


@step
def _start(thread: int, length: int, vertices: DeviceArray, on: Arrays, salt: int) -> None:
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        on.colours[vertex] = drawn_number(vertex, salt)


@step
def _pull(thread: int, length: int, vertices: DeviceArray, on: Arrays) -> None:
    """Give each vertex the highest colour of those that lead to it in its partition, on the transpose.

    Each thread writes what is of its own vertices. What it reads of others may be old: a colour that reaches them too.
    """
    offsets, targets, _ = on.backward
    edges = 0
    found = 0
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = vertices[place]
        mark = on.marks[vertex] & ~FRESH
        colour = on.colours[vertex]
        best = colour
        edges += offsets[vertex + 1] - offsets[vertex]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            target = targets[edge]
            if on.colours[target] > best and on.marks[target] & ~FRESH == mark:
                best = on.colours[target]
        if best > colour:
            on.colours[vertex] = best
            on.marks[vertex] = mark | FRESH
            found += 1
        else:
            on.marks[vertex] = mark
    atomic_add(on.counters, EDGES, edges)
    if found > 0:
        atomic_add(on.counters, FOUND, found)


@step
def _push(
    thread: int, share: int, items: int, hops: int, queue: DeviceArray, following: DeviceArray, on: Arrays
) -> None:
    """Pass the colour of a vertex on to its neighbours, and that of the first one changed to those of it.

    A vertex is in one list once, while it has its flag. Should its colour change just when it is looked at, the sweep
    that follows the lists sees it.
    """
    offsets, targets, _ = on.forward
    edges = 0
    for place in range(thread * share, min(thread * share + share, items)):
        vertex = int(queue[place])
        left = hops
        while vertex >= 0:
            mark = atomic_and(on.marks, vertex, ~FRESH) & ~FRESH
            colour = on.colours[vertex]
            kept = -1
            left -= 1
            edges += offsets[vertex + 1] - offsets[vertex]
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                target = int(targets[edge])
                if (
                    on.marks[target] & ~FRESH == mark
                    and on.colours[target] < colour
                    and atomic_max(on.colours, target, colour) < colour
                    and atomic_or(on.marks, target, FRESH) & FRESH == 0
                ):
                    if left > 0 and kept < 0:
                        kept = target
                    else:
                        following[atomic_add(on.counters, QUEUED, 1)] = target
            vertex = kept
    atomic_add(on.counters, EDGES, edges)


@device_function
def begin_partition(pivot: int, on: Arrays, queue: DeviceArray) -> None:
    """Make a vertex the pivot of a partition of its own name."""
    on.seen[pivot] = 0
    on.marks[pivot] = (pivot << PARTITION) | FORWARD
    room = atomic_add(on.counters, QUEUED, 1)
    queue[room] = pivot
    on.pivots[room] = pivot


@step
def _divide(thread: int, length: int, vertices: DeviceArray, on: Arrays, queue: DeviceArray) -> None:
    """Make a partition of each colour. The vertex whose colour it is reaches all of it, and is its pivot."""
    for place in range(thread * STRIP, min(thread * STRIP + STRIP, length)):
        vertex = int(vertices[place])
        pivot = (on.colours[vertex] - 1) & VERTEX
        if pivot == vertex:
            begin_partition(vertex, on, queue)
        else:
            on.marks[vertex] = (pivot << PARTITION) | FORWARD


def colour(work: Work, salt: int) -> int:
    """Divide the partitions by colours, whose order follows from a salt; return how many come of it."""
    work.each(_start, salt)
    found = 1
    while found:
        work.passes += 1
        work.each(_pull)
        found = work.take(FOUND)
        # What is collected keeps its flag until it is looked at.
        items = _collected(work, found, 0)
        while items:
            items = work.follow(_push, items, 1 + FEWEST // items)
    work.each(_divide, work.queue)
    return work.take(QUEUED)
