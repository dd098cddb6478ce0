"""Lives of queue entries and neighbours from a waveform file: selection, vertex names, rows and Kanata text.

A graph word holds the offset in C of its vertex's neighbours and their number. A vertex with neighbours is the only one
with neighbours at its offset; a vertex without neighbours has the same offset as the next vertex.

Kanata text is the log format of the pipeline viewer Konata. Facts of the format (header, tab-separated commands, their
arguments) are from its documentation, https://github.com/shioyadan/Konata/blob/master/docs/kanata-log-format.md.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import open_output, reason
from cyscc.host.output.text import count_text
from cyscc.sim.hardware import DEGREE, START
from cyscc.sim.observation.life import Fate, Life, Lives, Span, Stage, read_lives
from cyscc.sim.observation.wave_reader import WaveFileError, WaveReader


class MissingLifeError(InputError):
    """A vertex without a life in the window. Takes the parameters of `InputError`."""


Vertices = npt.NDArray[np.int64]
"""Array of vertices, or of `_NONE` and `_SEVERAL`."""

_NONE = -1
"""Marker for a word that belongs to no vertex."""
_SEVERAL = -2
"""Marker for a word that may belong to several vertices."""


def chosen_lives(
    path: Path,
    *,
    of: Sequence[str] = (),
    first: int | None = None,
    option: str,
    name: Callable[[Lives], None] | None = None,
) -> tuple[Lives, list[Life]]:
    """Read the lives that begin in the window of a waveform file, and select some of them.

    Parameters
    ----------
    path : pathlib.Path
        A VCD or FST file with all signals of the kernels of interest.
    of, first
        See `select`.
    option : str
        The option that sets `of`, for messages.
    name : callable, optional
        Function that renames the vertices; `of` then refers to the new names.

    Raises
    ------
    InputError
        The file cannot be read, shows no waveforms, or lacks a signal; or nothing in it matches `of`.
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
        raise type(error)(f"{error.cause} ({option})", path=path) from None


def select(lives: Lives, *, of: Sequence[str] = (), first: int | None = None) -> list[Life]:
    """Return the selected lives of a window, in their order.

    Parameters
    ----------
    lives : Lives
        All lives of the window.
    of : sequence of str
        A number selects a vertex: its lives as neighbour and as queue entry, and the lives of that entry's neighbours.
        Any other text selects kernels: ``engine0.bfs3``, ``engine0`` for all of an AE, with the wildcards ``*``, ``?``
        and ``[]``. The result is the union of the selections; all lives if there are none.
    first : int, optional
        Most queue entries; of the neighbours only those of these entries remain.

    Raises
    ------
    InputError
        A pattern matches no kernel, or a vertex has no life in the window. The message quotes it.
    """
    chosen = [life for life in lives.lives if not of]
    if of:
        vertices, kernels = set(), set()
        for word in of:
            if word.isdecimal():
                vertices.add(int(word))
            else:
                kernels |= kernels_of(lives.kernels, word)
        chosen = [life for life in lives.lives if life.kernel in kernels or _is_of(life, vertices)]
        for vertex in sorted(vertices):
            if not any(life.vertex == vertex for life in chosen):
                raise MissingLifeError(f"nothing of vertex {vertex} begins in the window")
    if first is not None:
        kept = {id(life) for life in [life for life in chosen if not life.neighbour][:first]}
        chosen = [life for life in chosen if id(life.parent if life.neighbour else life) in kept]
    return chosen


def _is_of(life: Life, vertices: set[int]) -> bool:
    return life.vertex in vertices or (life.parent is not None and life.parent.vertex in vertices)


def kernels_of(kernels: Sequence[str], pattern: str) -> set[str]:
    """Return the kernels that a pattern selects.

    Raises
    ------
    InputError
        It selects none. The message quotes it.
    """
    found = {name for name in kernels if fnmatchcase(name, pattern) or fnmatchcase(name.partition(".")[0], pattern)}
    if not found:
        raise InputError(f"no kernel {pattern!r}: there are {kernels[0]} to {kernels[-1]}")
    return found


