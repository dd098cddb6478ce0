"""Text for terminals: cycle stacks as bars of coloured letters, and tables; plain text where there are no colours."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from cyscc.host.output.text import HTML_TEXT_STYLE
from cyscc.host.record.colours import CAUSE_COLOURS, STACK, TERMINAL_COLOURS
from cyscc.sim.observation.causes import cause_named

__all__ = ["LETTERS", "Bar", "Cell", "Noted", "as_html", "as_text", "bar", "letter", "rendered", "section", "table"]

Cell: TypeAlias = "str | Text | Bar"
"""Types of a table's cells."""

LETTERS = {name: cause_named(name).letter for name in STACK}
"""Letter of each cause in a bar, in the order of a stack."""

_INDENT, _GAP = 2, 2
_LEAST_BAR, _LONGEST_BAR = 8, 40
_NARROWEST, _WIDEST = 40, 1000
"""Columns that a terminal is taken to have at least and at most, whatever COLUMNS says."""
_ROOM_FOR_NOTES = 100
"""Least columns of a table whose notes are in a column."""
_DARK = 110
"""Brightness (0 to 255) of a background below which its letter is white."""


_LIGHT_NAMES = {"white", "cyan", "yellow", "green", "magenta"} | {
    f"bright_{name}" for name in ("white", "cyan", "yellow", "green", "magenta", "red")
}
"""Colours of terminals on which a letter is black."""


def _on(cause: str) -> str:
    """Return the style of a cause's letter: black or white on the cause's colour."""
    colour = CAUSE_COLOURS[cause]
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return f"{'bright_white' if brightness < _DARK else 'black'} on {colour}"


def _on_few(cause: str) -> str:
    """Return the style of a cause's letter on a terminal of 16 colours."""
    colour = TERMINAL_COLOURS.get(cause)
    if colour is None:
        return _on(cause)
    return f"{'black' if colour in _LIGHT_NAMES else 'bright_white'} on {colour}"


def _theme(colours: str | None) -> Theme:
    """Return the styles of the causes on a terminal with this system of colours."""
    style = _on_few if colours == "standard" else _on
    return Theme({f"cause.{name}": style(name) for name in STACK})


def _style(cause: str) -> str:
    """Return the name of the style of a cause's letter."""
    return f"cause.{cause}"


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


class Noted:
    """A table with a note to each row: in a last column, or below the row on narrow terminals.

    Parameters
    ----------
    head : sequence of str
        Names of the columns, the last of which is that of the notes.
    rows : sequence of sequence of str, Text or Bar
        The cells; the last of a row is its note.
    """

    def __init__(self, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        self._head, self._rows = head, rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= _ROOM_FOR_NOTES:
            yield table(self._head, self._rows, last=True)
            return
        lines = console.render_lines(table(self._head[:-1], [row[:-1] for row in self._rows]), options, pad=False)
        notes = ("", *(row[-1] for row in self._rows))
        for line, note in zip(lines, notes, strict=True):
            yield Segments([*line, Segment.line()])
            if note:
                yield Padding(Text(str(note)), (0, 0, 0, 2 * _INDENT))


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
    console.push_theme(_theme(console.color_system))
    _print(console, parts)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def as_html(parts: Iterable[RenderableType], *, width: int) -> str:
    """Return a page as an HTML element with colours."""
    # In a notebook, a console would show the page by itself as well.
    console = Console(
        file=StringIO(),
        record=True,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )
    console.push_theme(_theme(None))
    _print(console, parts)
    return console.export_html(inline_styles=True, code_format=f'<pre style="{HTML_TEXT_STYLE}">{{code}}</pre>')


def _print(console: Console, parts: Iterable[RenderableType]) -> None:
    for part in parts:
        console.print(part, overflow="fold" if isinstance(part, Text) else None, soft_wrap=isinstance(part, str))
