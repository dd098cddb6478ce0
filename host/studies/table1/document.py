"""Table I: throughput of breadth-first search, 16 cells of the paper against the simulation."""

import itertools
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from host.measuring.machines import CAUSES
from host.measuring.measurements import Measurements
from host.studies.grouping import Point, grouped
from host.studies.paper import ENGINES, KINDS, TABLE1_DEGREES
from host.studies.search_points import SUMMED, measure_points, run_fields

__all__ = ["averages", "errors", "table1_document"]


def averages(found: Sequence[Point]) -> list[Point]:
    """Return the mean over the numbers of vertices of each cell, which is what the paper's table holds."""
    return [_mean(group) for group in grouped(found, "config", "kind", "degree", "engines").values()]


def _mean(group: Sequence[Point]) -> Point:
    same = ("kind", "degree", "engines", "config", "paper", "betkaoui", "preset", "seed")
    mean = {name: group[0][name] for name in same}
    mean["simulated"] = statistics.fmean(cell["simulated"] for cell in group)
    mean["ratio"] = mean["simulated"] / mean["paper"]
    mean |= {name: statistics.fmean(cell[name] for cell in group) for name in SUMMED}
    mean["shares"] = {cause: statistics.fmean(cell["shares"][cause] for cell in group) for cause in CAUSES}
    return mean


def errors(found: Iterable[Point]) -> dict[str, Any]:
    """Return mean and largest difference from the paper, in percent of the paper's figure.

    Parameters
    ----------
    found : iterable of dict
        Cells of one configuration.

    Returns
    -------
    dict
        ``mean_percent`` and ``largest_percent`` of all, and the same under each kind of graph.
    """
    differences = [(cell["kind"], 100 * abs(cell["ratio"] - 1)) for cell in found]

    def summary(values: Sequence[float]) -> dict[str, float]:
        return {"mean_percent": statistics.fmean(values), "largest_percent": max(values)}

    return {
        **summary([value for _, value in differences]),
        **{kind: summary([value for each, value in differences if each == kind]) for kind in KINDS},
    }


def table1_document(
    measurements: Measurements, configs: Sequence[str], vertices: Sequence[int], *, memory: str, seed: int
) -> dict[str, Any]:
    """Measure the table, and return it as a JSON document.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    configs : sequence of str
        Names of `host.studies.machines.SEARCH_MACHINES`.
    vertices : sequence of int
        Numbers of vertices.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.

    Returns
    -------
    dict
        ``cells``; ``averages`` over the numbers of vertices when there are several; ``errors`` by configuration, of
        the averages where there are some; and what was run.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    keys = itertools.product(configs, vertices, KINDS, TABLE1_DEGREES, ENGINES)
    cells, results = measure_points(measurements, keys, memory=memory, seed=seed)
    mean = averages(cells) if len(vertices) > 1 else []
    judged = mean or cells
    return {
        "table": "table1",
        **run_fields(results, memory=memory, seed=seed),
        "cells": cells,
        **({"averages": mean} if mean else {}),
        "errors": {config: errors(cell for cell in judged if cell["config"] == config) for config in configs},
    }
