"""Stages of many items at once: first and last cycles, and the reasons of the cycles in which they waited."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.observation.life.lives import Span, Stage, Wait
from sim.observation.life.window import NEVER, Cycles

__all__ = ["Column", "after", "spans_of"]

_Reasons = Mapping[Wait, npt.NDArray[np.bool_]]


class Column(NamedTuple):
    """A stage of all items of a kind."""

    stage: Stage
    first: Cycles
    """First cycle, for each item."""
    end: Cycles
    """First cycle after it."""
    reasons: _Reasons
    """Cycles of the window in which an item in this stage does not go on."""


def after(events: Cycles) -> Cycles:
    """Return the cycle after each event."""
    return np.where(events == NEVER, NEVER, events + 1)


def spans_of(columns: list[Column], *, start: int, cycles: int) -> list[list[Span]]:
    """Return the stages of each item, those of no cycle left out, up to the one that the window cuts.

    Parameters
    ----------
    columns : list of Column
        The stages in their order.
    start, cycles : int
        First cycle of the window, and how many it has.
    """
    counted = [_counted(column, cycles) for column in columns]
    found: list[list[Span]] = []
    for row in range(len(columns[0].first)):
        spans: list[Span] = []
        for column, waits in zip(columns, counted, strict=True):
            first, end = int(column.first[row]), int(column.end[row])
            if first >= cycles:
                break
            if end > first:
                known = tuple((wait, int(number[row])) for wait, number in waits.items() if number[row])
                spans.append(Span(column.stage, start + first, None if end == NEVER else start + end, known))
        found.append(spans)
    return found


def _counted(column: Column, cycles: int) -> dict[Wait, npt.NDArray[np.int64]]:
    """Return how many cycles of each item's stage have each reason."""
    first, end = np.minimum(column.first, cycles), np.minimum(column.end, cycles)
    counted = {}
    for wait, mask in column.reasons.items():
        before = np.concatenate(([0], np.cumsum(mask)))
        number = np.maximum(before[end] - before[first], 0)
        if number.any():
            counted[wait] = number
    return counted
