"""Tags of the BFS kernel's reads: the process that waits for the response."""

from amaranth.lib import enum


class Tag(enum.Enum, shape=2):
    """Kind of data that a read of the BFS kernel returns."""

    FRONTIER_WORD = 0
    """A word of the current queue, asked for by process 1."""
    NEIGHBOUR_ID = 1
    """A neighbour's id, asked for by process 2."""
    NEIGHBOUR_WORD = 2
    """A neighbour's graph word, asked for by process 3."""
