"""The interval between checkpoints."""

import re
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Interval"]

_CYCLES = {"cycles": 1, "kcycles": 10**3, "Mcycles": 10**6, "Gcycles": 10**9}
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_TEXT = re.compile(r"(\d+(?:\.\d+)?(?:e\d{1,2})?)\s*([A-Za-z]+)")
_LONGEST = 10**15  # cycles or seconds


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Interval between checkpoints, in simulated cycles or seconds of real time.

    Parameters
    ----------
    cycles : int or None
        Simulated cycles, if given in cycles.
    seconds : float or None
        Seconds of real time, if given in time.
    """

    cycles: int | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> "Interval":
        """Parse an interval such as 2Mcycles, 30s or 5min.

        Raises
        ------
        ValueError
            The text is not an interval.
        """
        match = _TEXT.fullmatch(text)
        if match is None or match[2] not in {**_CYCLES, **_SECONDS}:
            raise ValueError(f"{text!r} is not an interval such as 2Mcycles, 30s or 5min")
        unit = match[2]
        amount = Decimal(match[1]) * {**_CYCLES, **_SECONDS}[unit]
        if not 0 < amount <= _LONGEST or (unit in _CYCLES and amount != amount.to_integral_value()):
            raise ValueError(f"{text!r} is no interval: it must be above 0, not above 10^15, and whole cycles")
        return cls(cycles=int(amount)) if unit in _CYCLES else cls(seconds=float(amount))
