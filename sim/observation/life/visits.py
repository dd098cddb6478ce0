"""Process 4 of a BFS kernel: what it finds visited, the queue for slots, the token, the writes of a visit."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.graph_word import DEGREE, VISITED
from sim.observation.life.window import NEVER, Cycles, KernelWindow, matched, next_of

__all__ = ["Checks", "Visits", "checks"]


class Visits(NamedTuple):
    """Vertices that process 4 queues in the window, in their order."""

    head: Cycles
    """First cycle at the head of the queue."""
    ready: Cycles
    """First cycle there with a slot."""
    reserved: Cycles
    """The token came by, and the slot was reserved."""
    slot: Cycles
    """The slot, -1 where it is not known."""
    fits: Cycles
    """Whether the slot is below the capacity (1 or 0); 1 where it is not known."""
    writes: tuple[Cycles, ...]
    """The multiplexer took each write of the visit."""


def _visits(window: KernelWindow, queued: Cycles, *, fifo: str, writes: int) -> Visits:
    """Return what becomes of the vertices that are queued at the given cycles, all that are in the window."""
    count = len(queued)
    older = window.initial(f"visitor.{fifo}.level")
    there = window.high(f"visitor.{fifo}.output__valid")
    granted = window.passes("visitor.command")
    overflow = window.when("visitor.overflow")
    ends = np.union1d(window.when("visitor.pushed"), overflow)
    ended = matched(ends, older, count)
    # The first vertex of the window comes to the head after the last of those before it is gone.
    first = -1 if older == 0 else int(ends[older - 1]) if older <= len(ends) else NEVER
    previous = np.concatenate(([first], ended))[:count]
    head = next_of(np.flatnonzero(there), np.minimum(np.maximum(previous, queued) + 1, window.cycles))
    ready = next_of(np.flatnonzero(there & window.high("visitor.slot__valid")), np.minimum(head, window.cycles))
    known = ready != NEVER
    at = np.where(known, ready, 0)
    slot = np.where(known, window.values("visitor.slot__payload.number")[at].astype(np.int64), -1)
    fits = np.where(known, window.values("visitor.slot__payload.fits")[at].astype(np.int64), 1)
    # The writes of a visit follow each other, and nothing else goes through this stream between them.
    number = np.searchsorted(granted, np.minimum(ready, window.cycles))
    steps = np.append(granted, np.full(writes, NEVER))
    done = tuple(
        np.where((fits == 1) & known, steps[np.minimum(number + step, len(granted) + step)], NEVER)
        for step in range(writes)
    )
    # Each passing token takes all that is demanded, oldest first.
    turns = window.when("allocator.reserve")
    taken = np.cumsum(window.values("allocator.demanded")[turns].astype(np.int64))
    order = np.arange(count) + window.initial("allocator.demanded")
    reserved = np.append(turns, NEVER)[np.searchsorted(taken, order, side="right")]
    return Visits(head=head, ready=ready, reserved=reserved, slot=slot, fits=fits, writes=done)


class Checks(NamedTuple):
    """Neighbours that process 4 looks at in the window, in their order."""

    checked: Cycles
    """When it looks at them."""
    word: npt.NDArray[np.uint64]
    """Their graph words."""
    unvisited: npt.NDArray[np.bool_]
    """Which it finds unvisited."""
    marked: Cycles | None
    """The multiplexer took their marks; only in machines that only search."""
    queued: Cycles
    """Number of each among `visits`, -1 for those that are not queued."""
    visits: Visits
    """Those that are queued."""


def checks(window: KernelWindow) -> Checks:
    """Return what process 4 does in the window."""
    checked = window.passes("visitor.neighbours")
    word = window.values("visitor.neighbours__payload.word")[checked]
    unvisited = VISITED.get(word) == 0
    queued, marked = unvisited, None
    searches = window.has("visitor.marking")
    if searches:
        queued = unvisited & (DEGREE.get(word) > 0)
        marked = np.full(len(checked), NEVER, np.int64)
        older = window.initial("visitor.marks.level")
        marked[unvisited] = matched(window.passes("visitor.mark"), older, int(unvisited.sum()))
    return Checks(
        checked=checked,
        word=word,
        unvisited=unvisited,
        marked=marked,
        queued=np.where(queued, np.cumsum(queued) - 1, -1),
        visits=_visits(window, checked[queued], fifo="entries" if searches else "fifo", writes=1 if searches else 3),
    )
