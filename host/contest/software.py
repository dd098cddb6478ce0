"""Entries of software: scipy's search, and each algorithm, timed on this machine."""

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from host.algorithms.components import canonical
from host.algorithms.names import KINDS
from host.algorithms.reference import component_matrix, matrix_components
from host.algorithms.software import Setting, SoftwareRun, run_software
from host.contest.entries import SCIPY, Entry
from host.devices import Device, Order, open_device
from host.graph.csr import Graph
from host.words import place
from sim.errors import SimulationError

__all__ = ["scipy_entry", "software_entry"]


class _TooLongError(Exception):
    """The time of an algorithm is over."""


def scipy_entry(graph: Graph, *, runs: int) -> tuple[Entry, NDArray[np.uint32]]:
    """Time scipy's search, on a matrix that is there, and return its components for the others to be checked by.

    Parameters
    ----------
    graph : Graph
        The graph.
    runs : int
        How many times; the best counts.

    Returns
    -------
    entry : Entry
    labels : ndarray of uint32, shape (n,)
        Canonical.
    """
    matrix = component_matrix(graph)
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        labels = matrix_components(matrix)
        seconds.append(time.perf_counter() - begin)
    return Entry(name=SCIPY, simulated=False, where="1 thread", milliseconds=min(seconds) * 1e3), canonical(labels)


def software_entry(
    algorithm: str,
    graph: Graph,
    transpose: Graph,
    expected: NDArray[np.uint32] | None,
    *,
    device: str,
    order: Order,
    threads: int,
    seed: int,
    runs: int,
    limit: float,
    watch: Callable[[int, int], None],
) -> Entry:
    """Time an algorithm.

    Parameters
    ----------
    algorithm : str
        Its name.
    graph, transpose : Graph
        The graph and its transpose.
    expected : ndarray of uint32, shape (n,), or None
        The components, canonical; None where nothing is to be checked.
    device : str
        Where it runs, if it is made of steps.
    order : Order
        In which the threads of those run.
    threads, seed : int
        Threads that it may use; seed of what it draws.
    runs : int
        How many times; the best counts, with what that run counted.
    limit : float
        Seconds after which it is given up, if it is made of steps, and there are no more runs of the others.
    watch : callable
        Told how far it is.

    Raises
    ------
    SimulationError
        It found other components.
    """
    kind = KINDS[algorithm]
    with open_device(device if kind.devices else "cpu", threads=threads if kind.threads else 1, order=order) as opened:
        where = place(opened.name, opened.threads)
        try:
            best = _best(algorithm, graph, transpose, opened, seed=seed, runs=runs, limit=limit, watch=watch)
        except _TooLongError:
            return Entry(name=algorithm, simulated=False, where=where, trouble=f"given up after {limit:g} s")
    if expected is not None and not np.array_equal(best.labels, expected):
        vertex = int((best.labels != expected).argmax())
        name = graph.original(np.array([vertex]))[0]
        raise SimulationError(f"wrong result: {algorithm}: vertex {name} is in another component than by scipy")
    return Entry(
        name=algorithm,
        simulated=False,
        where=where,
        milliseconds=best.seconds * 1e3,
        edges=best.counts.get("edges"),
        passes=best.counts.get("passes"),
        counts=best.counts,
    )


def _best(
    algorithm: str,
    graph: Graph,
    transpose: Graph,
    device: Device,
    *,
    seed: int,
    runs: int,
    limit: float,
    watch: Callable[[int, int], None],
) -> SoftwareRun:
    """Return the quickest of some runs, of fewer where they take longer than the limit together."""
    begin = time.monotonic()

    def timed(done: int, total: int) -> None:
        if time.monotonic() - begin > limit:
            raise _TooLongError
        watch(done, total)

    setting = Setting(device=device, seed=seed, watch=timed)
    best = run_software(algorithm, graph, transpose, setting)
    for _ in range(runs - 1):
        if time.monotonic() - begin + best.seconds > limit:
            break
        # A later run may take longer than the best one: then that stands.
        with suppress(_TooLongError):
            best = min(best, run_software(algorithm, graph, transpose, setting), key=lambda run: run.seconds)
    return best
