"""Figures 10 and 11: throughput of breadth-first search against the number of vertices."""

from typing import Any

from host.measuring.measurements import Measurements
from host.studies.paper import ENGINES, TABLE1_VERTICES
from host.studies.search_points import measure_points
from host.studies.sweep import Sweep

__all__ = ["throughput_document"]

_KIND_OF = {"fig10": "random", "fig11": "rmat"}


def throughput_document(measurements: Measurements, sweep: Sweep) -> dict[str, Any]:
    """Measure figure 10 or 11, and return it as a JSON document.

    Its ``points`` are those of `host.studies.search_points`; their ``paper`` is table I's average, whatever their
    number of vertices.

    Raises
    ------
    InputError, SimulationError
        No graph is small enough, or a measurement failed.
    """
    kind = _KIND_OF[sweep.figure]
    keys = [
        (config, vertices, kind, degree, engines)
        for config in sweep.configs
        for degree, vertices in sweep.graphs()
        for engines in ENGINES
    ]
    points, results = measure_points(measurements, keys, memory=sweep.memory, seed=sweep.seed)
    return {
        **sweep.document(results, kind=kind),
        "paper_average_over_vertices": list(TABLE1_VERTICES),
        "points": points,
    }
