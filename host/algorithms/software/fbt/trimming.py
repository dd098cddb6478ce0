"""Trimming: a state without another of its region before it, or behind it, is a component by itself."""

from typing import Any

from host.algorithms.software.fbt.bits import LOCK, MASK
from host.algorithms.software.fbt.counting import add_at
from host.algorithms.software.fbt.layout import PADDING, WARP
from host.devices import device_function, step

__all__ = ["trim_states"]


@device_function
def _looked(
    state: int, word: int, results: Any, offsets: Any, trans: Any, segmented: int, interval: int, stop: int
) -> int:
    """Return how many transitions were looked at to find one within the region; if there is none, minus that minus 1.

    Between searches two states are of one region when their entries of `results` are the same: the bits of the searches
    tell apart what becomes different regions. What is trimmed meanwhile may be seen or not: it is no part of a larger
    component either way.
    """
    first = offsets[state] & MASK
    stride = 1
    last = first
    if state < segmented:
        stride = WARP
        last = first + WARP * interval
    else:
        last = offsets[state + 1] & MASK
    looked = 0
    for place in range(first, last, stride):
        target = trans[place]
        if target == stop:
            break
        looked += 1
        if target != state and results[target] == word:
            return looked
    return -1 - looked


@step
def trim_states(
    thread: int,
    results: Any,
    offsets: Any,
    trans: Any,
    segmented: int,
    interval: int,
    backward_offsets: Any,
    backward_trans: Any,
    edges: Any,
    done: Any,
    cells: Any,
    cell: int,
    number: int,
) -> None:
    """Make a component of a state, if it is one by itself; ``cells[cell]`` becomes the round's number then."""
    word = results[thread]
    if word < 0:
        return
    looked = _looked(thread, word, results, offsets, trans, segmented, interval, PADDING)
    single = looked < 0
    if single:
        looked = -1 - looked
    else:
        behind = _looked(thread, word, results, backward_offsets, backward_trans, 0, 0, PADDING)
        single = behind < 0
        looked += -1 - behind if single else behind
    if looked > 0:
        add_at(edges, thread, looked)
    if single:
        results[thread] = LOCK | thread
        offsets[thread] = LOCK | (offsets[thread] & MASK)
        add_at(done, thread, 1)
        cells[cell] = number