def vertices_of(starts: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> Vertices:
    """Return the vertex of each graph word: -1 for no vertex, -2 for one of several vertices without neighbours.

    Parameters
    ----------
    starts : ndarray of int64, shape (n + 1,)
        Offsets of the graph.
    words : ndarray of uint64
        Graph words; their visited flags do not matter.
    """
    start, degree = START.get(words).astype(np.int64), DEGREE.get(words).astype(np.int64)
    first = np.searchsorted(starts[:-1], start, side="left")
    end = np.searchsorted(starts[:-1], start, side="right")
    # Of the vertices with this offset only the last one may have neighbours.
    own = starts[end] - start
    there = end > first
    leaves = end - first - (own > 0)
    vertices = np.where(there & (own == degree), end - 1, _NONE)
    leaf = np.select([leaves == 1, leaves > 1], [first, np.full_like(first, _SEVERAL)], _NONE)
    return np.where(degree > 0, vertices, np.where(there, leaf, _NONE))


def directions_of(lives: Lives, graph: Graph) -> dict[int, list[Graph]]:
    """Return the graphs that the lives may be of, by the address of their graph words.

    Candidates are the graph and its transpose, each with and without duplicate edges; those that contradict a graph
    word are dropped.

    Raises
    ------
    InputError
        No candidate is left: the lives are of another graph.
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
    """Rename the vertices of lives to their names in the graph's file, and identify those that the signals lack.

    Parameters
    ----------
    lives : Lives
        The lives, with the machine's numbers as vertices.
    directions : mapping
        The candidate graphs, by the address of the graph words, see `directions_of`. A vertex that the signals lack is
        set if all candidates agree on it.
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
    """Return the vertex of each life according to a graph, see `vertices_of`; -2 also for an unknown vertex."""
    vertices = np.full(len(lives), _SEVERAL, np.int64)
    worded = [number for number, life in enumerate(lives) if life.word is not None]
    vertices[worded] = vertices_of(graph.offsets, np.array([lives[number].word for number in worded], np.uint64))
    # A neighbour's vertex is the one at its index in C, even if it was not read yet.
    below = np.array([number for number, life in enumerate(lives) if life.neighbour], np.int64)
    places = np.array([lives[number].index for number in below.tolist()], np.int64)
    there = places < graph.edges
    vertices[below[there]] = graph.targets[places[there]]
    vertices[below[~there]] = _NONE
    return vertices


def _fits(told: Vertices, lives: Sequence[Life]) -> bool:
    """Whether the vertices according to a graph agree with those in the signals."""
    known = np.array([_SEVERAL if life.vertex is None else life.vertex for life in lives], np.int64)
    return not ((told == _NONE) | ((told != known) & (told != _SEVERAL) & (known != _SEVERAL))).any()


def _alike(first: Vertices, others: Sequence[Vertices]) -> npt.NDArray[np.bool_]:
    """Return a mask of the positions at which all arrays are equal."""
    return np.logical_and.reduce([np.ones(len(first), np.bool_), *(first == other for other in others)])


def place_of_item(life: Life) -> str:
    """Return the location of a life's item: its place in a queue, or in the array C."""
    if not life.neighbour:
        return f"{life.queue}[{life.index}]"
    if life.parent is None:
        return f"C[{life.index}]"
    return f"queue[{life.parent.index}] > C[{life.index}]"


def _ending(life: Life) -> str:
    """Return the text of a life's end."""
    if life.fate is Fate.PUSHED:
        return f"pushed{' again' if life.again else ''} to slot {life.slot}"
    if life.fate is Fate.EXPANDED and life.word is not None:
        return f"expanded, {count_text(int(DEGREE.get(life.word)), 'neighbour')}"
    return life.fate.value


def waits_text(spans: list[Span]) -> str:
    """Return the cycles waited in some stages, by reason, in descending order."""
    total = Counter[str]()
    for span in spans:
        for wait, cycles in span.waits:
            total[wait.value] += cycles
    return ", ".join(f"{reason} {cycles}" for reason, cycles in total.most_common())


def _summary(life: Life) -> str:
    """Return one line on a life: kernel, item, vertex, end."""
    vertex = "" if life.vertex is None else f" vertex {life.vertex}"
    return f"{life.kernel} {place_of_item(life)}{vertex}: {_ending(life)}"


def ends_of(lives: Sequence[Life]) -> list[dict[str, Any]]:
    """Return the number of queue entries and of neighbours by their end, the most frequent first."""
    rows = []
    for name, neighbour in (("queue entries", False), ("neighbours", True)):
        fates = Counter(life.fate.value + " again" * life.again for life in lives if life.neighbour is neighbour)
        rows += [{"items": name, "ended": fate, "number": number} for fate, number in fates.most_common()]
    return rows


def times_of(lives: Sequence[Life]) -> list[dict[str, Any]]:
    """Return the time in each stage, without stages that the window cuts off."""
    every = [span for life in lives for span in (*life.spans, *life.aside) if span.end is not None]
    rows = []
    for stage in Stage:
        found = [span for span in every if span.stage is stage]
        lengths = [span.end - span.first for span in found if span.end is not None]
        if found:
            about = {"stage": stage.short, "item": stage.meaning, "items": len(found)}
            times = {"mean": sum(lengths) / len(lengths), "most": max(lengths), "waits": waits_text(found)}
            rows.append({**about, **times})
    return rows


def lines_of(lives: Sequence[Life]) -> list[dict[str, Any]]:
    """Return a row for each life, with the neighbours below their queue entry."""
    known = {id(life) for life in lives}
    below: dict[int, list[Life]] = {id(life): [life] for life in lives if id(life.parent) not in known}
    for life in lives:
        if id(life.parent) in known:
            below[id(life.parent)].append(life)
    return [
        {
            "from": life.first,
            "to": life.end,
            "kernel": life.kernel,
            "item": f"  C[{life.index}]" if life is not top else place_of_item(life),
            "vertex": life.vertex,
            "ended": _ending(life),
            "stages": " ".join(_span(span) for span in (*life.spans, *life.aside)),
        }
        for top, *others in below.values()
        for life in (top, *others)
    ]


def stages_of(lives: Sequence[Life]) -> list[dict[str, Any]]:
    """Return a row for each stage of each life; `cycles` are None if the window cuts it off."""
    return [
        {
            "item": number,
            "kernel": life.kernel,
            "place": place_of_item(life),
            "vertex": life.vertex,
            "ended": life.fate.value,
            "stage": span.stage.short,
            "about": span.stage.meaning,
            "cycle": span.first,
            "cycles": None if span.end is None else span.end - span.first,
            "waited": sum(cycles for _, cycles in span.waits),
            "waits": waits_text([span]),
        }
        for number, life in enumerate(lives)
        for span in (*life.spans, *life.aside)
    ]


def window_text(window: Lives, lives: Sequence[Life]) -> str:
    """Return cycles and kernels of a window in words, and the number of the selected lives."""
    neighbours = sum(life.neighbour for life in lives)
    return (
        f"cycles {window.first:,} to {window.first + window.cycles - 1:,}, "
        f"{count_text(len(window.kernels), 'kernel')}: {count_text(len(lives) - neighbours, 'queue entry')}, "
        f"{count_text(neighbours, 'neighbour')}"
    )


def _span(span: Span) -> str:
    """Return a stage with its cycles; without a length if the window cuts it off."""
    return f"{span.stage.short} {'..' if span.end is None else span.end - span.first}"


_ORDER = ("I", "L", "W", "E", "S", "R")
"""Order of the commands within a cycle: a stage ends before the next one begins."""

_MAIN, _ASIDE = 0, 1
"""Lanes of the viewer: the stages of a life, and its concurrent stages."""

_LEFT, _HOVER = 0, 1
"""Kinds of text: in the list of items, and on hover."""

_DONE, _DROPPED = 0, 1
"""Ends of an item: retired or flushed."""


def kanata_lines(window: Lives, lives: Sequence[Life]) -> Iterator[str]:
    """Yield the lines of a Kanata file, each with its line end.

    An item of the viewer is a queue entry or a neighbour; a thread is a kernel. Dropped neighbours are flushed. An
    item that is still alive at the end of the window ends there. Arrows lead from a queue entry to its neighbours,
    and from a push to the entry that it became.

    Parameters
    ----------
    window : Lives
        All lives of the window.
    lives : sequence of Life
        The selected ones, sorted by their first cycle.
    """
    numbers = {id(life): number for number, life in enumerate(lives)}
    threads = {kernel: number for number, kernel in enumerate(window.kernels)}
    last = window.first + window.cycles
    commands: list[tuple[int, int, str]] = []

    def add(cycle: int, command: str, number: int, *values: object) -> None:
        text = "\t".join(str(value) for value in (command, number, *values))
        commands.append((cycle, _ORDER.index(command), text))

    # The viewer draws items in the order in which they retire.
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
    """Write lives to a Kanata file or to standard output; a failed write leaves no file.

    Raises
    ------
    InputError
        The file could not be written.
    """
    with open_output(path) as file:
        file.writelines(line.encode() for line in kanata_lines(window, lives))


def _details(life: Life) -> Iterator[str]:
    """Yield the lines that are shown of a life on hover."""
    for span in (*life.spans, *life.aside):
        yield f"{span.stage.short} {_cycles(span)}: {span.stage.meaning}" + _because(span)
    if life.reserved is not None:
        yield f"slot {'' if life.slot is None else f'{life.slot} '}reserved in cycle {life.reserved}"
    if life.end is None:
        yield "the window ends before it does"


def _cycles(span: Span) -> str:
    return f"{span.first}-{'' if span.end is None else span.end - 1}"


def _because(span: Span) -> str:
    reasons = waits_text([span])
    return f" ({reasons})" if reasons else ""
