"""Text for terminals: causes as letters with colours, bars of them, tables; the same without colours elsewhere."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from host.record.colours import CAUSE_COLOURS, STACK
from sim.observation.causes import cause_named

__all__ = ["LETTERS", "Bar", "Cell", "as_html", "as_text", "bar", "letter", "rendered", "section", "table"]

Cell: TypeAlias = "str | Text | Bar"
"""What a table can hold."""

LETTERS = {name: cause_named(name).letter for name in STACK}
"""The letter that stands for a cause in a bar, in the order of a stack."""

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


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], *, words: int = 1, last: bool = False) -> Table:
    """Return a table.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of sequence of str, Text or Bar
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
        made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return made


class Bar:
    """A stack as a bar that is as long as its column.

    Parameters
    ----------
    stack : mapping of str to float
        Cycles by cause.
    """

    def __init__(self, stack: Mapping[str, float]) -> None:
        self._stack = stack

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_LEAST_BAR, max(_LEAST_BAR, min(_LONGEST_BAR, options.max_width)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield bar(self._stack, min(_LONGEST_BAR, options.max_width))


def section(title: str, *parts: RenderableType) -> list[RenderableType]:
    """Return a part of a page: an empty line, its title, what it shows."""
    return [Text(""), Text(title, style="bold"), *(Padding(part, (0, 0, 0, _INDENT)) for part in parts)]


def terminal_width() -> int:
    """Return the columns that there are; 120 where standard output is no terminal and nobody set COLUMNS."""
    return max(40, shutil.get_terminal_size(fallback=(120, 24)).columns)


def rendered(parts: Iterable[RenderableType]) -> str:
    """Return a page for standard output: as wide as the terminal, with colours only where it is one that has them."""
    shown = sys.stdout is not None and sys.stdout.isatty()
    return as_text(parts, width=terminal_width(), colours=shown)


def as_text(parts: Iterable[RenderableType], *, width: int, colours: bool = False) -> str:
    """Return a page as text."""
    file = StringIO()
    console = Console(file=file, force_terminal=colours, width=width, highlight=False, markup=False, emoji=False)
    _print(console, parts)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def as_html(parts: Iterable[RenderableType], *, width: int) -> str:
    """Return a page as an HTML element, in colours."""
    console = Console(file=StringIO(), record=True, width=width, highlight=False, markup=False, emoji=False)
    _print(console, parts)
    style = "line-height: 1.3; overflow-x: auto"
    return console.export_html(inline_styles=True, code_format=f'<pre style="{style}">{{code}}</pre>')


def _print(console: Console, parts: Iterable[RenderableType]) -> None:
    for part in parts:
        console.print(part, overflow="fold" if isinstance(part, Text) else None)
