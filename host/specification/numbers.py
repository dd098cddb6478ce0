"""Whole numbers that users give, as texts or as numbers of any library, and lists."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

from cyscc.hw.values import plain

_Value = TypeVar("_Value")

LARGEST = 1 << 64
"""Largest number of an option."""


def whole_number(text: str, *, low: int, high: int = LARGEST) -> int:
    """Parse an integer such as 1000, 1e3 or 2^10.

    Raises
    ------
    ValueError
        The text is not an integer, or outside `low` to `high`.
    """
    base, power, exponent = text.partition("^")
    try:
        number = Decimal(base) ** (int(exponent) if power else 1)
        whole = number == number.to_integral_value()
    except (ValueError, ArithmeticError):
        whole = False
    if not whole:
        raise ValueError(f"{text!r} is not an integer")
    if number < low:
        raise ValueError(f"must be at least {low}, not {text}")
    if number > high:
        raise ValueError(f"must be at most {high}, not {text}")
    return int(number)


def number_text(number: int) -> str:
    """Return a number as `whole_number` reads it, as a power of two if it is one: 2^20."""
    return f"2^{number.bit_length() - 1}" if number and not number & (number - 1) else str(number)


def checked_number(name: str, value: Any, *, low: int, high: int = LARGEST) -> int:
    """Return a whole number of any library, or the one that a text describes, as Python's own.

    Raises
    ------
    ValueError
        It is none, or outside `low` to `high`. One line, which begins with the name.
    """
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    try:
        return whole_number(str(value), low=low, high=high)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def check_numbers(checked: Any, **lows: int) -> None:
    """Check fields of a frozen dataclass that are whole numbers from a number on, or None; see `checked_number`."""
    for name, low in lows.items():
        if (value := getattr(checked, name)) is not None:
            object.__setattr__(checked, name, checked_number(name, value, low=low))


def listed_values(text: str, parse: Callable[[str], _Value]) -> tuple[_Value, ...]:
    """Parse a comma-separated list.

    Raises
    ------
    ValueError
        A value is invalid, or given twice.
    """
    values = tuple(parse(part) for part in text.split(","))
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(f"{value} is given twice")
    return values
