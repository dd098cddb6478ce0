"""Tables of the tests' own programs, for terminals."""

from collections.abc import Sequence


def plain_table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), words: int = 1) -> str:
    """Return rows as columns, two spaces apart; the first `words` columns are texts, the others numbers."""
    lines = [head, *rows] if head else rows
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [
            f"{cell:<{width}}" if place < words else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in padded)
