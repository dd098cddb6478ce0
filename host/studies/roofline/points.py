"""The levels as points of the roofline plot; levels that fall on one spot are one point."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from host.studies.roofline.analysis import Roofline

__all__ = ["LevelPoints", "level_points"]

_SPOTS_A_DECADE = 200


@dataclass(frozen=True, kw_only=True)
class LevelPoints:
    """Points of a log-log plot, one for each element.

    Parameters
    ----------
    intensity : ndarray of float64
        Edges per request.
    rate : ndarray of float64
        Edges a cycle.
    edges : ndarray of int64
        Edges of the point's levels together.
    share : ndarray of float64
        Their share of the search's cycles.
    tightest : ndarray of int64
        Number of their tightest limit.
    level : ndarray of int64
        The level, or -1 where there are several.
    """

    intensity: npt.NDArray[np.float64]
    rate: npt.NDArray[np.float64]
    edges: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    tightest: npt.NDArray[np.int64]
    level: npt.NDArray[np.int64]


def level_points(roofline: Roofline) -> LevelPoints:
    """Return the points of a search's levels; levels without an edge, for which a log axis has no place, are left out.

    A path of a million vertices has a million levels, but few different ones: those of one spot and one tightest limit
    are put together.
    """
    shown = np.flatnonzero(roofline.edges)
    edges, cycles = roofline.edges[shown], roofline.cycles[shown]
    intensity, rate = edges / roofline.requests[shown], edges / cycles
    tightest = roofline.tightest[shown].astype(np.int64)
    spots = [np.rint(_SPOTS_A_DECADE * np.log10(values)).astype(np.int64) for values in (intensity, rate)]
    keys = np.stack([*spots, tightest], axis=1)
    _, first, spot, levels = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return LevelPoints(
        intensity=intensity[first],
        rate=rate[first],
        edges=np.bincount(spot, edges).astype(np.int64),
        share=np.bincount(spot, cycles) / roofline.total_cycles,
        tightest=tightest[first],
        level=np.where(levels == 1, shown[first], -1),
    )
