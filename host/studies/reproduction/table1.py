"""Table I: throughput of breadth-first search, 16 cells of the paper against the simulation."""

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from host.measuring.graphs import GraphSpec
from host.studies.reproduction.machines import preset_of
from host.studies.reproduction.measure import CAUSES, BfsRequest
from host.studies.reproduction.paper import ENGINES, KINDS, TABLE1_DEGREES, betkaoui_gteps, cygraph_gteps

__all__ = ["CellKey", "averages", "cells", "errors", "table1_document", "table1_requests"]

Cell = dict[str, Any]
CellKey = tuple[str, int, str, int, int]
"""A cell: configuration, vertices, kind, degree and engines, in the order of the document."""

_SUMMED = ("cycles", "edges", "levels", "duplicates")


def table1_requests(
    configs: Sequence[str], vertices: Sequence[int], *, memory: str, seed: int
) -> dict[CellKey, BfsRequest]:
    """Return the measurement of each cell, in the order of the document.

    Parameters
    ----------
    configs : sequence of str
        Names of `host.studies.reproduction.machines.SEARCH_MACHINES`.
    vertices : sequence of int
        Numbers of vertices.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    """
    keys = itertools.product(configs, vertices, KINDS, TABLE1_DEGREES, ENGINES)
    return {
        key: BfsRequest(
            graph=GraphSpec(kind=key[2], degree=key[3], vertices=key[1], seed=seed),
            preset=preset_of(key[0], key[4]),
            memory=memory,
        )
        for key in keys
    }


def cells(requests: Mapping[CellKey, BfsRequest], results: Mapping[BfsRequest, Mapping[str, Any]]) -> list[Cell]:
    """Return the cells of a document: paper against simulation, with the cycles by cause.

    For degrees that the paper's table has not, ``paper``, ``ratio`` and ``betkaoui`` are None.

    Parameters
    ----------
    requests : mapping
        The measurement of each cell.
    results : mapping
        What was measured.
    """
    found = []
    for (config, vertices, kind, degree, engines), request in requests.items():
        result = results[request]
        paper = cygraph_gteps(kind, degree, engines)
        found.append(
            {
                "kind": kind,
                "degree": degree,
                "engines": engines,
                "config": config,
                "vertices": vertices,
                "paper": paper,
                "simulated": result["gteps"],
                "ratio": None if paper is None else result["gteps"] / paper,
                "betkaoui": betkaoui_gteps(kind, degree),
                "preset": request.preset,
                "seed": request.graph.seed,
                "source": result["source"],
                **{name: result[name] for name in (*_SUMMED, "reached", "shares", "verified", "wall")},
            }
        )
    return found


def averages(found: Sequence[Cell]) -> list[Cell]:
    """Return the mean over the numbers of vertices of each cell, which is what the paper's table holds."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found:
        key = tuple(cell[name] for name in ("config", "kind", "degree", "engines"))
        groups.setdefault(key, []).append(cell)
    return [_mean(group) for group in groups.values()]


def _mean(group: Sequence[Cell]) -> Cell:
    same = ("kind", "degree", "engines", "config", "paper", "betkaoui", "preset", "seed")
    mean = {name: group[0][name] for name in same}
    mean["simulated"] = statistics.fmean(cell["simulated"] for cell in group)
    mean["ratio"] = mean["simulated"] / mean["paper"]
    mean |= {name: statistics.fmean(cell[name] for cell in group) for name in _SUMMED}
    mean["shares"] = {cause: statistics.fmean(cell["shares"][cause] for cell in group) for cause in CAUSES}
    return mean


def errors(found: Iterable[Cell]) -> dict[str, Any]:
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


def table1_document(found: Sequence[Cell], *, memory: str, seed: int, clock: float, version: str) -> dict[str, Any]:
    """Return the table as a JSON document.

    Parameters
    ----------
    found : sequence of dict
        The cells.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    clock : float
        Clock of the machine in hertz.
    version : str
        Version of the program.

    Returns
    -------
    dict
        ``cells``; ``averages`` over the numbers of vertices when there are several; ``errors`` by configuration, of
        the averages where there are some; and what was run.
    """
    configs = list(dict.fromkeys(cell["config"] for cell in found))
    several = len({cell["vertices"] for cell in found}) > 1
    mean = averages(found) if several else []
    judged = mean or found
    return {
        "table": "table1",
        "version": version,
        "memory": memory,
        "clock_hz": clock,
        "seed": seed,
        "cells": list(found),
        **({"averages": mean} if several else {}),
        "errors": {config: errors(cell for cell in judged if cell["config"] == config) for config in configs},
    }
