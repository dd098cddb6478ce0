"""Ranges of values, and the options of a search, as a study has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from cyscc.host.experiments.fpga.area import AREA, families_of
from cyscc.host.specification.numbers import checked_number

__all__ = ["CYCLES", "MEASURES", "SearchOptions", "range_values", "search_options"]

CYCLES = "cycles"

MEASURES = (CYCLES, *AREA)
"""Results of a point that a search minimises or keeps within a budget: cycles, and the area of all AEs."""

_MOST_POINTS = 100_000
_MOST_BATCH = 1000
_MOST_VALUES = 10_000
"""Most values of a range."""
_RANGE = ("from", "to", "step", "times")
_OPTIONS = ("points", "minimise", "budget", "seed", "batch")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of a search.

    Parameters
    ----------
    points : int
        Number of points.
    minimise : tuple of str
        Results to minimise, of `MEASURES`; with several, the search is for their Pareto front.
    budget : dict of str to int
        Most of each result, of `MEASURES`.
    seed : int
        Seed of the sampler.
    batch : int
        Number of points that are chosen at once, on the results of those before. It is part of the study, so that the
        points do not depend on the number of processes.
    """

    points: int
    minimise: tuple[str, ...] = (CYCLES,)
    budget: Mapping[str, int]
    seed: int = 0
    batch: int = 8

    @property
    def families(self) -> tuple[str, ...]:
        """The FPGA families on whose area the search depends."""
        return families_of((*self.minimise, *self.budget))

    def within(self, row: Mapping[str, Any]) -> bool:
        """Whether a point with results is within the budget."""
        return all(row[name] <= most for name, most in self.budget.items())

    def text(self) -> str:
        """Return the aim in words: ``least cycles with luts <= 200,000``."""
        budget = " and ".join(f"{name} <= {most:,}" for name, most in self.budget.items())
        return f"least {' and '.join(self.minimise)}{f' with {budget}' if budget else ''}"


def search_options(value: Any) -> SearchOptions:
    """Return the options of a search: a table, or its number of points.

    Raises
    ------
    ValueError
        They are invalid. One line.
    """
    table = value if isinstance(value, dict) else {"points": value}
    for name in table:
        if name not in _OPTIONS:
            raise ValueError(f"search: unknown option {name!r}: there are {', '.join(_OPTIONS)}")
    if "points" not in table:
        raise ValueError("search: points is missing: how many of them to choose")
    minimise = table.get("minimise", CYCLES)
    names = [minimise] if isinstance(minimise, str) else minimise
    if not isinstance(names, list) or not names or len(set(map(str, names))) < len(names):
        raise ValueError(f"search: minimise must be a result or a list of different ones, not {minimise!r}")
    budget = table.get("budget", {})
    if not isinstance(budget, dict):
        raise ValueError(f"search: budget must be a table, not {budget!r}")
    for name in (*names, *budget):
        if name not in MEASURES:
            raise ValueError(f"search: unknown result {name!r}: there are {', '.join(MEASURES)}")
    return SearchOptions(
        points=checked_number("search: points", table["points"], low=1, high=_MOST_POINTS),
        minimise=tuple(names),
        budget={name: checked_number(f"search: budget.{name}", most, low=0) for name, most in budget.items()},
        seed=checked_number("search: seed", table.get("seed", SearchOptions.seed), low=0, high=2**32 - 1),
        batch=checked_number("search: batch", table.get("batch", SearchOptions.batch), low=1, high=_MOST_BATCH),
    )


def range_values(name: str, table: Mapping[str, Any]) -> list[int]:
    """Return the values of a range ``{ from = 16, to = 128, times = 2 }`` or with ``step``, by default 1.

    Parameters
    ----------
    name : str
        The parameter.
    table : mapping
        The range.

    Raises
    ------
    ValueError
        It is no range, or has too many values. One line.
    """
    text = ", ".join(f"{key} = {value}" for key, value in table.items())
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in table.values())
    step, times = table.get("step", 1), table.get("times", 1)
    if not (whole and {"from", "to"} <= table.keys() <= set(_RANGE)) or ("step" in table and "times" in table):
        raise ValueError(f"{name}: a range has whole numbers from, to, and step or times, not {text}")
    least, most = table["from"], table["to"]
    if "times" in table:
        if times < 2 or least < 1:
            raise ValueError(f"{name}: a range by times begins at 1 or more, and times is 2 or more, not {text}")
        return list(takewhile(lambda value: value <= most, (least * times**place for place in range(64))))
    if step < 1 or least > most or (most - least) // step >= _MOST_VALUES:
        raise ValueError(f"{name}: a range has from 1 to {_MOST_VALUES:,} values, and a step of 1 or more, not {text}")
    return list(range(least, most + 1, step))
