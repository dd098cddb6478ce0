"""Random numbers: counted streams that give the same numbers on every machine."""

import numpy as np
from numpy.typing import NDArray

from sim.caching.code import njit

__all__ = ["below", "draw", "stream", "unit"]


@njit(cache=True, nogil=True, inline="always")
def _mix(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True)
def stream(seed: int, number: int) -> NDArray[np.uint64]:
    """Return the state, uint64 (1,), of one of a seed's streams (SplitMix64, Steele et al. 2014)."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = _mix(_mix(np.uint64(seed)) ^ (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)))
    return state


@njit(cache=True, nogil=True, inline="always")
def draw(state: NDArray[np.uint64]) -> np.uint64:
    """Draw 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return _mix(state[0])


@njit(cache=True, nogil=True, inline="always")
def unit(state: NDArray[np.uint64]) -> float:
    """Draw a number from [0, 1) in steps of 2**-53."""
    return np.float64(draw(state) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True, inline="always")
def below(state: NDArray[np.uint64], limit: int) -> np.int64:
    """Draw a whole number from [0, `limit`), `limit` at most 2**32, without bias (Lemire 2019)."""
    size = np.uint64(limit)
    low = np.uint64(0xFFFFFFFF)
    product = (draw(state) >> np.uint64(32)) * size
    if product & low < size:
        threshold = (np.uint64(1 << 32) - size) % size
        while product & low < threshold:
            product = (draw(state) >> np.uint64(32)) * size
    return np.int64(product >> np.uint64(32))
