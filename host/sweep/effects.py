"""What each parameter of a sweep does while the others stay as they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from typing import Any

from host.sweep.rows import DONE, Row
from host.sweep.study import value_text

__all__ = ["Effect", "Series", "effects", "pareto"]


@dataclass(frozen=True, kw_only=True)
class Series:
    """The points that differ in one parameter alone.

    Parameters
    ----------
    others : str
        The other parameters that vary, as people read them.
    values : tuple
        Values of the parameter.
    rows : tuple of Row
        The point of each.
    """

    others: str
    values: tuple[Any, ...]
    rows: tuple[Row, ...]

    @property
    def cycles(self) -> list[int]:
        """Cycles of each point."""
        return [row["cycles"] for row in self.rows]


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a parameter does.

    Parameters
    ----------
    name : str
        The parameter.
    series : tuple of Series
        Those of two and more points.
    """

    name: str
    series: tuple[Series, ...]

    @property
    def factor(self) -> float:
        """How many times the cycles of its best value those of its worst are, on geometric average; 1: no effect."""
        factors = [log(max(each.cycles) / max(min(each.cycles), 1)) for each in self.series if min(each.cycles) > 0]
        return exp(fsum(factors) / len(factors)) if factors else 1.0

    @property
    def best(self) -> Any:
        """The value with the fewest cycles, on geometric average, of those that all series have; the first of equals.

        None where there is no such value.
        """
        shared = [value for value in self.series[0].values if all(value in each.values for each in self.series)]
        sums = [
            fsum(log(max(each.rows[each.values.index(value)]["cycles"], 1)) for each in self.series) for value in shared
        ]
        return shared[sums.index(min(sums))] if shared else None


def effects(axes: Iterable[str], rows: Sequence[Row]) -> list[Effect]:
    """Return the effect of each parameter, the greatest first.

    Parameters
    ----------
    axes : iterable of str
        The parameters that vary.
    rows : sequence of Row
        The points; those that failed are left out.
    """
    names = list(axes)
    done = [row for row in rows if row["status"] == DONE]
    found = []
    for name in names:
        others = [other for other in names if other != name]
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in done:
            groups.setdefault(tuple(value_text(row[other]) for other in others), []).append(row)
        series = tuple(
            Series(
                others=", ".join(f"{other}={value}" for other, value in zip(others, key, strict=True)),
                values=tuple(row[name] for row in group),
                rows=tuple(group),
            )
            for key, group in groups.items()
            if len(group) > 1
        )
        if series:
            found.append(Effect(name=name, series=series))
    return sorted(found, key=lambda effect: -effect.factor)


def pareto(rows: Sequence[Row], column: str) -> list[Row]:
    """Return the points that no other one beats: none has fewer cycles and takes no more, or takes less in no more.

    Parameters
    ----------
    rows : sequence of Row
        The points, with cycles and the column.
    column : str
        What they take.

    Returns
    -------
    list of Row
        With ascending cycles; of equal points the first.
    """
    front: list[Row] = []
    for row in sorted(rows, key=lambda row: (row["cycles"], row[column])):
        if not front or row[column] < front[-1][column]:
            front.append(row)
    return front
