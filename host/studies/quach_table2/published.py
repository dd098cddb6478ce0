"""What the text measured (Quach, Abuzaid and Chen 2012, table 2), on a Core 2 Duo and a GeForce GTX 560 Ti."""

from typing import NamedTuple

__all__ = ["TABLE2", "Row"]


class Row(NamedTuple):
    """A row of the table: a graph, and times in whole milliseconds, averages of five runs."""

    vertices: int
    edges: int
    tarjan: int
    """The text's C++ (ms)."""
    quach: int
    """Its "Parallelized CUDA", all in all (ms)."""
    ratio: float
    """As it is printed; the text divides times before they are rounded."""
    prune: int
    """Of the CUDA time the pruning (ms)."""


TABLE2 = (
    Row(100, 100, 0, 167, 0.00, 0),
    Row(100, 130, 3, 189, 0.02, 0),
    Row(100, 200, 1, 204, 0.00, 0),
    Row(1_000, 2_000, 8, 175, 0.05, 0),
    Row(10_000, 1_000, 131, 145, 0.90, 4),
    Row(10_000, 5_000, 152, 176, 0.86, 6),
    Row(10_000, 10_000, 150, 233, 0.64, 2),
    Row(10_000, 100_000, 22, 194, 0.11, 5),
    Row(10_000, 1_000_000, 32, 230, 0.14, 15),
    Row(100_000, 1_000, 1189, 197, 6.04, 9),
    Row(100_000, 5_000, 1225, 167, 7.34, 4),
    Row(100_000, 10_000, 932, 154, 6.05, 1),
    Row(100_000, 100_000, 1170, 280, 4.18, 44),
    Row(100_000, 1_000_000, 267, 512, 0.52, 14),
    Row(1_000_000, 1_000, 11694, 298, 39.24, 23),
    Row(1_000_000, 5_000, 10199, 246, 41.46, 18),
    Row(1_000_000, 10_000, 10218, 258, 39.60, 19),
    Row(1_000_000, 100_000, 8880, 345, 25.74, 43),
    Row(1_000_000, 1_000_000, 12589, 1300, 9.68, 510),
    Row(1_000_000, 2_000_000, 6504, 2948, 2.21, 243),
    Row(1_000_000, 3_000_000, 3926, 3240, 1.21, 153),
)
"""All rows."""
