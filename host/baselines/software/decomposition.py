"""Interface of decompositions in software: settings, results, and timed runs."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.algorithms import KINDS, Kind
from cyscc.host.baselines.devices.steps import Device
from cyscc.host.baselines.peers import PEERS
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.graph.reference import canonical
from cyscc.host.output.progress import OnProgress

Found = TypeVar("Found")

_CYCLES = 40
_LONGEST = 5
_CHAIN = 20
_MIXED = 5000
"""Vertices of the random part: enough for a prefix sum over several tiles."""
_TRIANGLES = 200
_SEED = 1


def unwatched(done: int, total: int) -> None:
    """Ignore progress."""


def _unlimited() -> None:
    """Ignore that a timed run begins."""


@dataclass(frozen=True, kw_only=True)
class SoftwareSetting:
    """How an algorithm runs.

    Parameters
    ----------
    device : Device
        Where its steps run.
    seed : int
        Seed of random numbers.
    options : mapping
        Options specific to the algorithm, as given, by name (`cyscc.host.baselines.algorithms`).
    watch : callable
        Progress callback.
    begin : callable
        Called when the warm-up is over and the timed run begins.
    """

    device: Device
    seed: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    watch: OnProgress = unwatched
    begin: Callable[[], None] = _unlimited


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """The components that an algorithm found.

    Parameters
    ----------
    labels : ndarray of integers, shape (n,)
        Any labelling: two vertices are in the same component when their labels are equal.
    counts : mapping
        Work counters of the algorithm, by name in lower case with underscores, with the metrics of its paper.
    phases : mapping
        Seconds of its phases, if they were timed.
    """

    labels: NDArray[Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    phases: Mapping[str, float] = field(default_factory=dict)


def small_graph() -> Graph:
    """Return a graph of some thousand vertices that exercises every part of an algorithm.

    It has cycles with edges to other cycles, a chain, a sparse random part, and triangles, one half with edges to the
    other half, so that each triangle reaches only a few others.
    """
    sizes = np.concatenate([np.arange(_CYCLES) % _LONGEST + 2, np.full(_TRIANGLES, 3)])
    firsts = np.cumsum(sizes) - sizes
    count = int(sizes.sum())
    cycle = np.repeat(np.arange(sizes.size), sizes)
    vertices = np.arange(count)
    following = firsts[cycle] + (vertices - firsts[cycle] + 1) % sizes[cycle]
    cycles, (upper, lower) = firsts[:_CYCLES], firsts[_CYCLES:].reshape(2, -1)
    chain = np.arange(count, count + _CHAIN)
    mixed = random_graph(_MIXED, 2, _SEED)
    base = count + _CHAIN
    sources = np.repeat(np.arange(_MIXED), np.diff(mixed.offsets)) + base
    edges = [
        (vertices, following),
        (cycles[:-1], cycles[1:]),
        (upper, lower),
        (upper, np.roll(lower, 1) + 1),
        (chain, np.append(chain[1:], 0)),
        (sources, mixed.targets.astype(np.int64) + base),
    ]
    ends = (np.concatenate(side).astype(np.uint32) for side in zip(*edges, strict=True))
    return Graph.from_edges(base + _MIXED, *ends)


@dataclass(frozen=True, kw_only=True)
class SoftwareRun(Generic[Found]):
    """A run of one algorithm.

    Parameters
    ----------
    algorithm : str
        Its name.
    device : str
        Name of the device.
    threads : int
        Threads of the processor that it used.
    found : Decomposition or MecDecomposition
        What it found.
    seconds : float
        Time of the algorithm, without loading and compiling.
    upload_seconds : float
        Time of copying the input to the device, or into a library's own form.
    """

    algorithm: str
    device: str
    threads: int
    found: Found
    seconds: float
    upload_seconds: float = 0.0


_PATIENCE = 0.5
"""Seconds after which an interrupt is noticed at the latest."""


def _interruptible(work: Callable[[], Found]) -> Found:
    """Run a function in a thread of its own, which an interrupt of this one abandons.

    Compiled code cannot be interrupted: in the main thread, the interrupt would be noticed when it returns.
    """
    future: Future[Found] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    # Not without end: a signal that arrives just before the wait begins is handled only after it.
    while not wait([future], timeout=_PATIENCE).done:
        pass
    return future.result()


def timed(
    algorithm: str, kind: Kind, setting: SoftwareSetting, given: tuple[Any, ...], warming: Callable[[], tuple[Any, ...]]
) -> SoftwareRun[Any]:
    """Run and time an algorithm, after a warm-up run on a small input that compiles it; an interrupt ends it at once.

    The time includes that of copying arrays to the device.

    Parameters
    ----------
    algorithm : str
        Its name.
    kind : Kind
        Its row in the table.
    setting : SoftwareSetting
        How it runs.
    given : tuple
        Its input.
    warming : callable
        Returns the small input.
    """
    run, device = kind.load(), setting.device

    def work() -> tuple[Any, float]:
        if device.compiles:
            run(*warming(), replace(setting, watch=unwatched))
        setting.begin()
        device.upload_seconds = 0.0
        begin = time.perf_counter()
        found = run(*given, setting)
        return found, time.perf_counter() - begin

    found, seconds = _interruptible(work)
    return SoftwareRun(
        algorithm=algorithm,
        device=device.name,
        threads=device.threads if kind.threads else 1,
        found=found,
        seconds=seconds,
        upload_seconds=device.upload_seconds,
    )


def run_software(
    algorithm: str, graph: Graph, transpose: Graph | None, setting: SoftwareSetting
) -> SoftwareRun[Decomposition]:
    """Run and time an algorithm, after a warm-up run on a small graph; the labels of the result are canonical.

    Its ``seconds`` are those of the algorithm alone, without copying arrays to the device.

    Parameters
    ----------
    algorithm : str
        A key of `cyscc.host.baselines.algorithms.KINDS`.
    graph : Graph
        The graph.
    transpose : Graph or None
        Its transpose; None for an algorithm that needs none.
    setting : SoftwareSetting
        How it runs.
    """
    run = timed(
        algorithm, KINDS[algorithm], setting, (graph, transpose), lambda: (small_graph(), small_graph().transpose())
    )
    return replace(
        run,
        found=replace(run.found, labels=canonical(run.found.labels)),
        seconds=run.seconds - run.upload_seconds,
    )


def peer_runs(
    name: str, graph: Graph, *, threads: int, begin: Callable[[], None] = _unlimited
) -> Callable[[], SoftwareRun[Decomposition]]:
    """Convert a graph into a library's own form, and return a function that runs and times the library's algorithm.

    Parameters
    ----------
    name : str
        A key of `cyscc.host.baselines.peers.PEERS`.
    graph : Graph
        The graph.
    threads : int
        Threads that may convert it.
    begin : callable
        Called when the library is imported.
    """
    convert = PEERS[name]
    convert(small_graph(), threads)()
    begin()
    start = time.perf_counter()
    components = convert(graph, threads)
    upload = time.perf_counter() - start

    def run() -> SoftwareRun[Decomposition]:
        start = time.perf_counter()
        labels = components()
        seconds = time.perf_counter() - start
        found = Decomposition(labels=canonical(labels))
        return SoftwareRun(algorithm=name, device="cpu", threads=1, found=found, seconds=seconds, upload_seconds=upload)

    return run


class Transposed(NamedTuple):
    """The transpose of a graph, and the time to make it."""

    graph: Graph
    seconds: float


def transposed(graph: Graph) -> Transposed:
    """Return the transpose of a graph, and the time to make it, without compiling."""
    small_graph().transpose()
    begin = time.perf_counter()
    transpose = graph.transpose()
    return Transposed(transpose, time.perf_counter() - begin)
