"""Additions to the published scheme, for graphs with many components beside a giant one.

Each launch runs over a list of the states that are left, or over a queue of those that a search has reached. The first
pivot is a hub. Before each later round colours divide the regions, so that many components get a pivot at once: every
state has a colour of its own at first, and then gets the largest one that reaches it within the region. The states of a
component are reached by the same states, and so get the same colour: no cycle passes through two of the new regions.
"""

from typing import Any, NamedTuple

import numpy as np

from cyscc.host.baselines.devices.primitives import count_up, keep_open
from cyscc.host.baselines.devices.steps import (
    DeviceArray,
    Step,
    atomic_add,
    atomic_and,
    atomic_max,
    atomic_or,
    device_function,
    step,
)
from cyscc.host.baselines.software.decomposition import SoftwareSetting
from cyscc.host.baselines.software.fbt.layout import PADDING, Layout
from cyscc.host.baselines.software.fbt.published import (
    BACKWARD,
    FORWARD,
    FRONTIER,
    MASK,
    REACHED,
    TRIMMED,
    Published,
    States,
    add_at,
    claim,
    merge,
    state_range,
    trim,
    unlock,
)

__all__ = ["Listed"]

_KEPT = 0
_CHANGED = 3
"""Indices of counters: length of a compacted list, whether a colour changed; `FORWARD`, `BACKWARD`: of the queues."""
_HOPS = 32
"""Most states that a thread explores one after the other."""
_SCANS = 6
"""Iterations of the first search that look at all states, as published: most of them are then reached."""
_FEW = 30
"""Trimming stops after a launch that trims fewer than one in this many states."""
_STRIDE = 2654435761
"""A prime above all lengths of lists: its multiples modulo a length are a permutation without pattern."""


class Lists(NamedTuple):
    """Lists of states, each of which has room for all."""

    left: DeviceArray
    """int32: the states without a component."""
    forward: DeviceArray
    """int32: the states that the forward search has reached; a queue of states that pass on their colours."""
    backward: DeviceArray
    """int32: those of the backward search; by state, the colours; the places that pivots have locked."""
    spare: DeviceArray
    """int32: the next list of the states that are left, or queue of states that pass on their colours."""
    counters: DeviceArray
    """int64, shape (4,)."""


@step
def _trim(thread: int, on: States, lists: Lists, number: int) -> None:
    """Trim a state that is left."""
    trim(lists.left[thread], on, number)


@step
def _plant(thread: int, lists: Lists, length: int) -> None:
    """Give a state that is left a colour of its own, at random."""
    lists.backward[lists.left[thread]] = (thread + 1) * _STRIDE % length


@step
def _mark(thread: int, on: States, lists: Lists) -> None:
    """Mark a state that is left as queued."""
    state = lists.left[thread]
    on.forward.offsets[state] = on.forward.offsets[state] | FRONTIER


@step
def _spread(thread: int, on: States, lists: Lists, queue: DeviceArray, following: DeviceArray) -> None:
    """Pass the colour of a state on to its successors in the region; continue with one of them, queue the others.

    `FRONTIER` marks queued states, so that none is in a queue twice.
    """
    offsets, results, colours = on.forward.offsets, on.results, lists.backward
    state = queue[thread]
    word = results[state]
    looked = 0
    hops = _HOPS
    while state >= 0:
        # First: a thread that changes the colour later queues the state again.
        atomic_and(offsets, state, ~FRONTIER)
        colour = colours[state]
        first, last, stride = state_range(state, on.forward)
        state = -1
        hops -= 1
        for place in range(first, last, stride):
            target = on.forward.trans[place]
            if target == PADDING:
                break
            looked += 1
            if results[target] != word or colours[target] >= colour or atomic_max(colours, target, colour) >= colour:
                continue
            lists.counters[_CHANGED] = 1
            if atomic_or(offsets, target, FRONTIER) & FRONTIER == 0:
                if state < 0 and hops > 0:
                    state = target
                else:
                    following[atomic_add(lists.counters, FORWARD, 1)] = target
    add_at(on.edges, thread, looked)


@step
def _divide(thread: int, on: States, lists: Lists) -> None:
    """Make the colour of a state its region."""
    state = lists.left[thread]
    on.results[state] = lists.backward[state]


