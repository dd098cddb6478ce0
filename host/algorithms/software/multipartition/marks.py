"""The mark of a vertex: the partition that it is in and how it was reached there, or its component."""

from host.devices import device_function

__all__ = [
    "BACKWARD",
    "BOTH",
    "FLAGS",
    "FORWARD",
    "FRESH",
    "PARTITION",
    "STATE",
    "VERTEX",
    "VICE",
    "drawn_number",
    "priority",
]

FORWARD = 1
"""The pivot of its partition reaches it."""
BACKWARD = 2
"""It reaches the pivot of its partition."""
VICE = 4
"""It reaches the vice pivot of its partition."""
BOTH = FORWARD | BACKWARD
"""It is in the component of the pivot."""
STATE = BOTH | VICE
"""All that a round finds out about it."""
FRESH = 8
"""The last sweep reached it."""
FLAGS = 16
"""A mark that is not negative is a partition times this, and flags; -1 - v is component v."""
PARTITION = 4
"""Bits of the flags. Two marks are of the same partition when their exclusive or is 0 to `FLAGS` - 1."""

_BITS = 31
VERTEX = (1 << _BITS) - 1
"""Of a number drawn, less one: the vertex."""
_MASK = (1 << 32) - 1


@device_function
def priority(vertex: int, salt: int) -> int:
    """Return a number below 2**32 that orders the vertices at random; no two have the same.

    Each line is a bijection of 32 bits, and no product exceeds 63.
    """
    mixed = (int(vertex) ^ salt) & _MASK
    mixed = ((mixed ^ (mixed >> 16)) * 0x2C1B3C6D) & _MASK
    mixed = ((mixed ^ (mixed >> 12)) * 0x297A2D39) & _MASK
    return mixed ^ (mixed >> 15)


@device_function
def drawn_number(vertex: int, salt: int) -> int:
    """Return a number above 0 and below 2**63 that orders the vertices at random, and has the vertex in it."""
    return ((priority(vertex, salt) << _BITS) | int(vertex)) + 1
