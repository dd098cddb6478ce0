"""Causes in a record: those known to the kernel, and those known only to the machine as a whole."""

from cyscc.hw.causes import CAUSES, KINDS, IdleCause, RecordedCause

__all__ = ["CAUSES", "CAUSE_NAMES", "IDLE_CAUSES", "KINDS", "WORK", "RecordedCause", "cause_named"]

CAUSE_NAMES = [cause.name for cause in CAUSES]
"""Columns of causes in a record's tables."""

WORK = tuple(cause.name for cause in CAUSES if cause.kind == "work")
"""Causes of cycles in which a request is issued."""

IDLE_CAUSES = tuple(cause.row.name for cause in IdleCause)
"""Causes unknown to the kernel, for which these cycles are idle."""


def cause_named(name: str) -> RecordedCause:
    """Return the cause of a name."""
    return next(cause for cause in CAUSES if cause.name == name)
