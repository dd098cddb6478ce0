"""Lives as Kanata text, the log format of the pipeline viewer Konata.

Facts of the format (header, tab-separated commands, their arguments) are from its documentation,
https://github.com/shioyadan/Konata/blob/master/docs/kanata-log-format.md.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from host.errors import InputError
from host.output import open_output
from host.words import counted
from sim.hardware import DEGREE
from sim.observation.life import Fate, Life, Lives, Span

__all__ = ["ending", "kanata_lines", "place", "select", "told", "waits", "write_kanata"]

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
        add(life.first, "L", number, _LEFT, told(life))
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
    reasons = waits([span])
    return f" ({reasons})" if reasons else ""


def place(life: Life) -> str:
    """Return what the item of a life is: its place in a queue, or the list that it is in."""
    if not life.neighbour:
        return f"{life.queue}[{life.index}]"
    if life.parent is None:
        return f"C[{life.index}]"
    return f"queue[{life.parent.index}] > C[{life.index}]"


def ending(life: Life) -> str:
    """Return how a life ended."""
    if life.fate is Fate.PUSHED:
        return f"pushed{' again' if life.again else ''} to slot {life.slot}"
    if life.fate is Fate.EXPANDED and life.word is not None:
        return f"expanded, {counted(int(DEGREE.get(life.word)), 'neighbour')}"
    return life.fate.value


def waits(spans: list[Span]) -> str:
    """Return how long was waited in some stages, by reason, the longest first."""
    total: dict[str, int] = {}
    for span in spans:
        for wait, cycles in span.waits:
            total[wait.value] = total.get(wait.value, 0) + cycles
    return ", ".join(f"{reason} {cycles}" for reason, cycles in sorted(total.items(), key=lambda each: -each[1]))


def told(life: Life) -> str:
    """Return a life in one line: its kernel, what it is, its vertex, how it ended."""
    vertex = "" if life.vertex is None else f" vertex {life.vertex}"
    return f"{life.kernel} {place(life)}{vertex}: {ending(life)}"


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
