"""Kinds of arrays in coprocessor memory."""

from enum import IntEnum


class ArrayKind(IntEnum):
    """Kind of array in an allocation."""

    OTHER = 0
    """Anything else."""
    WORDS = 1
    """Graph words."""
    NEIGHBOURS = 2
    """Neighbour ids."""
    QUEUES = 3
    """Frontier queues and reach queues."""
    COLOURS = 4
    """Colours of the vertices."""
