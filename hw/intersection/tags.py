"""Tags of the intersection kernel's reads: the process that waits for the response."""

from amaranth.lib import data, enum


class Tag(enum.Enum, shape=2):
    """Kind of data that a read of the intersection kernel returns."""

    REACH_ENTRY = 0
    """An entry of a reach queue, asked for by process 1."""
    COLOUR = 1
    """A vertex's colour, asked for by process 2."""
    OTHER_WORD = 2
    """A vertex's graph word in the other direction's graph, asked for by process 2."""
    OWN_WORD = 3
    """A vertex's graph word in its own direction's graph, asked for by process 3."""


class Direction(enum.Enum, shape=1):
    """The search by which a vertex was reached."""

    FORWARD = 0
    BACKWARD = 1


ReachEntry = data.StructLayout({"vertex": 32, "direction": Direction})
"""A reached vertex."""
