"""The roofline of a record: the limits of its levels, as rows, a JSON document and points of a plot."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from cyscc.host.analysis.explain.settings import recorded_profile
from cyscc.host.analysis.roofline.limits import CROSSBAR, LIMITS, Bounds, Limit, Traffic
from cyscc.host.record.arrow import Integers, numbers, sums
from cyscc.host.record.reader import Record
from cyscc.host.specification.run import Setting
from cyscc.sim.configuration import AcceleratorConfig

if TYPE_CHECKING:
    import pandas as pd

_TOGETHER = 2048
"""Levels that are processed in one batch."""

_SPOTS_A_DECADE = 200


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """Least cycles of each level by limit, and the cycles taken.

    Parameters
    ----------
    bounds : Bounds
        Limits of the machine.
    edges : ndarray of int64, shape (levels,)
        Edges traversed; an edge of a vertex that is in the queue twice counts once.
    requests : ndarray of int64, shape (levels,)
        Reads and writes, including those for vertices pushed twice.
    cycles : ndarray of int64, shape (levels,)
        Cycles taken.
    limits : ndarray of int64, shape (levels, limits)
        Least cycles, in the order of `bounds.names`.
    crossbar : ndarray of int64, shape (levels,), or None
        Cycles in which a saturated crossbar with first-in first-out queues would pass the requests; None without
        links, or behind a switch.
    """

    bounds: Bounds
    edges: npt.NDArray[np.int64]
    requests: npt.NDArray[np.int64]
    cycles: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]
    crossbar: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, record: Record, bounds: Bounds) -> Self:
        """Return the roofline of a record, over the levels of all searches of its last attempt.

        Parameters
        ----------
        record : Record
            The record.
        bounds : Bounds
            Limits of its machine.
        """
        every = record.attempts
        own = every[(every["attempt"] == record.attempt) & (every["module"] == "bfs")]
        levels = numbers(own.index)
        requests, limits, crossbar = [], [np.zeros((0, len(bounds.names)), np.int64)], []
        for begin in range(0, levels.size, _TOGETHER):
            traffic = _traffic(record, bounds, levels[begin : begin + _TOGETHER])
            requests.append(traffic.requests)
            limits.append(bounds.limits(traffic))
            crossbar.append(bounds.crossbar(traffic))
        none = np.zeros(0, np.int64)
        return cls(
            bounds=bounds,
            edges=numbers(own["edges"]),
            requests=np.concatenate([none, *requests]),
            cycles=numbers(own["cycles"]),
            limits=np.concatenate(limits),
            crossbar=None if not bounds.blocks else np.concatenate([none, *crossbar]),
        )

    @property
    def tightest(self) -> npt.NDArray[np.intp]:
        """Index of each level's tightest limit; shape (levels,)."""
        return self.limits.argmax(axis=1)

    @property
    def total_edges(self) -> int:
        """Edges traversed by the search."""
        return int(self.edges.sum())

    @property
    def total_cycles(self) -> int:
        """Cycles of the search."""
        return int(self.cycles.sum())

    @property
    def intensity(self) -> float:
        """Edges per request of the search."""
        return self.total_edges / int(self.requests.sum())

    @cached_property
    def totals(self) -> "dict[str, Total]":
        """Totals of the search: by each limit, by all limits together, and as expected with crossbar queues."""
        roof = self.limits.max(axis=1)
        tightest = np.bincount(self.tightest, minlength=len(self.bounds.names))
        found = {
            name: Total(LIMITS[name], int(cycles), int(levels))
            for name, cycles, levels in zip(self.bounds.names, self.limits.sum(axis=0), tightest, strict=True)
        }
        found["roof"] = Total(_ALL, int(roof.sum()))
        if self.crossbar is not None:
            found["crossbar"] = Total(CROSSBAR, int(self.crossbar.sum()), int((self.crossbar > roof).sum()))
            found["expected"] = Total(_EXPECTED, int(np.maximum(roof, self.crossbar).sum()))
        return found


class Total(NamedTuple):
    """Cycles of a search by a limit, summed over its levels.

    Parameters
    ----------
    limit : Limit
        The limit.
    cycles : int
        The sum of the least cycles.
    levels : int or None
        Number of levels in which it is the tightest; None for a combination of limits.
    """

    limit: Limit
    cycles: int
    levels: int | None = None


_ALL = Limit(title="all of them", colour="#23272e", marker="star")
_EXPECTED = Limit(title="all with these", colour="#23272e", marker="star")


def recorded_bounds(record: Record) -> Bounds | None:
    """Return the limits of a record's machine; None if they are not known.

    They are not known if the memory's profile cannot be read from the record, or if the machine only searches.
    """
    config = AcceleratorConfig.from_mapping(record.document["configuration"])
    memory = recorded_profile(record.document["memory_profile"])
    return None if memory is None or not config.keeps_reach_queue else Bounds(config, memory)


