"""Reads of a kernel and their in-order answers; in BFS kernels also expansions and the copy filter."""

from typing import NamedTuple

import numpy as np

from cyscc.sim.observation.life.window import NEVER, Cycles, KernelWindow, matched


class Reads(NamedTuple):
    """Reads requested by a process in the window, in order; cycles from the window's first."""

    asked: Cycles
    """The multiplexer took the read."""
    answered: Cycles
    """The answer came."""
    taken: Cycles
    """The next process took the answer."""
    before: int
    """Answers taken before these, of reads requested before the window."""


def reads(window: KernelWindow, process: str, *, fifo: str, output: str) -> Reads:
    """Return the reads of a process.

    Parameters
    ----------
    window : KernelWindow
        The signals.
    process : str
        Its component.
    fifo : str
        The FIFO of its answers.
    output : str
        The stream to the next process.
    """
    asked = window.passes(f"{process}.command")
    before = window.away(process)
    unanswered = before - window.initial(f"{process}.{fifo}.level")
    return Reads(
        asked=asked,
        answered=matched(window.when(f"{process}.response__valid"), unanswered, len(asked)),
        taken=matched(window.passes(f"{process}.{output}"), before, len(asked)),
        before=before,
    )


def port_cycles(window: KernelWindow, *asked: Cycles) -> list[Cycles]:
    """Return when the memory port took each process's reads, in the order of the multiplexer."""
    order = np.sort(np.concatenate(asked))
    under_way = sum(window.initial(f"mux.read_address.{part}__valid") for part in ("staged", "request"))
    taken = matched(window.passes("port__read"), under_way, len(order))
    return [taken[np.searchsorted(order, each)] for each in asked]


class Expansions(NamedTuple):
    """Expansions of words by process 2."""

    begun: Cycles
    """For each queue entry of the window: the cycle before its expansion begins."""
    ended: Cycles
    """Its last neighbour is requested, or it is known to have none."""
    entry: Cycles
    """For each read of an id: index of its queue entry, or -1 if that was read before the window."""
    offered: Cycles
    """First cycle in which the read is offered to the multiplexer."""


def expansions(window: KernelWindow, entries: Reads, asked: Cycles) -> Expansions:
    """Return the expansions of queue entries into reads of ids.

    Parameters
    ----------
    window : KernelWindow
        The signals.
    entries : Reads
        Reads of process 1.
    asked : ndarray
        Cycles in which process 2 requested ids.
    """
    process = "neighbour_reader"
    ahead = window.values(f"{process}.ahead")
    expanding = ahead >> np.uint64(window.width(f"{process}.ahead") - 1) == 0
    loads = np.flatnonzero(window.high(f"{process}.decoded") & ~expanding)
    older = entries.before + window.initial(f"{process}.decoded")  # expansions of earlier entries
    begun = matched(loads, older, len(entries.asked))
    load = np.searchsorted(loads, asked) - 1
    entry = np.maximum(load - older, -1)
    # A neighbour is offered when its predecessor was taken, or when the vertex is loaded.
    previous = np.concatenate(([-1], asked[:-1])) if len(asked) else asked
    loaded = np.where(load >= 0, loads[np.maximum(load, 0)], -1) if len(loads) else np.full(len(asked), -1)
    offered = np.maximum(previous, loaded) + 1
    # An expansion is over when the process is ready for the next entry: its counter has passed the last neighbour.
    idle = np.flatnonzero(~expanding)
    following = np.searchsorted(idle, np.minimum(begun, window.cycles) + 1)
    over = np.append(idle, NEVER)[following]
    ended = np.where((begun == NEVER) | (over >= NEVER), NEVER, over)
    return Expansions(begun=begun, ended=ended, entry=entry, offered=offered)


class Filtered(NamedTuple):
    """Ids in the copy filter."""

    decided: Cycles
    """For each id: cycle in which it is known whether it is a copy."""
    copy: Cycles
    """Whether it is one (1 or 0)."""
    asked: Cycles
    """Its word is requested."""
    rank: Cycles
    """Index of that read in the window; `NEVER` without one."""


def filtered(window: KernelWindow, taken: Cycles, older: int, asked: Cycles) -> Filtered:
    """Return which ids passed the filter, and when their words were requested.

    Parameters
    ----------
    window : KernelWindow
        The signals.
    taken : ndarray
        Cycles in which the filter took each id of the window.
    older : int
        Earlier ids that it takes in the window before those.
    asked : ndarray
        Cycles in which process 3 requested words.
    """
    decisions = window.when("copy_filter.done")
    passed = window.high("copy_filter.passed")
    held = window.initial("copy_filter.held") + older
    decided = matched(decisions, held, len(taken))
    known = decided != NEVER
    at = np.where(known, decided, 0)
    copy = known & ~passed[at]
    ahead = window.initial("copy_filter.waiting") + window.initial("copy_filter.fresh__valid")
    rank = np.where(known & ~copy, np.cumsum(passed)[at] - 1 + ahead, NEVER)
    word = np.append(asked, NEVER)[np.minimum(rank, len(asked))]
    return Filtered(decided=decided, copy=copy.astype(np.int64), asked=word, rank=np.where(word == NEVER, NEVER, rank))
