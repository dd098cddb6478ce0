"""Intervals as texts."""

import pytest

from cyscc.host.specification.run import Interval
from tests.refusals import refused


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2Mcycles", Interval(cycles=2_000_000)),
        ("1.5kcycles", Interval(cycles=1500)),
        ("7 cycles", Interval(cycles=7)),
        ("1e6cycles", Interval(cycles=1_000_000)),
        ("3Gcycles", Interval(cycles=3 * 10**9)),
        ("30s", Interval(seconds=30.0)),
        ("0.5s", Interval(seconds=0.5)),
        ("5min", Interval(seconds=300.0)),
        ("2h", Interval(seconds=7200.0)),
        ("1e15s", Interval(seconds=1e15)),
        ("1e15cycles", Interval(cycles=10**15)),
    ],
)
def test_intervals(text: str, expected: Interval) -> None:
    assert Interval.parse(text) == expected


@pytest.mark.parametrize("text", ["", "5", "5m", "min", "-5s", "5 hours", "1e999s", "2mcycles", "0x5s", "5s5s", "nans"])
def test_what_is_none(text: str) -> None:
    with refused(ValueError, f"{text!r} is not an interval such as 2Mcycles, 30s or 5min"):
        Interval.parse(text)


@pytest.mark.parametrize("text", ["0s", "0cycles", "0.5cycles", "1e99s", "1000000000000001cycles"])
def test_what_is_too_short_or_too_long(text: str) -> None:
    with refused(ValueError, f"{text!r} is no interval: it must be above 0, not above 10^15, and whole cycles"):
        Interval.parse(text)
