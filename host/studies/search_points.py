"""Searches beside the paper's: the cells of table I, the points of figures 10 and 11."""

from collections.abc import Iterable, Mapping
from typing import Any

from host.measuring.graphs import GraphSpec
from host.measuring.machines import BfsRequest
from host.measuring.measurements import Measurements
from host.measuring.requests import Measured
from host.results.version import version
from host.studies.grouping import Point
from host.studies.machines import preset_of
from host.studies.paper import betkaoui_gteps, cygraph_gteps

__all__ = ["SUMMED", "PointKey", "measure_points", "run_fields"]

PointKey = tuple[str, int, str, int, int]
"""Which point: configuration, vertices, kind, degree and engines."""

SUMMED = ("cycles", "edges", "levels", "duplicates")
"""Fields of a point that are counts."""


def measure_points(
    measurements: Measurements, keys: Iterable[PointKey], *, memory: str, seed: int
) -> tuple[list[Point], dict[BfsRequest, Measured]]:
    """Measure points, and return them, paper against simulation, with the cycles by cause; and what was measured.

    For degrees that the paper's table has not, ``paper``, ``ratio`` and ``betkaoui`` are None.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    keys : iterable of PointKey
        The points; the configurations are names of `host.studies.machines.SEARCH_MACHINES`.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    requests = {
        (config, vertices, kind, degree, engines): BfsRequest(
            graph=GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed),
            preset=preset_of(config, engines),
            memory=memory,
        )
        for config, vertices, kind, degree, engines in keys
    }
    results = measurements.measure(requests.values())
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
                "seed": seed,
                "source": result["source"],
                **{name: result[name] for name in (*SUMMED, "reached", "shares", "verified", "wall")},
            }
        )
    return found, results


def run_fields(results: Mapping[Any, Mapping[str, Any]], *, memory: str, seed: int) -> dict[str, Any]:
    """Return what a document says of the runs: version, memory profile, clock and seed."""
    clock = next(result["clock_hz"] for result in results.values() if "clock_hz" in result)
    return {"version": version(), "memory": memory, "clock_hz": clock, "seed": seed}