def _traffic(record: Record, bounds: Bounds, levels: Integers) -> Traffic:
    """Return the requests of levels, which are given by their instructions' numbers in ascending order."""
    within = int(levels[0]), int(levels[-1]) + 1

    def summed(table: str, columns: tuple[str, ...], shape: tuple[int, ...], *keys: str) -> list[Integers]:
        rows = record.table(table, ("instruction", *keys, *columns), instructions=within)
        instruction = numbers(rows["instruction"])
        level = np.searchsorted(levels, instruction)
        level[levels[level] != instruction] = -1
        found = (
            sums(numbers(rows[name]), (levels.size, *shape), level, *(numbers(rows[key]) for key in keys))
            for name in columns
        )
        return [each.reshape(levels.size, -1) for each in found]

    engines, contention = bounds.engines, bounds.contention
    kernels = (engines, bounds.kernels // engines)
    names = {"entries": "issue_1", "ids": "issue_2", "words": "issue_3", "writes": "write"}
    found = summed("instruction_kernels", tuple(names.values()), kernels, "engine", "kernel")
    work = dict(zip(names, found, strict=True))
    if contention is None:
        # Put all requests on one link and one bank, which do not limit anything.
        requests = np.sum(found, axis=(0, 2))[:, None]
        nothing = np.zeros_like(requests)
        reads = np.zeros((levels.size, engines, 1), np.int64)
        return Traffic(**work, read_links=reads, write_links=nothing, banks=requests, openings=nothing)
    reads, written = (
        each.reshape(levels.size, engines, -1)
        for each in summed("instruction_links", ("reads", "writes"), (engines, contention.links), "engine", "link")
    )
    banks = (contention.controllers, contention.banks // contention.controllers)
    (accesses,) = summed("instruction_banks", ("accesses",), banks, "controller", "bank")
    (openings,) = summed("instruction_rows", ("openings",), banks, "controller", "bank")
    return Traffic(**work, read_links=reads, write_links=written.sum(axis=1), banks=accesses, openings=openings)


def level_points(roofline: Roofline) -> "pd.DataFrame":
    """Return the points of a search's levels; levels without edges have no place on a log axis and are left out.

    A path of a million vertices has a million levels, most of them alike: levels at the same spot with the same
    tightest limit are merged into one point.

    Returns
    -------
    pandas.DataFrame
        `intensity`, edges per request; `rate`, edges per cycle; `edges`, the sum over the point's levels; `share`,
        their share of the search's cycles; `tightest`, the index of their tightest limit; `level`, or -1 for several.
    """
    import pandas as pd

    shown = np.flatnonzero(np.minimum(roofline.edges, roofline.requests))
    edges, cycles, tightest = roofline.edges[shown], roofline.cycles[shown], roofline.tightest[shown]
    intensity, rate = edges / roofline.requests[shown], edges / cycles
    levels = pd.DataFrame({"intensity": intensity, "rate": rate, "edges": edges, "share": cycles})
    spots = [np.rint(_SPOTS_A_DECADE * np.log10(values)) for values in (intensity, rate)]
    grouped = levels.assign(tightest=tightest, level=shown).groupby([*spots, tightest])
    sums = dict.fromkeys(("edges", "share"), "sum")
    points = grouped.agg({name: sums.get(name, "first") for name in grouped.obj})
    points["share"] /= roofline.total_cycles
    points["level"] = points["level"].where(grouped.size() == 1, -1)
    return points.reset_index(drop=True)


def limit_rows(roofline: Roofline, setting: Setting) -> list[dict[str, Any]]:
    """Return a row for each limit, and for what was reached: cycles, throughput, and where it is the tightest."""
    edges, taken = roofline.total_edges, roofline.total_cycles
    reached = Total(Limit(title="reached", colour="", marker=""), taken)
    return [
        {
            "limit": limit.title,
            "cycles": cycles,
            "gteps": setting.gteps(edges, cycles) if cycles else None,
            "share": cycles / taken,
            "tightest_levels": levels or None,
        }
        for limit, cycles, levels in (*roofline.totals.values(), reached)
    ]


def roofline_document(roofline: Roofline, setting: Setting) -> dict[str, Any]:
    """Return the roofline as part of a JSON document."""
    names = roofline.bounds.names

    def told(cycles: int, **more: float | None) -> dict[str, Any]:
        return {"cycles": cycles, "gteps": setting.gteps(roofline.total_edges, cycles) if cycles else None, **more}

    totals = roofline.totals
    taken = roofline.total_cycles
    columns = (roofline.edges, roofline.requests, roofline.cycles, roofline.limits, roofline.tightest)
    levels: list[dict[str, Any]] = [
        {
            "edges": edges,
            "requests": requests,
            "cycles": cycles,
            "limits": dict(zip(names, limits, strict=True)),
            "tightest": names[largest],
        }
        for edges, requests, cycles, limits, largest in zip(*(column.tolist() for column in columns), strict=True)
    ]
    document = {
        "requests": int(roofline.requests.sum()),
        "intensity": roofline.intensity,
        "limits": {name: told(totals[name].cycles, tightest_levels=totals[name].levels) for name in names},
        "roof": told(totals["roof"].cycles),
        "reached": told(taken),
        "efficiency": totals["roof"].cycles / roofline.total_cycles,
        "levels": levels,
    }
    if roofline.crossbar is not None:
        for level, cycles in zip(levels, roofline.crossbar.tolist(), strict=True):
            level["crossbar"] = cycles
        _, cycles, tightest = totals["crossbar"]
        document["crossbar"] = told(cycles, share=cycles / taken, tightest_levels=tightest)
        document["expected"] = told(totals["expected"].cycles)
    return document
