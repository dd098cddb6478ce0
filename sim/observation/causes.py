"""Causes as a record has them: where every cycle of every kernel went, what the machine as a whole knows included."""

from dataclasses import dataclass

__all__ = ["CAUSES", "IDLE_CAUSES", "WORK", "RecordedCause", "cause_named"]


@dataclass(frozen=True, kw_only=True)
class RecordedCause:
    """Why a kernel did or did not issue a request in a cycle.

    Parameters
    ----------
    name : str
        What columns and documents call it.
    title : str
        What people read.
    about : str
        When it holds, in a sentence.
    kind : str
        ``work`` (a request was issued), ``limit`` (the machine could have gone on if something were larger or faster),
        ``idle`` (there was nothing to do for this kernel) or ``outside`` (no run that counts was under way).
    """

    name: str
    title: str
    about: str
    kind: str


CAUSES = (
    RecordedCause(
        name="restarted",
        title="restarted attempt",
        about="The cycle belongs to an attempt whose queues overflowed, so that the run began anew.",
        kind="outside",
    ),
    RecordedCause(
        name="host",
        title="host at work",
        about="No instruction runs: the host accesses registers, or prepares what follows.",
        kind="outside",
    ),
    RecordedCause(
        name="not_running",
        title="module not running",
        about="An instruction of the other module runs.",
        kind="outside",
    ),
    RecordedCause(
        name="starting",
        title="start of a level",
        about="The instruction is dispatched, and has not reached the kernel.",
        kind="idle",
    ),
    RecordedCause(
        name="ending",
        title="end of a level",
        about="All kernels are done, and the token, or the host's next meeting with the machine, is awaited.",
        kind="idle",
    ),
    RecordedCause(
        name="no_work",
        title="no work left",
        about="The kernel is done, and another kernel, of this AE or another, is not.",
        kind="idle",
    ),
    RecordedCause(
        name="write", title="writing", about="A write was issued: of a vertex pushed, or of a colour.", kind="work"
    ),
    RecordedCause(
        name="issue_3",
        title="issuing for process 3",
        about="A read of process 3 was issued: a neighbour's word, or a vertex's own word.",
        kind="work",
    ),
    RecordedCause(
        name="issue_2",
        title="issuing for process 2",
        about="A read of process 2 was issued: a neighbour's id, or a colour and the other direction's word.",
        kind="work",
    ),
    RecordedCause(
        name="issue_1",
        title="issuing for process 1",
        about="A read of process 1 was issued: an entry of the current queue, or of a reach queue.",
        kind="work",
    ),
    RecordedCause(name="resting", title="resting", about="The multiplexer rests between two requests.", kind="limit"),
    RecordedCause(
        name="refused",
        title="refused by the memory",
        about="A request is ready, and the memory port does not take it.",
        kind="limit",
    ),
    RecordedCause(
        name="slot",
        title="waiting for a slot",
        about="A vertex to be pushed waits for the token to bring a slot of the queues.",
        kind="limit",
    ),
    RecordedCause(
        name="credit",
        title="out of credits",
        about="A process has something to request, and no place is free for the answer.",
        kind="limit",
    ),
    RecordedCause(
        name="flush", title="flushing", about="The kernel's writes are awaited before the level may end.", kind="idle"
    ),
    RecordedCause(
        name="response",
        title="waiting for responses",
        about="Nothing is left to request before an answer.",
        kind="limit",
    ),
)
"""Every cause, in the order that decides where several hold: the first one counts."""

WORK = tuple(cause.name for cause in CAUSES if cause.kind == "work")
"""Those of the cycles in which a request is issued."""

IDLE_CAUSES = ("restarted", "host", "not_running", "starting", "ending", "no_work")
"""Those that no kernel knows by itself: to it they are cycles in which no run is under way."""


def cause_named(name: str) -> RecordedCause:
    """Return the cause of a name."""
    return next(cause for cause in CAUSES if cause.name == name)
