"""Text for terminals: cycle stacks as bars of coloured letters, and tables; plain text where there are no colours."""

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

from cyscc.host.record.colours import CAUSE_COLOURS, STACK
from cyscc.sim.observation.causes import cause_named

__all__ = ["LETTERS", "Bar", "Cell", "as_html", "as_text", "bar", "letter", "rendered", "section", "table"]

Cell: TypeAlias = "str | Text | Bar"
"""Types of a table's cells."""

LETTERS = {name: cause_named(name).letter for name in STACK}
"""Letter of each cause in a bar, in the order of a stack."""

_INDENT, _GAP = 2, 2
_LEAST_BAR, _LONGEST_BAR = 8, 40
_NARROWEST, _WIDEST = 40, 1000
"""Columns that a terminal is taken to have at least and at most, whatever COLUMNS says."""
_DARK = 110
"""Brightness (0 to 255) of a background below which its letter is white."""


def _style(cause: str) -> str:
    """Return the style of a cause's letter: black or white on the cause's colour."""
    colour = CAUSE_COLOURS[cause]
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return f"{'white' if brightness < _DARK else 'black'} on {colour}"


def letter(cause: str) -> Text:
    """Return a cause's letter, in its colours."""
    return Text(LETTERS[cause], style=_style(cause))


def bar(stack: Mapping[str, float], width: int) -> Text:
    """Return a stack as a bar of `width` letters; causes with a share below 1 / `width` may be missing."""
    total = sum(stack.values())
    text = Text(no_wrap=True)
    if total <= 0:
        return text
    # Round the ends, not the lengths, so that the lengths add up to the width.
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
        Number of left-aligned text columns at the left; the others are numbers.
    last : bool
        Whether the last column is text too; it wraps on narrow terminals.
    """
    made = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for place, name in enumerate(head):
        left = place < words or (last and place == len(head) - 1)
        # On a narrow terminal the last column wraps; numbers are never cut.
        wraps = last and place == len(head) - 1
        made.add_column(name, justify="left" if left else "right", no_wrap=not wraps, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return made


class Bar:
    """A stack drawn as a bar over the width of its column.

    Parameters
    ----------
    stack : mapping of str to float
        Cycles by cause.
    longest : int, optional
        Its most columns.
    """

    def __init__(self, stack: Mapping[str, float], *, longest: int | None = None) -> None:
        self._stack = stack
        self._longest = _LONGEST_BAR if longest is None else longest

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_LEAST_BAR, max(_LEAST_BAR, min(self._longest, options.max_width)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield bar(self._stack, min(self._longest, options.max_width))


def section(title: str, *parts: RenderableType) -> list[RenderableType]:
    """Return a section of a page: an empty line, the title and its parts."""
    return [Text(""), Text(title, style="bold"), *(Padding(part, (0, 0, 0, _INDENT)) for part in parts)]


def terminal_width() -> int:
    """Return the terminal's width in columns; 120 if standard output is no terminal and COLUMNS is not set."""
    return min(max(_NARROWEST, shutil.get_terminal_size(fallback=(120, 24)).columns), _WIDEST)


def rendered(parts: Iterable[RenderableType]) -> str:
    """Return a page as text for standard output, in the terminal's width; coloured if the terminal has colours.

    Parts that are strings keep their lines, however long they are.
    """
    shown = sys.stdout is not None and sys.stdout.isatty()
    return as_text(parts, width=terminal_width(), colours=shown)


def as_text(parts: Iterable[RenderableType], *, width: int, colours: bool = False) -> str:
    """Return a page as text."""
    file = StringIO()
    console = Console(file=file, force_terminal=colours, width=width, highlight=False, markup=False, emoji=False)
    _print(console, parts)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def as_html(parts: Iterable[RenderableType], *, width: int) -> str:
    """Return a page as an HTML element with colours."""
    console = Console(file=StringIO(), record=True, width=width, highlight=False, markup=False, emoji=False)
    _print(console, parts)
    style = "line-height: 1.3; overflow-x: auto"
    return console.export_html(inline_styles=True, code_format=f'<pre style="{style}">{{code}}</pre>')


def _print(console: Console, parts: Iterable[RenderableType]) -> None:
    for part in parts:
        console.print(part, overflow="fold" if isinstance(part, Text) else None, soft_wrap=isinstance(part, str))
