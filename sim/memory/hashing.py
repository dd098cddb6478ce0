"""Random numbers for profiles: a function of their place, whatever the order they are asked for in."""

import numpy as np

from sim.memory.compiling import inlined

__all__ = ["draw", "stream"]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@inlined
def _mix(key: int) -> int:
    """Return the splitmix64 hash of a 64-bit word."""
    word = np.uint64(key) + _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return int(np.int64(word ^ (word >> np.uint64(31))))


@inlined
def stream(seed: int, ae: int, port: int, purpose: int) -> int:
    """Return the key of one sequence of random words."""
    return _mix(_mix(seed) + (purpose << 16 | ae << 8 | port))


@inlined
def draw(key: int, index: int) -> int:
    """Return word number `index` of a sequence: 64 random bits."""
    return _mix(key + index * 0x5851F42D4C957F2D)
