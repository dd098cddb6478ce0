"""Markdown tables."""

from collections.abc import Iterable, Sequence

__all__ = ["table"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, its columns aligned also in the text.

    Parameters
    ----------
    head : sequence of str
        The first row. The first column is aligned to the left, the others to the right.
    rows : iterable of sequences of str
        The others, of as many cells.
    """
    cells = [tuple(head), *map(tuple, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        first, *others = (
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("| " + " | ".join([first, *others]) + " |")
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines) + "\n"