@device_function
def _claim(state: int, on: States, lists: Lists, places: int, first: int) -> None:
    """Claim the pivot for the region of a state; note the place that a pivot has locked."""
    place = claim(state, on, places, first)
    if place >= 0:
        lists.backward[atomic_add(lists.counters, BACKWARD, 1)] = place


@step
def _claim_one(thread: int, on: States, lists: Lists, places: int, first: int, state: int) -> None:
    """Claim the pivot for the region of one state."""
    _claim(state, on, lists, places, first)


@step
def _claim_left(thread: int, on: States, lists: Lists, places: int, first: int, length: int) -> None:
    """Claim pivots for the regions of all states that are left, in no particular order."""
    _claim(lists.left[(thread + 1) * _STRIDE % length], on, lists, places, first)


@step
def _revert(thread: int, on: States, lists: Lists, before: int) -> None:
    """Restore the transition that a pivot saved, and put the pivot into the queues."""
    pivot = unlock(lists.backward[before + thread], on)
    lists.forward[before + thread] = pivot
    lists.backward[before + thread] = pivot


@step
def _collect(thread: int, on: States, lists: Lists) -> None:
    """Queue a state that is in a frontier."""
    state = lists.left[thread]
    if on.forward.offsets[state] & FRONTIER != 0:
        lists.forward[atomic_add(lists.counters, FORWARD, 1)] = state
    if on.results[state] & FRONTIER != 0:
        lists.backward[atomic_add(lists.counters, BACKWARD, 1)] = state


@device_function
def _follow_forward(state: int, on: States, lists: Lists) -> None:
    """Explore a state and up to `_HOPS` that it leads to, one after the other; queue the others that it reaches."""
    offsets, results = on.forward.offsets, on.results
    region = results[state] & MASK
    looked = 0
    hops = _HOPS
    following = state
    while following >= 0:
        first, last, stride = state_range(following, on.forward)
        following = -1
        hops -= 1
        for place in range(first, last, stride):
            target = on.forward.trans[place]
            if target == PADDING:
                break
            looked += 1
            if not 0 <= offsets[target] <= MASK or results[target] & MASK != region:
                continue
            # Of several threads, the first to set the bit explores it.
            if atomic_or(offsets, target, FRONTIER) & REACHED == 0:
                if following < 0 and hops > 0:
                    following = target
                else:
                    lists.forward[atomic_add(lists.counters, FORWARD, 1)] = target
    add_at(on.edges, state, looked)


@device_function
def _follow_backward(state: int, on: States, lists: Lists) -> None:
    """Explore states against the transitions, with the bits of `results`; see `_follow_forward`."""
    results = on.results
    region = results[state] & MASK
    looked = 0
    hops = _HOPS
    following = state
    while following >= 0:
        first = on.backward.offsets[following]
        last = on.backward.offsets[following + 1]
        following = -1
        hops -= 1
        looked += last - first
        for place in range(first, last):
            source = on.backward.trans[place]
            if results[source] == region and atomic_or(results, source, FRONTIER) & REACHED == 0:
                if following < 0 and hops > 0:
                    following = source
                else:
                    lists.backward[atomic_add(lists.counters, BACKWARD, 1)] = source
    add_at(on.edges, state, looked)


@step
def _search(thread: int, on: States, lists: Lists, forward: int, count: int, backward: int) -> None:
    """Explore a queued state: of `count` in the forward queue from place `forward`, or of the other from `backward`."""
    if thread < count:
        _follow_forward(lists.forward[forward + thread], on, lists)
    else:
        _follow_backward(lists.backward[backward + thread - count], on, lists)


@step
def _merge(thread: int, on: States, lists: Lists) -> None:
    """Merge the searches at a state that is left."""
    merge(lists.left[thread], on)


