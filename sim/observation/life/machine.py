"""Lives in all kernels of a window: instructions numbered, vertices named, pushes connected to entries."""

import re
from typing import NamedTuple

from cyscc.sim.hardware import VISITED
from cyscc.sim.observation.life.intersection import intersection_lives
from cyscc.sim.observation.life.kernel import kernel_lives, known_words
from cyscc.sim.observation.life.lives import Fate, Life, Stage
from cyscc.sim.observation.life.window import KernelWindow
from cyscc.sim.observation.wave_reader import WaveFileError, WaveReader

KERNELS = ("engine*.bfs*", "engine*.intersection*")
"""Scopes with the signals of lives, as globs over dotted paths."""

_KERNEL = re.compile(r"(engine\d+\.(bfs|intersection)\d+)\.")


class UntoldLivesError(WaveFileError):
    """Waveforms of kernels with parts of which lives are not told. One line, which names them."""


class Lives(NamedTuple):
    """All lives that begin in a window."""

    first: int
    """First cycle of the window."""
    cycles: int
    """Cycles of the window."""
    kernels: tuple[str, ...]
    """The kernels in the file, by AE and number."""
    lives: list[Life]
    """Queue entries and neighbours by their first cycle."""


def read_lives(reader: WaveReader) -> Lives:
    """Return the life of each queue entry, and of each neighbour, whose first read is requested in a window.

    Queue entries are those of the current queues in BFS kernels, and those of the reach queues in intersection kernels.

    Parameters
    ----------
    reader : WaveReader
        A file with all signals of at least one kernel.

    Raises
    ------
    WaveFileError
        The file shows no kernel, or a signal of one is missing.
    UntoldLivesError
        A kernel has parts of which lives are not told.
    """
    found = {match[1]: match[2] for name in reader.names if (match := _KERNEL.match(name))}
    kernels = sorted(found, key=lambda name: (found[name], [int(number) for number in re.findall(r"\d+", name)]))
    if not kernels:
        raise WaveFileError(f"no kernel is shown ({', '.join(KERNELS)}), by whose signals lives are told")
    entries: list[Life] = []
    neighbours: list[Life] = []
    reached: list[Life] = []
    vertices: dict[tuple[int, int], int] = {}
    runs: dict[str, int] = {}
    for kind in sorted(set(found.values())):
        runs |= _first_runs(reader, [kernel for kernel in kernels if found[kernel] == kind])
    for kernel in kernels:
        window = KernelWindow(reader, kernel)
        own: tuple[list[Life], list[Life], list[Life]]
        if found[kernel] == "bfs":
            if window.has("fetcher.moving"):
                raise UntoldLivesError("lives are not told of kernels with FIFOs of requests (queued_requests)")
            if window.has("router.idle"):
                raise UntoldLivesError("lives are not told of kernels that hand ids to others (visited_filter)")
            if window.has("neighbour_reader.short"):
                raise UntoldLivesError("lives are not told of kernels that read neighbour ids in pairs (pair_reads)")
            if window.has("splitter.busy"):
                raise UntoldLivesError("lives are not told of kernels that queue vertices in chunks (edge_chunk)")
            if window.has("visitor.alone"):
                raise UntoldLivesError("lives are not told of kernels that write two ids at once (lean_visits)")
            if window.has("allocator.asked"):
                raise UntoldLivesError("lives are not told of kernels with a common station on the ring (short_ring)")
            vertices |= known_words(window)
            own = (*kernel_lives(window), [])
        else:
            own = ([], [], intersection_lives(window))
        for lives, some in zip((entries, neighbours, reached), own, strict=True):
            for life in some:
                life.run += runs[kernel]
            lives += some
    _connect(entries, neighbours)
    for life in entries:
        if life.origin is not None:
            life.vertex = life.origin.vertex
        elif life.word is not None:
            life.vertex = vertices.get((life.graph, life.word & ~int(VISITED.mask)))
    order = {kernel: number for number, kernel in enumerate(kernels)}
    told = sorted((*entries, *neighbours, *reached), key=lambda life: (life.first, order[life.kernel], life.neighbour))
    return Lives(reader.first, reader.cycles, tuple(kernels), told)


def _first_runs(reader: WaveReader, kernels: list[str]) -> dict[str, int]:
    """Return the instruction of each kernel in the first cycle, as its number in the window.

    All kernels have the same epoch, except while a start message travels through them: kernels that it has reached are
    one instruction ahead.
    """
    epochs, starts = {}, []
    for kernel in kernels:
        window = KernelWindow(reader, kernel)
        epochs[kernel] = window.initial("control.epoch")
        starts += [(int(cycle), epochs[kernel]) for cycle in window.when("control.start")[:1]]
    if not starts:
        return dict.fromkeys(kernels, 0)
    _, old = min(starts)
    return {kernel: int(epoch != old) for kernel, epoch in epochs.items()}


def _connect(entries: list[Life], neighbours: list[Life]) -> None:
    """Connect entries to the pushes that they come from, and mark repeated pushes of a vertex."""
    pushed = [life for life in neighbours if life.fate is Fate.PUSHED]
    places = {(life.run + 1, life.address): life for life in pushed}
    for life in entries:
        life.origin = places.get((life.run, life.address))
    seen = set()
    for life in sorted(pushed, key=_queued):
        push = (life.run, life.graph, life.vertex)
        life.again = push in seen
        seen.add(push)


def _queued(life: Life) -> int:
    """Return the first cycle in which a pushed vertex has its slot."""
    return next(span.first for span in life.spans if span.stage is Stage.ENQUEUE)
