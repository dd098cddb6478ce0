"""Text for terminals: causes as letters with colours, bars of them, tables; the same without colours elsewhere."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from host.record.colours import CAUSE_COLOURS, STACK

__all__ = ["LETTERS", "bar", "letter", "rendered", "section", "stack_table", "table"]

LETTERS = {
    "issue_1": "1",
    "issue_2": "2",
    "issue_3": "3",
    "write": "w",
    "resting": "-",
    "response": "r",
    "credit": "c",
    "refused": "x",
    "slot": "s",
    "flush": "f",
    "no_work": ".",
    "ending": ">",
    "starting": "<",
    "host": "h",
    "not_running": "_",
    "restarted": "!",
}
"""The letter that stands for a cause in a bar."""

_INDENT, _GAP = 2, 2
_LEAST_BAR, _LONGEST_BAR = 8, 40
_DARK = 110
"""Brightness, of 255, below which a letter is white."""


def _style(cause: str) -> str:
    """Return the colours of a cause's letter: the cause's own below, black or white."""
    colour = CAUSE_COLOURS[cause]
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return f"{'white' if brightness < _DARK else 'black'} on {colour}"


def letter(cause: str) -> Text:
    """Return a cause's letter, in its colours."""
    return Text(LETTERS[cause], style=_style(cause))


def bar(stack: Mapping[str, float], width: int) -> Text:
    """Return a stack as letters, one for each share of a `width`-th; what is less may be left out."""
    total = sum(stack.values())
    text = Text(no_wrap=True)
    if total <= 0:
        return text
    # Ends are rounded, not lengths: they add up to the width.
    end, done = 0.0, 0
    for cause in STACK:
        end += stack.get(cause, 0.0) * width / total
        text.append(LETTERS[cause] * (round(end) - done), style=_style(cause))
        done = round(end)
    return text


def table(head: Sequence[str], rows: Iterable[Sequence[str | Text]], *, words: int = 1, last: bool = False) -> Table:
    """Return a table.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of sequence of str or Text
        The cells.
    words : int
        Columns, from the first on, that go to the left; the others are numbers.
    last : bool
        Whether the last column is words too; it takes further lines where the terminal is narrow.
    """
    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for place, name in enumerate(head):
        left = place < words or (last and place == len(head) - 1)
        # Where it is too narrow the last column takes further lines; numbers are never cut.
        wraps = last and place == len(head) - 1
        made.add_column(name, justify="left" if left else "right", no_wrap=not wraps, overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return made


def stack_table(head: Sequence[str], rows: Sequence[tuple[Sequence[str], Mapping[str, float]]], *, words: int) -> Table:
    """Return a table with a bar at the end of each row, as long as there is room.

    Parameters
    ----------
    head : sequence of str
        Names of the columns but the bar's.
    rows : sequence of (sequence of str, mapping)
        The cells, and the stack.
    words : int
        See `table`.
    """
    widths = [max(len(name), *(len(cells[place]) for cells, _ in rows)) for place, name in enumerate(head)]
    room = terminal_width() - _INDENT - sum(widths) - _GAP * len(widths)
    width = min(max(room, _LEAST_BAR), _LONGEST_BAR)
    return table([*head, "stack"], ([*cells, bar(stack, width)] for cells, stack in rows), words=words, last=True)


def section(title: str, *parts: RenderableType) -> list[RenderableType]:
    """Return a part of a page: an empty line, its title, what it shows."""
    return [Text(""), Text(title, style="bold"), *(Padding(part, (0, 0, 0, _INDENT)) for part in parts)]


def terminal_width() -> int:
    """Return the columns that there are; 120 where standard output is no terminal and nobody set COLUMNS."""
    return max(40, shutil.get_terminal_size(fallback=(120, 24)).columns)


def rendered(parts: Iterable[RenderableType]) -> str:
    """Return a page as text, with colours only where standard output is a terminal that has them."""
    file = StringIO()
    shown = sys.stdout is not None and sys.stdout.isatty()
    console = Console(
        file=file, force_terminal=shown, width=terminal_width(), highlight=False, markup=False, emoji=False
    )
    for part in parts:
        console.print(part, overflow="fold" if isinstance(part, Text) else None)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())
