"""Causes as a record has them: where every cycle of every kernel went, what the machine as a whole knows included."""

from hw.causes import CAUSES, KINDS, IdleCause, RecordedCause

__all__ = ["CAUSES", "IDLE_CAUSES", "KINDS", "WORK", "RecordedCause", "cause_named"]

WORK = tuple(cause.name for cause in CAUSES if cause.kind == "work")
"""Those of the cycles in which a request is issued."""

IDLE_CAUSES = tuple(cause.row.name for cause in IdleCause)
"""Those that no kernel knows by itself: to it they are cycles in which no run is under way."""


def cause_named(name: str) -> RecordedCause:
    """Return the cause of a name."""
    return next(cause for cause in CAUSES if cause.name == name)
