"""Figures 10 and 11: throughput of breadth-first search against the number of vertices."""

from collections.abc import Sequence
from typing import Any

from host.measuring.measurements import Measurements
from host.studies.bounded import left_out
from host.studies.paper import ENGINES, TABLE1_VERTICES
from host.studies.search_points import points, run_fields, search_requests

__all__ = ["throughput_document"]

_KIND_OF = {"fig10": "random", "fig11": "rmat"}


def throughput_document(
    measurements: Measurements,
    figure: str,
    pairs: Sequence[tuple[int, int]],
    too_large: Sequence[tuple[int, int]],
    *,
    configs: Sequence[str],
    most: int,
    memory: str,
    seed: int,
) -> dict[str, Any]:
    """Measure the figure, and return it as a JSON document.

    Its ``points`` are those of `host.studies.search_points`; their ``paper`` is table I's average, whatever their
    number of vertices.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    figure : {"fig10", "fig11"}
        Which one.
    pairs : sequence of (int, int)
        Degree and vertices of each graph.
    too_large : sequence of (int, int)
        Degree and vertices of the graphs that are left out.
    configs : sequence of str
        Names of `host.studies.machines.SEARCH_MACHINES`.
    most : int
        Edges of the largest graph allowed.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    kind = _KIND_OF[figure]
    keys = [
        (config, vertices, kind, degree, engines)
        for config in configs
        for degree, vertices in pairs
        for engines in ENGINES
    ]
    requests = search_requests(keys, memory=memory, seed=seed)
    results = measurements.measure(requests.values())
    return {
        "figure": figure,
        **run_fields(results, memory=memory, seed=seed),
        "kind": kind,
        "max_edges": most,
        "paper_average_over_vertices": list(TABLE1_VERTICES),
        "points": points(requests, results),
        "left_out": left_out(too_large),
    }
