"""Several runs beside each other: the same instruction of each, by iteration, phase and level."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from host.record.colours import STACK
from host.report.activity import Activity
from host.report.levels import Levels

__all__ = ["Comparison"]


class Comparison:
    """Runs aligned by level.

    An instruction that a run does not have took it no cycle. Cycles of a cause are those of an average kernel, so that
    the differences of all causes add up to the difference in cycles, also between machines of different size.

    Parameters
    ----------
    activities : sequence of Activity
        The runs; the others are compared with the first one.
    most : int
        Most instructions that are shown by themselves.
    """

    def __init__(self, activities: Sequence[Activity], *, most: int) -> None:
        self.activities = activities
        own = [activity.instructions.keys() for activity in activities]
        self._keys = sorted({key for keys in own for key in keys})
        place = {key: number for number, key in enumerate(self._keys)}
        self._places = [np.array([place[key] for key in keys], np.int64) for keys in own]
        cycles = np.zeros((len(activities), len(self._keys)), np.int64)
        for row, activity in enumerate(activities):
            np.add.at(cycles[row], self._places[row], activity.instructions.cycles)
        spread = cycles.max(axis=0) - cycles.min(axis=0)
        # Those that differ most; where nothing differs, the longest.
        weights = spread if spread.any() else cycles.max(axis=0)
        self.levels = Levels.group(self._keys, weights, most=most)

    @cached_property
    def by_cause(self) -> list[dict[str, npt.NDArray[np.float64]]]:
        """Cycles of each run by cause and level that is shown."""
        return [
            activity.by_group(self.levels.of[places], self.levels.count)
            for activity, places in zip(self.activities, self._places, strict=True)
        ]

    @cached_property
    def whole(self) -> list[dict[str, float]]:
        """Cycles of each run by cause, those outside of instructions included."""
        return [{cause: activity.whole.get(cause, 0.0) for cause in STACK} for activity in self.activities]

    def difference(self, run: int) -> dict[str, npt.NDArray[np.float64]]:
        """Return the cycles that a run took more than the first one, by cause and level that is shown."""
        return {cause: self.by_cause[run][cause] - self.by_cause[0][cause] for cause in STACK}

    def whole_difference(self, run: int) -> dict[str, float]:
        """Return the same of the whole run."""
        return {cause: self.whole[run][cause] - self.whole[0][cause] for cause in STACK}
