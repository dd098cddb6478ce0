"""Points of a document put together by what they have in common."""

from collections.abc import Iterable
from typing import Any

__all__ = ["Point", "grouped"]

Point = dict[str, Any]
"""A point of a figure, or a cell of a table, as it is in the document."""


def grouped(points: Iterable[Point], *names: str) -> dict[tuple[Any, ...], list[Point]]:
    """Return the points by the values of these fields, groups and points in the order in which they come."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(point[name] for name in names), []).append(point)
    return groups
