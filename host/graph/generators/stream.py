"""Random numbers for the generators: counted streams that give the same numbers on every machine."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import Graph, check_limits
from host.graph.estimates import list_bytes, size_text
from host.memory_room import check_room
from sim.caching.code import njit

__all__ = ["OnStep", "below", "check_edges", "check_request", "draw", "draw_graph", "stream", "unit"]

_CHUNK = 1 << 18

Fill = Callable[[NDArray[np.uint64], int, NDArray[np.uint32], NDArray[np.uint32]], None]
"""Fills a chunk of sources and targets from a stream; the integer is the number of vertices."""

OnStep = Callable[[int, int], None]
"""Called with what is done, and all of it."""


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


def check_request(vertices: int, degree: int, seed: int) -> None:
    """Refuse a graph that cannot be made.

    Parameters
    ----------
    vertices : int
        Number of vertices, at least 1, and at least 2 for a graph with edges.
    degree : int
        Average out-degree, at least 0.
    seed : int
        0 to 2**64 - 1.

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits or for the memory there is.
    """
    if vertices < 1:
        raise InputError(f"a graph needs at least one vertex, not {vertices}")
    if degree < 0:
        raise InputError(f"the degree must not be negative, not {degree}")
    if vertices == 1 and degree > 0:
        raise InputError(f"a graph of one vertex without self-loops has no edges: degree {degree} cannot be had")
    check_edges(vertices, vertices * degree, seed)


def check_edges(vertices: int, edges: int, seed: int) -> None:
    """Refuse a graph that cannot be made, as `check_request` does, by its number of edges.

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits or for the memory there is.
    """
    if vertices < 1:
        raise InputError(f"a graph needs at least one vertex, not {vertices}")
    if edges < 0:
        raise InputError(f"the number of edges must not be negative, not {edges}")
    if not 0 <= seed < 2**64:
        raise InputError(f"the seed must be 0 to {2**64 - 1}, not {seed}")
    check_limits(vertices, edges)
    check_room(size_text(vertices, edges), list_bytes(vertices, edges))


def draw_graph(fill: Fill, vertices: int, degree: int, seed: int, on_step: OnStep | None) -> Graph:
    """Draw a graph's edges in chunks, each from a stream of its own, on all cores.

    The result depends on the seed alone, not on the number of cores.

    Parameters
    ----------
    fill : callable
        Compiled function that fills a chunk; it must release the interpreter lock.
    vertices, degree, seed : int
        As of `check_request`.
    on_step : callable, optional
        Called now and then with the edges drawn, and all of them.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        When a value is out of its range or the graph too large for 32 bits.
    """
    check_request(vertices, degree, seed)
    edges = vertices * degree
    sources = np.empty(edges, dtype=np.uint32)
    targets = np.empty(edges, dtype=np.uint32)

    def work(chunk: int) -> None:
        part = slice(chunk * _CHUNK, (chunk + 1) * _CHUNK)
        fill(stream(np.uint64(seed), chunk), vertices, sources[part], targets[part])

    chunks = -(-edges // _CHUNK)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # The first chunk compiles the function, once rather than on every thread.
        if chunks:
            work(0)
        for done, _ in enumerate(pool.map(work, range(1, chunks)), start=2):
            if on_step is not None:
                on_step(min(done * _CHUNK, edges), edges)
    return Graph.from_edges(vertices, sources, targets)