class Listed(Published):
    """A decomposition with the additions; see `Published` for parameters and attributes."""

    def __init__(self, layout: Layout, setting: SoftwareSetting, initial: DeviceArray, removed: int) -> None:
        super().__init__(layout, setting, initial, removed)
        self._hub = layout.hub
        self._left = self._states
        left, forward, backward, spare = (self._device.zeros(self._states, np.int32) for _ in range(4))
        self._lists = Lists(left, forward, backward, spare, counters=self._device.zeros(4))

    def _begin(self) -> None:
        super()._begin()
        self._device.run(count_up, self._states, self._lists.left)
        if self._removed:
            self._compact()

    def _done(self) -> int:
        return self._states - self._left

    def _each(self, step: Step, *arguments: Any) -> None:
        """Launch a step over the states that are left."""
        self._others += 1
        self._device.run(step, self._left, *arguments)

    def _compact(self) -> None:
        """Drop the states that have a component from the list."""
        lists = self._lists
        self._others += 1
        self._device.store(lists.counters, _KEPT, 0)
        keep_open(self._device, self._left, lists.left, self.on.results, lists.counters, lists.spare)
        self._lists = lists._replace(left=lists.spare, spare=lists.left)
        self._left = self._device.value(lists.counters, _KEPT)

    def _trim(self) -> None:
        """Trim until a launch finds few states."""
        before, trimmed = self._left, self._left
        while trimmed * _FEW > before:
            before = self._left
            self._trims += 1
            self._device.run(_trim, before, self.on, self._lists, self._trims)
            trimmed = self._device.value(self.on.cells, TRIMMED) == self._trims
            if trimmed:
                self._compact()
                trimmed = before - self._left

    def _claim(self) -> bool:
        """Divide regions after the first round, then claim; return whether any region is left."""
        if self._left == 0:
            return False
        if self._rounds > 0:
            self._colour()
        self._device.store(self._lists.counters, BACKWARD, 0)
        return super()._claim()

    def _colour(self) -> None:
        """Divide the regions by colours."""
        device, lists = self._device, self._lists
        queue, following = lists.forward, lists.spare
        self._each(_plant, lists, self._left)
        # Until a launch over all states changes nothing: one that reads a colour while it changes may miss it.
        changed = True
        while changed:
            device.store(lists.counters, _CHANGED, 0)
            self._each(_mark, self.on, lists)
            items = self._spread(self._left, lists.left, queue)
            changed = device.value(lists.counters, _CHANGED) != 0
            while items:
                items = self._spread(items, queue, following)
                queue, following = following, queue
        self._each(_divide, self.on, lists)

    def _spread(self, items: int, queue: DeviceArray, following: DeviceArray) -> int:
        """Pass on the colours of queued states; return how many states that queues."""
        self._others += 1
        self._device.store(self._lists.counters, FORWARD, 0)
        self._device.run(_spread, items, self.on, self._lists, queue, following)
        return self._device.value(self._lists.counters, FORWARD)

    def _claim_range(self, places: int, first: int) -> None:
        device, lists = self._device, self._lists
        before = device.value(lists.counters, BACKWARD)
        if self._rounds == 0:
            self._others += 1
            device.run(_claim_one, 1, self.on, lists, places, first, self._hub)
        self._each(_claim_left, self.on, lists, places, first, self._left)
        after = device.value(lists.counters, BACKWARD)
        self._others += 1
        device.run(_revert, after - before, self.on, lists, before)
        device.store(lists.counters, FORWARD, after)

    def _search(self) -> None:
        """Search from the pivots, with queues unless a launch is to have several iterations."""
        if self._iterations > 0:
            super()._search()
            return
        device, lists = self._device, self._lists
        if self._rounds == 0:
            directions = FORWARD | BACKWARD
            for _ in range(_SCANS):
                if directions:
                    directions = self._iterate(directions)
            for queue in (FORWARD, BACKWARD):
                device.store(lists.counters, queue, 0)
            self._each(_collect, self.on, lists)
        forward = backward = 0
        while True:
            ends = device.read(lists.counters)
            ahead, behind = int(ends[FORWARD]) - forward, int(ends[BACKWARD]) - backward
            if ahead + behind == 0:
                return
            self._searches += 1
            for some, others in ((ahead, behind),) if self._hybrid else ((ahead, 0), (0, behind)):
                device.run(_search, some + others, self.on, lists, forward, some, backward)
            forward += ahead
            backward += behind

    def _merge(self) -> None:
        self._each(_merge, self.on, self._lists)
        self._compact()
