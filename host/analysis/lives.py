"""Lives of a waveform file: read, chosen by vertex and kernel, named by the graph; as tables and as Kanata text.

A graph word says where in C the neighbours of its vertex begin, and how many they are. Where there are neighbours, no
other vertex has the same beginning; vertices without neighbours share theirs with what comes next.

Kanata text is the log format of the pipeline viewer Konata. Facts of the format (header, tab-separated commands, their
arguments) are from its documentation, https://github.com/shioyadan/Konata/blob/master/docs/kanata-log-format.md.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import numpy.typing as npt

from host.errors import InputError
from host.graph.csr import Graph
from host.output import open_output, reason
from host.results.table_text import plain_table
from host.words import counted
from sim.hardware import DEGREE, START
from sim.observation.life import Fate, Life, Lives, Span, Stage, read_lives
from sim.observation.wave_reader import WaveFileError, WaveReader

__all__ = [
    "chosen_lives",
    "directions_of",
    "kanata_lines",
    "life_text",
    "name_lives",
    "select",
    "vertices_of",
    "write_kanata",
]

Vertices = npt.NDArray[np.int64]
"""Vertices, or what stands in the place of one."""

_NONE = -1
"""In the place of a vertex: the word is of none."""
_SEVERAL = -2
"""In the place of a vertex: it may be one of several."""


def chosen_lives(
    path: Path,
    *,
    of: Sequence[str] = (),
    first: int | None = None,
    option: str,
    name: Callable[[Lives], None] | None = None,
) -> tuple[Lives, list[Life]]:
    """Return all lives that begin in the window that a file shows, and those of them that are asked for.

    Parameters
    ----------
    path : pathlib.Path
        A VCD or FST file with all signals of the kernels that lives are wanted of.
    of, first
        As of `select`.
    option : str
        The option that `of` comes from, for messages.
    name : callable, optional
        Names the vertices, which `of` then means by these names.

    Raises
    ------
    InputError
        It cannot be read, shows no waveforms, or lacks a signal; nothing of what is asked for is there.
    """
    try:
        window = read_lives(WaveReader(path))
    except WaveFileError as error:
        raise InputError(str(error), path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    if name is not None:
        name(window)
    try:
        return window, select(window, of=of, first=first)
    except InputError as error:
        raise InputError(f"{error.cause} ({option})", path=path) from None


def select(lives: Lives, *, of: Sequence[str] = (), first: int | None = None) -> list[Life]:
    """Return some of the lives of a window, in their order.

    Parameters
    ----------
    lives : Lives
        All of them.
    of : sequence of str
        A number stands for a vertex: its own lives, as neighbour and as queue entry, and those of the neighbours that
        come of that entry. Anything else stands for kernels: ``engine0.bfs3``, ``engine0`` for all of an AE, with
        ``*``, ``?`` and ``[]`` for several. What any of them stands for is shown; all, if there are none.
    first : int, optional
        Not more queue entries than this; neighbours only of these.

    Raises
    ------
    InputError
        No such kernel, or nothing in the window is of that vertex. Names what was asked for.
    """
    chosen = [life for life in lives.lives if not of]
    if of:
        vertices, kernels = set(), set()
        for word in of:
            if word.isdecimal():
                vertices.add(int(word))
            else:
                kernels |= _kernels(lives, word)
        chosen = [life for life in lives.lives if life.kernel in kernels or _is_of(life, vertices)]
        for vertex in sorted(vertices):
            if not any(life.vertex == vertex for life in chosen):
                raise InputError(f"nothing of vertex {vertex} begins in the window")
    if first is not None:
        kept = {id(life) for life in [life for life in chosen if not life.neighbour][:first]}
        chosen = [life for life in chosen if id(life.parent if life.neighbour else life) in kept]
    return chosen


def _is_of(life: Life, vertices: set[int]) -> bool:
    return life.vertex in vertices or (life.parent is not None and life.parent.vertex in vertices)


def _kernels(lives: Lives, pattern: str) -> set[str]:
    """Return the kernels that a pattern stands for."""
    found = {
        name for name in lives.kernels if fnmatchcase(name, pattern) or fnmatchcase(name.partition(".")[0], pattern)
    }
    if not found:
        raise InputError(f"no kernel {pattern!r}: there are {lives.kernels[0]} to {lives.kernels[-1]}")
    return found


def vertices_of(starts: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> Vertices:
    """Return the vertex of each graph word: -1 where there is none, -2 where it is one of several without neighbours.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Offsets of the graph.
    words : ndarray of uint64
        Graph words, whether visited or not.
    """
    start, degree = START.get(words).astype(np.int64), DEGREE.get(words).astype(np.int64)
    first = np.searchsorted(starts[:-1], start, side="left")
    end = np.searchsorted(starts[:-1], start, side="right")
    # Of those that begin there only the last may have neighbours.
    own = starts[end] - start
    there = end > first
    leaves = end - first - (own > 0)
    vertices = np.where(there & (own == degree), end - 1, _NONE)
    leaf = np.select([leaves == 1, leaves > 1], [first, np.full_like(first, _SEVERAL)], _NONE)
    return np.where(degree > 0, vertices, np.where(there, leaf, _NONE))


def directions_of(lives: Lives, graph: Graph) -> dict[int, list[Graph]]:
    """Return what may be the graph of some lives in the machine, by the addresses of their graph words.

    It is the graph or its transpose, with each edge once or not, as far as no word contradicts that.

    Raises
    ------
    InputError
        All are contradicted: the lives are of another graph.
    """
    vertices = [life.vertex for life in lives.lives if life.vertex is not None]
    if vertices and max(vertices) >= graph.vertices:
        raise InputError(f"has no vertex number {max(vertices)}: it is not the graph of the run")
    simple = graph.simplified()
    kinds = [graph, graph.transpose()] + ([] if simple is graph else [simple, simple.transpose()])
    found: dict[int, list[Graph]] = {}
    for address in {life.graph for life in lives.lives}:
        own = _of_direction(lives, address)
        found[address] = [kind for kind in kinds if _fits(_told(kind, own), own)]
        if not found[address]:
            raise InputError("is not the graph of the run: its vertices have other neighbours")
    return found


def name_lives(lives: Lives, directions: Mapping[int, Sequence[Graph]]) -> None:
    """Name the vertices of lives as the graph's file does, and those too that the signals do not tell.

    Parameters
    ----------
    lives : Lives
        The lives, whose vertices are numbers of the machine so far.
    directions : mapping
        Their graph as it may be in the machine, by the addresses of graph words. A vertex is told where all agree.
    """
    for address, kinds in directions.items():
        own = _of_direction(lives, address)
        first, *others = (_told(kind, own) for kind in kinds)
        for life, vertex, sure in zip(own, first.tolist(), _alike(first, others).tolist(), strict=True):
            if life.vertex is None and vertex >= 0 and sure:
                life.vertex = vertex
        known = [life for life in own if life.vertex is not None]
        names = kinds[0].original(np.array([life.vertex for life in known], np.int64))
        for life, name in zip(known, names.tolist(), strict=True):
            life.vertex = name


def _of_direction(lives: Lives, address: int) -> list[Life]:
    return [life for life in lives.lives if life.graph == address]


def _told(graph: Graph, lives: Sequence[Life]) -> Vertices:
    """Return the vertex of each life by a graph, as of `vertices_of`; -2 also where nothing is known of it."""
    vertices = np.full(len(lives), _SEVERAL, np.int64)
    worded = [number for number, life in enumerate(lives) if life.word is not None]
    vertices[worded] = vertices_of(graph.offsets, np.array([lives[number].word for number in worded], np.uint64))
    # A neighbour is what stands at its place in C, whether that was read yet or not.
    below = np.array([number for number, life in enumerate(lives) if life.neighbour], np.int64)
    places = np.array([lives[number].index for number in below.tolist()], np.int64)
    there = places < graph.edges
    vertices[below[there]] = graph.targets[places[there]]
    vertices[below[~there]] = _NONE
    return vertices


def _fits(told: Vertices, lives: Sequence[Life]) -> bool:
    """Whether a graph contradicts nothing that the signals say, given the vertex of each life by it."""
    known = np.array([_SEVERAL if life.vertex is None else life.vertex for life in lives], np.int64)
    return not ((told == _NONE) | ((told != known) & (told != _SEVERAL) & (known != _SEVERAL))).any()


def _alike(first: Vertices, others: Sequence[Vertices]) -> npt.NDArray[np.bool_]:
    """Return where all are the same."""
    return np.logical_and.reduce([np.ones(len(first), np.bool_), *(first == other for other in others)])


def _place(life: Life) -> str:
    """Return what the item of a life is: its place in a queue, or the list that it is in."""
    if not life.neighbour:
        return f"{life.queue}[{life.index}]"
    if life.parent is None:
        return f"C[{life.index}]"
    return f"queue[{life.parent.index}] > C[{life.index}]"


def _ending(life: Life) -> str:
    """Return how a life ended."""
    if life.fate is Fate.PUSHED:
        return f"pushed{' again' if life.again else ''} to slot {life.slot}"
    if life.fate is Fate.EXPANDED and life.word is not None:
        return f"expanded, {counted(int(DEGREE.get(life.word)), 'neighbour')}"
    return life.fate.value


def _waits(spans: list[Span]) -> str:
    """Return how long was waited in some stages, by reason, the longest first."""
    total: dict[str, int] = {}
    for span in spans:
        for wait, cycles in span.waits:
            total[wait.value] = total.get(wait.value, 0) + cycles
    return ", ".join(f"{reason} {cycles}" for reason, cycles in sorted(total.items(), key=lambda each: -each[1]))


def _summary(life: Life) -> str:
    """Return a life in one line: its kernel, what it is, its vertex, how it ended."""
    vertex = "" if life.vertex is None else f" vertex {life.vertex}"
    return f"{life.kernel} {_place(life)}{vertex}: {_ending(life)}"


def life_text(window: Lives, lives: Sequence[Life], *, rows: int) -> str:
    """Return what is shown of some lives of a window.

    Parameters
    ----------
    window : Lives
        What the lives are of.
    lives : sequence of Life
        Those to show.
    rows : int
        Most lines of single lives.
    """
    entries = [life for life in lives if not life.neighbour]
    neighbours = [life for life in lives if life.neighbour]
    parts = [
        f"cycles {window.first:,} to {window.first + window.cycles - 1:,}, "
        f"{counted(len(window.kernels), 'kernel')}: {counted(len(entries), 'queue entry', 'queue entries')}, "
        f"{counted(len(neighbours), 'neighbour')}\n"
    ]
    if lives:
        parts += [_fates(entries, neighbours), _stages(lives), _lines(lives, rows)]
    return "\n".join(parts)


def _fates(entries: Sequence[Life], neighbours: Sequence[Life]) -> str:
    """Return how many items ended how."""
    rows = []
    for name, group in (("queue entries", entries), ("neighbours", neighbours)):
        for fate, number in Counter(_fate(life) for life in group).most_common():
            rows.append((name, fate, f"{number:,}"))
    return plain_table(rows, words=2)


def _fate(life: Life) -> str:
    return life.fate.value + (" again" if life.again else "")


def _stages(lives: Sequence[Life]) -> str:
    """Return how long the items were in each stage; those that the window cuts are left out."""
    spans: dict[Stage, list[Span]] = {stage: [] for stage in Stage}
    for life in lives:
        for span in (*life.spans, *life.aside):
            if span.end is not None:
                spans[span.stage].append(span)
    rows = []
    for stage, found in spans.items():
        lengths = [span.end - span.first for span in found if span.end is not None]
        if lengths:
            mean = f"{sum(lengths) / len(lengths):,.1f}"
            rows.append((stage.short, stage.meaning, f"{len(found):,}", mean, f"{max(lengths):,}", _waits(found)))
    head = ("stage", "the item", "items", "mean cycles", "most", "cycles waited for")
    return plain_table(rows, head=head, words=(0, 1, 5))


def _lines(lives: Sequence[Life], most: int) -> str:
    """Return a line for each life, neighbours below the queue entry that they come of."""
    below: dict[int, list[Life]] = {}
    tops = []
    known = {id(life) for life in lives}
    for life in lives:
        if id(life.parent) in known:
            below.setdefault(id(life.parent), []).append(life)
        else:
            tops.append(life)
    ordered = [life for top in tops for life in (top, *below.get(id(top), []))]
    rows = []
    for life in ordered[:most]:
        rows.append((
            f"{life.first:,}",
            "" if life.end is None else f"{life.end:,}",
            life.kernel,
            f"  C[{life.index}]" if id(life.parent) in known else _place(life),
            "" if life.vertex is None else str(life.vertex),
            _ending(life),
            " ".join(_span(span) for span in (*life.spans, *life.aside)),
        ))  # fmt: skip
    head = ("from", "to", "kernel", "item", "vertex", "ended", "stages")
    text = plain_table(rows, head=head, words=(2, 3, 5, 6))
    left = len(ordered) - len(rows)
    return text + (f"... and {left:,} more\n" if left else "")


def _span(span: Span) -> str:
    """Return a stage and its cycles; those of one that the window cuts are not known."""
    return f"{span.stage.short} {'..' if span.end is None else span.end - span.first}"


_ORDER = ("I", "L", "W", "E", "S", "R")
"""Commands of a cycle, in their order: a stage ends before the next one begins."""

_MAIN, _ASIDE = 0, 1
"""Lanes: a life's stages, and those beside them."""

