"""Causes: why a kernel did or did not issue a request in a cycle. Exactly one for every kernel and cycle.

This is the only table of causes: counters, records, charts and explanations derive from it.
"""

from dataclasses import dataclass
from typing import Any, Literal

from cyscc.hw.registers import Numbered

Kind = Literal["work", "limit", "idle", "outside"]

KINDS: tuple[Kind, ...] = ("work", "limit", "idle", "outside")
"""The kinds, from the bottom of a stack to its top; each has a family of colours."""


@dataclass(frozen=True)
class RecordedCause:
    """A row of the table.

    Parameters
    ----------
    name : str
        What columns and documents call it.
    title : str
        What people read.
    kind : str
        ``work`` (a request was issued), ``limit`` (the machine could have gone on if something were larger or faster),
        ``idle`` (there was nothing to do for this kernel) or ``outside`` (no run that counts was under way).
    shade : int
        Its place among the colours of its kind, and in a stack: no two of a kind have the same. -1 for `Cause.IDLE`,
        which is never drawn.
    letter : str
        What stands for it in a bar of text.
    about : str
        When it holds, in a sentence.
    """

    name: str
    title: str
    kind: Kind
    shade: int
    letter: str
    about: str


class _Ranked(Numbered):
    """Causes by rank, each with its row: title, kind, shade, letter, about."""

    row: RecordedCause

    def __init__(self, *row: Any) -> None:
        self.row = RecordedCause(self.name.lower(), *row)


class Cause(_Ranked):
    """Where a kernel's cycle went, as far as the kernel knows; of several that apply the last one in this list."""

    IDLE = (
        "no run",
        "idle",
        -1,
        " ",
        "No run is under way in the kernel: its start, other kernels, the ring or the host are awaited.",
    )
    RESPONSE = "waiting for responses", "limit", 1, "r", "Nothing is left to request before an answer."
    IDS = (
        "waiting for other kernels' ids",
        "idle",
        4,
        "i",
        "The kernel has nothing to do, and the exchange may still bring it ids that other kernels of its AE read.",
    )
    FLUSH = "flushing", "idle", 0, "f", "The kernel's writes are awaited before the level may end."
    CREDIT = (
        "out of credits",
        "limit",
        2,
        "c",
        "A process has something to request, and no place is free for the answer.",
    )
    EXCHANGE = (
        "waiting for the exchange",
        "limit",
        5,
        "e",
        "An id waits for room in the exchange, for its plane there, or for its bank of the visited filter.",
    )
    SLOT = (
        "waiting for a slot",
        "limit",
        4,
        "s",
        "A vertex to be pushed waits for the token to bring a slot of the queues.",
    )
    REFUSED = "refused by the memory", "limit", 3, "x", "A request is ready, and the memory port does not take it."
    RESTING = "resting", "limit", 0, "-", "The multiplexer rests between two requests."
    ISSUE_1 = (
        "issuing for process 1",
        "work",
        0,
        "1",
        "A read of process 1 was issued: an entry of the current queue, or of a reach queue.",
    )
    ISSUE_2 = (
        "issuing for process 2",
        "work",
        1,
        "2",
        "A read of process 2 was issued: a neighbour's id, or a colour and the other direction's word.",
    )
    ISSUE_3 = (
        "issuing for process 3",
        "work",
        2,
        "3",
        "A read of process 3 was issued: a neighbour's word, or a vertex's own word.",
    )
    WRITE = "writing", "work", 3, "w", "A write was issued: of a vertex pushed, or of a colour."


class IdleCause(_Ranked):
    """Cause of a cycle of `Cause.IDLE`, known only to the machine as a whole; of several, the last one in this list."""

    NO_WORK = "no work left", "idle", 1, ".", "The kernel is done, and another kernel, of this AE or another, is not."
    ENDING = (
        "end of a level",
        "idle",
        2,
        ">",
        "All kernels are done, and the token, or the host's next meeting with the machine, is awaited.",
    )
    STARTING = "start of a level", "idle", 3, "<", "The instruction is dispatched, and has not reached the kernel."
    NOT_RUNNING = "module not running", "outside", 1, "_", "An instruction of the other module runs."
    HOST = (
        "host at work",
        "outside",
        0,
        "h",
        "No instruction runs: the host accesses registers, or prepares what follows.",
    )
    RESTARTED = (
        "restarted attempt",
        "outside",
        2,
        "!",
        "The cycle belongs to an attempt whose queues overflowed, so that the run began anew.",
    )


CAUSES = tuple(cause.row for cause in (*reversed(IdleCause), *reversed(Cause)) if cause is not Cause.IDLE)
"""Every cause of a record, in the order that decides where several hold: the first one counts."""
