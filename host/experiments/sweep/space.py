"""Ranges of values, and the options of a search, as a study has them."""

import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Annotated, Any, TypeVar

import msgspec

from cyscc.host.experiments.fpga.area import AREA, families_of
from cyscc.host.specification.numbers import whole_number

CYCLES = "cycles"

MEASURES = (CYCLES, *AREA)
"""Results of a point that a search minimises or keeps within a budget: cycles, and the area of all AEs."""

_MOST_VALUES = 10_000
"""Most values of a range."""
_RANGE = ("from", "to", "step", "times")
_Shape = TypeVar("_Shape")


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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

    points: Annotated[int, msgspec.Meta(ge=1, le=100_000)]
    minimise: tuple[str, ...] = (CYCLES,)
    budget: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = {}
    seed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)] = 0
    batch: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 8

    def __post_init__(self) -> None:
        if not self.minimise or len(set(self.minimise)) < len(self.minimise):
            raise ValueError(f"minimise must be a result or a list of different ones, not {list(self.minimise)!r}")
        for name in (*self.minimise, *self.budget):
            if name not in MEASURES:
                raise ValueError(f"unknown result {name!r}: there are {', '.join(MEASURES)}")

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


_TYPE = re.compile("`([^`]+)`")
_KINDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a table",
    "array": "a list",
}
"""Types of messages as users know them."""


class _Document(msgspec.Struct):
    """The part of a study with its search."""

    search: SearchOptions


def shaped(value: Any, kind: type[_Shape]) -> _Shape:
    """Return a value of a study as one of a type.

    Raises
    ------
    ValueError
        It, or a part of it, is of another. One line, which begins with the part's name.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        text, _, place = str(error).rstrip("`").partition(" - at `$.")
        text = text.removeprefix("Object ")
        cause = _TYPE.sub(lambda found: _KINDS.get(found[1], found[0]), text[:1].lower() + text[1:])
        raise ValueError(f"{place}: {cause}" if place else cause) from None


def search_options(value: Any) -> SearchOptions:
    """Return the options of a search: a table, or its number of points.

    Raises
    ------
    ValueError
        They are invalid. One line.
    """
    table = dict(value) if isinstance(value, dict) else {"points": value}
    if isinstance(table.get("minimise"), str):
        table["minimise"] = [table["minimise"]]
    return shaped({"search": _with_numbers(table)}, _Document).search


def _with_numbers(value: Any) -> Any:
    """Return a value with texts of whole numbers, such as ``2^5``, as numbers."""
    if isinstance(value, dict):
        return {name: _with_numbers(each) for name, each in value.items()}
    with suppress(ValueError):
        return whole_number(value, low=0) if isinstance(value, str) else value
    return value


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