_LEFT, _HOVER = 0, 1
"""Kinds of text: in the list of items, and under the pointer."""

_DONE, _DROPPED = 0, 1
"""How an item ends."""


def kanata_lines(window: Lives, lives: Sequence[Life]) -> Iterator[str]:
    """Yield the lines of a file, each with its line end.

    An item of the viewer is a queue entry or a neighbour, a thread is a kernel. Dropped neighbours are flushed. What
    the window cuts ends with it. Arrows lead from a queue entry to its neighbours, and from a push to the entry that it
    became.

    Parameters
    ----------
    window : Lives
        What the lives are of.
    lives : sequence of Life
        Those to write, by their first cycle.
    """
    numbers = {id(life): number for number, life in enumerate(lives)}
    threads = {kernel: number for number, kernel in enumerate(window.kernels)}
    last = window.first + window.cycles
    commands: list[tuple[int, int, str]] = []

    def add(cycle: int, command: str, number: int, *values: object) -> None:
        text = "\t".join(str(value) for value in (command, number, *values))
        commands.append((cycle, _ORDER.index(command), text))

    # The viewer draws items that were retired in this order.
    ended = sorted(lives, key=lambda life: last if life.end is None else life.end)
    retired = {id(life): number for number, life in enumerate(life for life in ended if not life.fate.dropped)}
    for number, life in enumerate(lives):
        add(life.first, "I", number, number, threads[life.kernel])
        add(life.first, "L", number, _LEFT, _summary(life))
        for line in _details(life):
            add(life.first, "L", number, _HOVER, line + "\\n")
        for source in (life.parent, life.origin):
            if source is not None and id(source) in numbers:
                add(life.first, "W", number, numbers[id(source)], 0)
        for lane, spans in ((_MAIN, life.spans), (_ASIDE, life.aside)):
            for span in spans:
                add(span.first, "S", number, lane, span.stage.short)
                add(last if span.end is None else span.end, "E", number, lane, span.stage.short)
        end = last if life.end is None else life.end
        kind = _DROPPED if life.fate.dropped else _DONE
        add(end, "R", number, retired.get(id(life), 0), kind)
    commands.sort(key=lambda command: command[:2])

    yield "Kanata\t0004\n"
    now = commands[0][0] if commands else window.first
    yield f"C=\t{now}\n"
    for cycle, _, text in commands:
        if cycle > now:
            yield f"C\t{cycle - now}\n"
            now = cycle
        yield f"{text}\n"


def write_kanata(path: str, window: Lives, lives: Sequence[Life]) -> None:
    """Write lives to a file, or to standard output; whole or not at all.

    Raises
    ------
    InputError
        It could not be written.
    """
    with open_output(path) as file:
        file.writelines(line.encode() for line in kanata_lines(window, lives))


def _details(life: Life) -> Iterator[str]:
    """Yield what is shown of a life under the pointer."""
    for span in (*life.spans, *life.aside):
        yield f"{span.stage.short} {_cycles(span)}: {span.stage.meaning}" + _because(span)
    if life.reserved is not None:
        yield f"slot {'' if life.slot is None else f'{life.slot} '}reserved in cycle {life.reserved}"
    if life.end is None:
        yield "the window ends before it does"


def _cycles(span: Span) -> str:
    return f"{span.first}-{'' if span.end is None else span.end - 1}"


def _because(span: Span) -> str:
    reasons = _waits([span])
    return f" ({reasons})" if reasons else ""
