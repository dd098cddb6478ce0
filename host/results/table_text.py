"""The one writer of tables as text: plain ones for terminals, Markdown for reports."""

from collections.abc import Iterable, Sequence
from string import Formatter
from typing import Any

import tabulate

from host.words import counted
from sim.notices import printable

__all__ = ["column_table", "graph_text", "largest_text", "markdown_table", "model_text", "plain_table"]

# Columns are no wider than what is in them.
tabulate.MIN_PADDING = 0


def plain_table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), words: int | Sequence[int] = 1) -> str:
    """Return rows as columns of one width each, two spaces apart; the same on a terminal and elsewhere.

    Parameters
    ----------
    rows : sequence of sequence of str
        The cells, shown as they are.
    head : sequence of str, optional
        Names of the columns.
    words : int or sequence of int
        Columns, from the first on or these, that are words and go to the left; the others are numbers and go to the
        right.
    """
    return _table(head, rows, words, "plain")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """Return a Markdown table, its columns aligned also in the text. The parameters are those of `plain_table`."""
    return _table(head, rows, words, "pipe")


class _Cells(Formatter):
    """Formats a row, whose fields and items are the names in formats; nothing is shown as a text."""

    def __init__(self, none: str) -> None:
        self._none = none

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        """Return a field or an item of the row."""
        return args[0][key]

    def format_field(self, value: Any, format_spec: str) -> str:
        """Format a value."""
        return self._none if value is None else format(value, format_spec)


def column_table(
    columns: Iterable[tuple[str, str]], rows: Iterable[Any], *, words: int = 1, none: str = "–", plain: bool = False
) -> str:
    """Return a table of documents.

    Parameters
    ----------
    columns : iterable of (str, str)
        Name of each column, and format of its cells: ``{paper[ratio]:.2f}`` of a row that is a document,
        ``{0[ratio]:.2f}`` of one that is several.
    rows : iterable of mapping or sequence
        The rows.
    words : int
        As of `plain_table`.
    none : str
        Shown for a field that is None.
    plain : bool
        Whether it is as of `plain_table`, and not Markdown.
    """
    head, forms = zip(*columns, strict=True)
    cells = _Cells(none)
    rows = [[cells.vformat(form, (row,), {}) for form in forms] for row in rows]
    return _table(head, rows, words, "plain" if plain else "pipe")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int | Sequence[int], form: str) -> str:
    columns = len(head or rows[0])
    left = range(words) if isinstance(words, int) else words
    sides = ["left" if column in left else "right" for column in range(columns)]
    text = tabulate.tabulate(
        rows, headers=head, tablefmt=form, colalign=sides, disable_numparse=True, preserve_whitespace=True
    )
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def graph_text(name: str, vertices: int, edges: int) -> str:
    """Return a graph's name and size."""
    return f"{printable(name)}: {counted(vertices, 'vertex', 'vertices')}, {counted(edges, 'edge')}"


def model_text(name: str, states: int, choices: int, transitions: int) -> str:
    """Return the name and the size of a Markov decision process."""
    sizes = counted(states, "state"), counted(choices, "choice"), counted(transitions, "transition")
    return f"{printable(name)}: {', '.join(sizes)}"


def largest_text(components: int, largest: int) -> str:
    """Return the number of components and the size of the largest."""
    return f"{components:,}, the largest of {counted(largest, 'vertex', 'vertices')}"
