"""Lives as Kanata text, the log format of the pipeline viewer Konata.

Facts of the format (header, tab-separated commands, their arguments) are from its documentation,
https://github.com/shioyadan/Konata/blob/master/docs/kanata-log-format.md.
"""

from collections.abc import Iterator, Sequence

from host.life.text import told, waits
from host.output import open_output
from sim.observation.life import Life, Lives, Span

__all__ = ["kanata_lines", "write_kanata"]

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
