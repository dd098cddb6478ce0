"""The searches of all pivots: a level of each, what ends with a pivot that is done, new ones (section 4.1.2)."""

from typing import Any

from host.algorithms.software.quach.words import BOTH, GONE, HALF
from host.devices import atomic_and, atomic_or, device_function, step

__all__ = ["begin", "go_on", "judge", "settle"]


@device_function
def _bits(number: int) -> int:
    count = 0
    while number != 0:
        number &= number - 1
        count += 1
    return count


@device_function
def _expand(vertex: int, offsets: Any, targets: Any, words: Any, looked: Any, by_pivot: Any) -> int:
    """Go on from a vertex in one direction with all searches that wait there; return those that came to a new one."""
    if words[vertex] <= GONE:
        return 0
    waiting = atomic_and(words, vertex, GONE) >> HALF
    came = 0
    first, last = offsets[vertex], offsets[vertex + 1]
    for edge in range(first, last):
        target = targets[edge]
        new = waiting & ~words[target]
        if new != 0:
            atomic_or(words, target, new * BOTH)
            came |= new
    looked[vertex] += last - first
    by_pivot[vertex] += (last - first) * _bits(waiting)
    return came


@step
def go_on(
    vertex: int,
    offsets: Any,
    targets: Any,
    back_offsets: Any,
    back_targets: Any,
    forward: Any,
    backward: Any,
    active: Any,
    looked: Any,
    by_pivot: Any,
) -> None:
    """Go on from a vertex with all searches, the text's SCCFinderKernel.

    A search comes to a vertex in the launch in which the vertex's own thread runs, before it or after. If before, it
    goes on in this launch, else in the next one; the thread takes what waits there in one operation, so nothing is
    lost. Two threads may both bring a search to a vertex at a time; then it may go on from there twice, to vertices
    that it has come to.
    """
    came = _expand(vertex, offsets, targets, forward, looked, by_pivot)
    came |= _expand(vertex, back_offsets, back_targets, backward, looked, by_pivot)
    if (came & ~active[0]) != 0:
        atomic_or(active, 0, came)


@step
def judge(slot: int, pivots: Any, forward: Any, backward: Any, done: int, verdict: Any) -> None:
    """Find out whether a pivot is in the component of one that is done, and whether it is the one that tells of it.

    Of several pivots in one component that are done at once, the first does. One that is not done is of no more use.
    """
    vertex = pivots[slot]
    finders = forward[vertex] & backward[vertex] & done
    if finders != 0:
        atomic_or(verdict, 0, 1 << slot)
        if finders & ((2 << slot) - 1) == 1 << slot:
            atomic_or(verdict, 1, 1 << slot)


@step
def settle(vertex: int, component: Any, pivots: Any, forward: Any, backward: Any, finders: int, ended: int) -> None:
    """Put a vertex into the component of a pivot whose searches both came to it; forget the searches that ended.

    The searches of a vertex with a component are forgotten with it, also those that wait there.
    """
    if component[vertex] >= 0:
        return
    met = forward[vertex] & backward[vertex] & finders
    if met == 0:
        forward[vertex] &= ~(ended * BOTH)
        backward[vertex] &= ~(ended * BOTH)
        return
    slot = _bits((met & -met) - 1)
    component[vertex] = pivots[slot]
    forward[vertex] = GONE
    backward[vertex] = GONE


@step
def begin(slot: int, pivots: Any, forward: Any, backward: Any, new: int) -> None:
    """Begin both searches of a pivot that is new."""
    if new >> slot & 1 != 0:
        atomic_or(forward, pivots[slot], (1 << slot) * BOTH)
        atomic_or(backward, pivots[slot], (1 << slot) * BOTH)
