"""Where the parts of the state are, and how an error is noted (compiled)."""

from sim.memory import state as s
from sim.memory.compiled import inlined, jit, load, store

__all__ = ["batch_of", "box_of", "due_of", "lane_of", "record", "row_words", "statistics_of"]


@inlined
def lane_of(context: int, ae: int) -> int:
    """Return the address of an engine's lane."""
    return load(context, s.CTX_LANES) + ae * (s.LANE_WORDS * 8)


@inlined
def box_of(context: int, ae: int) -> int:
    """Return the address of an engine's mailbox."""
    return load(context, s.CTX_MAILBOX) + ae * load(context, s.CTX_MAILBOX_WORDS) * 8


@inlined
def batch_of(context: int, step: int, ae: int) -> int:
    """Return the address of the batch of an engine that is at a step: CTX_ACCEPTED, CTX_SERVED or CTX_DELIVERED."""
    return load(context, step) + ae * load(context, s.CTX_BATCH_BYTES)


@inlined
def statistics_of(context: int, ae: int) -> int:
    """Return the address of what is counted for an engine."""
    return load(context, s.CTX_STATISTICS) + ae * (s.STAT_WORDS * 8)


@inlined
def row_words(context: int) -> int:
    """Return the words of a row of responses: tags and data of a cycle, as in the mailbox."""
    return 2 * load(context, s.CTX_BOX_ARRAY)


@inlined
def due_of(context: int, ae: int) -> int:
    """Return the address of an engine's masks of responses; its rows follow."""
    return load(context, s.CTX_DUE) + ae * (s.NEAR * 8) * (1 + row_words(context))


@jit
def record(words: int, code: int, kind: int, value: int, ae: int, port: int, cycle: int) -> None:
    """Note an error at the address `words`, unless one is there already.

    Like all that seldom happens it is not copied into its callers, whose loops it would slow down.
    """
    if load(words, s.ERROR_CODE) == 0:
        store(words, s.ERROR_CODE, code)
        store(words, s.ERROR_KIND, kind)
        store(words, s.ERROR_VALUE, value)
        store(words, s.ERROR_ENGINE, ae)
        store(words, s.ERROR_PORT, port)
        store(words, s.ERROR_CYCLE, cycle)
