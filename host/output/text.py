"""Text of all commands: numbers with their nouns and units, and tables, plain for terminals, Markdown for reports."""

from collections.abc import Iterable, Sequence
from html import escape
from string import Formatter
from typing import Any

from cyscc.sim.notices import printable

__all__ = [
    "HTML_TEXT_STYLE",
    "bytes_text",
    "column_table",
    "count_text",
    "device_text",
    "graph_text",
    "html_table",
    "html_text",
    "largest_text",
    "markdown_table",
    "model_text",
    "plain_table",
]

HTML_TEXT_STYLE = "font-family: monospace; line-height: 1.3; overflow-x: auto"
"""Style of lines of text in notebooks; some viewers show them in a proportional font otherwise."""

_PLURALS = {"vertex": "vertices", "entry": "entries"}
_UNITS = ("kB", "MB", "GB", "TB", "PB")


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun, as in ``1 edge`` or ``2,000 edges``."""
    singular, plural = next((each for each in _PLURALS.items() if noun.endswith(each[0])), ("", "s"))
    return f"{number:,} {noun if number == 1 else noun.removesuffix(singular) + plural}"


def device_text(device: str, threads: int) -> str:
    """Return the place of execution: ``2 threads`` on the processor, or the name of another device."""
    return count_text(threads, "thread") if device == "cpu" else device


def bytes_text(number: int) -> str:
    """Return a number of bytes in a suitable unit: ``0.5 kB``, ``12.0 MB``, ``3.4 GB``."""
    size, unit = number / 1000, 0
    while size >= 999.95 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:,.1f} {_UNITS[unit]}"


def plain_table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), words: int | Sequence[int] = 1) -> str:
    """Return rows as plain-text columns, two spaces apart; the same on a terminal and elsewhere.

    Parameters
    ----------
    rows : sequence of sequence of str
        The cells, shown unchanged.
    head : sequence of str, optional
        Heads of the columns.
    words : int or sequence of int
        Left-aligned text columns: their number, counted from the first, or their indices. The others are
        right-aligned numbers.
    """
    return _table(head, rows, words, "plain")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """Return a Markdown table, aligned in its source too. The parameters are those of `plain_table`."""
    return _table(head, rows, words, "pipe")


def html_table(rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), words: int = 1) -> str:
    """Return a table as HTML for notebooks, in the colours of its surroundings.

    Parameters
    ----------
    rows : iterable of sequence of str
        The cells.
    head : sequence of str, optional
        Heads of the columns.
    words : int
        Left-aligned text columns, counted from the first; the others are numbers.
    """
    sides = ("left", "right")

    def row(cells: Sequence[str], tag: str) -> str:
        made = (
            f'<{tag} style="text-align: {sides[place >= words]}">{escape(cell)}</{tag}>'
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    top = f"<thead>{row(head, 'th')}</thead>" if head else ""
    return f"<table>{top}<tbody>{body}</tbody></table>"


def html_text(text: str) -> str:
    """Return lines of text as HTML for notebooks, which keep their columns."""
    return f'<pre style="{HTML_TEXT_STYLE}">{escape(text)}</pre>'


class _Cells(Formatter):
    """Formatter of a row, whose keys or indices are the format's field names; None becomes a given text."""

    def __init__(self, none: str) -> None:
        self._none = none

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        """Return the row's value of a key or index."""
        return args[0][key]

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format a value, or the text for None."""
        return self._none if value is None else format(value, format_spec)


def column_table(
    columns: Iterable[tuple[str, str]],
    rows: Iterable[Any],
    *,
    words: int | Sequence[int] = 1,
    none: str = "–",
    plain: bool = False,
) -> str:
    """Return a table of documents' fields.

    Parameters
    ----------
    columns : iterable of (str, str)
        Head of each column, and format of its cells: ``{paper[ratio]:.2f}`` if a row is a document,
        ``{0[ratio]:.2f}`` if it is a sequence of documents.
    rows : iterable of mapping or sequence
        The rows.
    words : int or sequence of int
        See `plain_table`.
    none : str
        Text for a field that is None.
    plain : bool
        Whether to return plain text, as `plain_table` does, and not Markdown.
    """
    head, forms = zip(*columns, strict=True)
    cells = _Cells(none)
    rows = [[cells.vformat(form, (row,), {}) for form in forms] for row in rows]
    return _table(head, rows, words, "plain" if plain else "pipe")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int | Sequence[int], form: str) -> str:
    import tabulate

    tabulate.MIN_PADDING = 0  # no column is wider than its contents
    columns = len(head or rows[0])
    left = range(words) if isinstance(words, int) else words
    sides = ["left" if column in left else "right" for column in range(columns)]
    text = tabulate.tabulate(
        rows, headers=head, tablefmt=form, colalign=sides, disable_numparse=True, preserve_whitespace=True
    )
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def graph_text(name: str, vertices: int, edges: int) -> str:
    """Return a graph's name and size."""
    return f"{printable(name)}: {count_text(vertices, 'vertex')}, {count_text(edges, 'edge')}"


def model_text(name: str, states: int, choices: int, transitions: int) -> str:
    """Return the name and the size of a Markov decision process."""
    sizes = count_text(states, "state"), count_text(choices, "choice"), count_text(transitions, "transition")
    return f"{printable(name)}: {', '.join(sizes)}"


def largest_text(components: int, largest: int) -> str:
    """Return the number of components and the size of the largest."""
    return f"{components:,}, the largest of {count_text(largest, 'vertex')}"
