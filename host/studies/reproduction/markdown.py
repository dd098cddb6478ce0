"""Markdown tables."""

from collections.abc import Sequence

__all__ = ["table"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns are aligned also in the text, numbers to the right.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        The cells.
    """
    widths = [max(3, *(len(row[column]) for row in (head, *rows))) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(text.rjust(width) for text, width in zip(cells, widths, strict=True)) + " |\n"

    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|\n"
    return line(head) + rule + "".join(line(row) for row in rows)
