"""What an allocation in coprocessor memory holds."""

from enum import IntEnum

__all__ = ["ArrayKind"]


class ArrayKind(IntEnum):
    """What an allocation holds."""

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
