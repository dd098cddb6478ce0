"""What Li, Zhu, Cong and Yang measured (Journal of Systems Architecture, 2013), on a GeForce GTX 480."""

from typing import NamedTuple

__all__ = ["FIGURE2", "FIGURE3", "MILLION", "TABLE2", "VERTICES", "Row", "row_of"]

VERTICES = 100_000
"""Of the graphs of figures 2 and 3."""

FIGURE2 = {
    0: (100_000, 203),
    1: (50_485, 187),
    2: (16_330, 159),
    3: (5_545, 141),
    4: (1_925, 119),
    5: (715, 93),
    6: (233, 69),
}
"""Recursion depth by average degree of random graphs: with single sources alone, and with Partition."""

FIGURE3 = {100: 7295, 1000: 1195, 5000: 315, 8000: 217, 10_000: 187}
"""Recursion depth by the number of Partition's sources, random graphs of average degree 1."""

MILLION = 1 << 20
"""Vertices that stand for the text's million: R-MAT graphs have a power of two of them here."""


class Row(NamedTuple):
    """A row of table 2.

    Parameters
    ----------
    milliseconds, tarjan : float
        Time of the text's algorithm, and of Tarjan's on a Core i7 2600K.
    depth : int
        Recursion depth.
    """

    milliseconds: float
    depth: int
    tarjan: float


TABLE2 = {
    ("random", 12): (Row(13, 9, 432), Row(24, 17, 980), Row(38, 23, 1560)),
    ("rmat", 12): (Row(35, 560, 295), Row(66, 1020, 647), Row(102, 1440, 975)),
    ("ssca2", 30): (Row(24, 86, 261), Row(46, 150, 583), Row(74, 215, 890)),
}
"""Rows of one, two and three million vertices, by kind of graph and average degree."""


def row_of(kind: str, degree: int, vertices: int) -> Row | None:
    """Return the row of the nearest graph of the text, None where there is none of about this size."""
    millions, rest = divmod(vertices, MILLION)
    rows = TABLE2[kind, degree]
    return rows[millions - 1] if not rest and 1 <= millions <= len(rows) else None
