"""Tables of the tests' own programs: plain for terminals, Markdown for reports."""

from collections.abc import Sequence

__all__ = ["markdown_table", "plain_table"]


def plain_table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), words: int = 1) -> str:
    """Return rows as columns, two spaces apart; the first `words` columns are texts, the others numbers."""
    lines = _padded([head, *rows] if head else rows, words)
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in lines)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """Return a Markdown table, aligned in its source too. The parameters are those of `plain_table`."""
    first, *others = _padded([head, *rows], words)
    rule = [
        ":" + "-" * (len(cell) - 1) if place < words else "-" * (len(cell) - 1) + ":"
        for place, cell in enumerate(first)
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in (first, rule, *others))


def _padded(rows: Sequence[Sequence[str]], words: int) -> list[list[str]]:
    """Return cells as wide as their columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [
            f"{cell:<{width}}" if place < words else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
