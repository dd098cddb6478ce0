"""Regions of a run: some of its instructions, or a range of cycles."""

import re
from dataclasses import dataclass, replace
from typing import Self

__all__ = ["Region"]

_PHASES = ("forward", "backward", "intersection")
_RANGE = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?")
_CYCLES = re.compile(r"(\d{1,15}):(\d{1,15})")


@dataclass(frozen=True, kw_only=True)
class Region:
    """A region of a run; what is None restricts nothing.

    Parameters
    ----------
    cycles : (int, int) or None
        First and last cycle.
    levels, iterations : (int, int) or None
        First and last level of a search; iteration.
    phase : str or None
        Phase of an iteration.
    """

    cycles: tuple[int, int] | None = None
    levels: tuple[int, int] | None = None
    iterations: tuple[int, int] | None = None
    phase: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a region such as ``level=3``, ``level=3-5,iteration=1,phase=backward`` or ``100000:120000``.

        Raises
        ------
        ValueError
            The text is not a region.
        """
        if match := _CYCLES.fullmatch(text):
            return cls(cycles=_ordered(match[1], match[2], text))
        region = cls()
        for part in text.split(","):
            name, _, value = part.partition("=")
            match = _RANGE.fullmatch(value)
            if name == "phase" and value in _PHASES and region.phase is None:
                region = replace(region, phase=value)
            elif name == "level" and match and region.levels is None:
                region = replace(region, levels=_ordered(match[1], match[2] or match[1], value))
            elif name == "iteration" and match and region.iterations is None:
                region = replace(region, iterations=_ordered(match[1], match[2] or match[1], value))
            else:
                raise ValueError(f"{text!r} is not a region such as level=3, level=3-5,iteration=1 or 100000:120000")
        return region


def _ordered(first: str, last: str, text: str) -> tuple[int, int]:
    if int(first) > int(last):
        raise ValueError(f"the first must not come after the last: {text!r}")
    return int(first), int(last)
