"""Lives as text: one in a line, and for a terminal what became of the items, and where their time went."""

from collections import Counter
from collections.abc import Sequence

from host.results.table_text import plain_table
from host.words import counted
from sim.hardware import DEGREE
from sim.observation.life import Fate, Life, Lives, Span, Stage

__all__ = ["life_text", "told", "waits"]


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
            rows.append((stage.short, stage.meaning, f"{len(found):,}", mean, f"{max(lengths):,}", waits(found)))
    head = ("stage", "the item", "items", "mean cycles", "most", "cycles waited for")
    return _left_last(rows, head)


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
    text = _left_last(rows, ("from", "to", "kernel", "item", "vertex", "ended", "stages"), left=(2, 3, 5))
    left = len(ordered) - len(rows)
    return text + (f"... and {left:,} more\n" if left else "")


def _span(span: Span) -> str:
    """Return a stage and its cycles; those of one that the window cuts are not known."""
    return f"{span.stage.short} {'..' if span.end is None else span.end - span.first}"


def _left_last(rows: Sequence[Sequence[str]], head: Sequence[str], *, left: Sequence[int] = (0, 1)) -> str:
    """Return a table some of whose columns, and the last, go to the left."""
    for column in (*left, len(head) - 1):
        width = max(len(row[column]) for row in (head, *rows))
        rows = [(*row[:column], row[column].ljust(width), *row[column + 1 :]) for row in rows]
        head = (*head[:column], head[column].ljust(width), *head[column + 1 :])
    return plain_table(rows, head=head, words=0)
