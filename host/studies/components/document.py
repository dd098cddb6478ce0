"""Figures 12 and 13: time for the strongly connected components, and speed-up over sequential software."""

from collections.abc import Iterator, Mapping
from typing import Any

from host.measuring.graphs import GraphSpec
from host.measuring.machines import SccRequest
from host.measuring.measurements import Measurements
from host.measuring.requests import Measured, Request
from host.measuring.setting import cores, processor_name
from host.measuring.software import SoftwareRequest
from host.studies.sweep import Sweep

__all__ = ["PHASES", "SOFTWARE", "component_document"]

PHASES = {"searches": "BFS", "intersections": "intersection", "starts": "search for a start"}
"""Parts of a time, from the bottom of a bar to its top, and what people call them."""

SOFTWARE = "kosaraju"
"""Name of the series that the others are compared with."""

Series = dict[str, Measured]
"""What was measured of a graph: by name, of the software (`SOFTWARE`, and ``hong``) and of each configuration."""


def component_document(measurements: Measurements, sweep: Sweep) -> dict[str, Any]:
    """Measure a figure, on uniform random graphs, and return it as a JSON document.

    The ``points`` of figure 12 are a bar each: ``degree``, ``vertices``, ``series`` (``kosaraju`` or a configuration),
    ``milliseconds`` by phase and ``total``. Trimming is in none of them. Those of figure 13 are ``degree``,
    ``vertices``, ``series`` (a configuration or ``hong``), ``milliseconds``, those of sequential Kosaraju as
    ``kosaraju``, and ``speed_up``. Trimming is only in Hong's time, whose algorithm it is a part of.

    Raises
    ------
    InputError, SimulationError
        No graph is small enough, or a measurement failed.
    """
    speed_up = sweep.figure == "fig13"
    requests: dict[tuple[GraphSpec, str], Request] = {}
    for degree, vertices in sweep.graphs():
        graph = GraphSpec(kind="random", degree=degree, vertices=vertices, seed=sweep.seed)
        requests[graph, SOFTWARE] = SoftwareRequest(graph=graph, algorithm=SOFTWARE, threads=1)
        for config in sweep.configs:
            requests[graph, config] = SccRequest(graph=graph, preset=config, memory=sweep.memory)
        if speed_up:
            requests[graph, "hong"] = SoftwareRequest(graph=graph, algorithm="hong", threads=cores())
    results = measurements.measure(requests.values())
    found: dict[GraphSpec, Series] = {}
    for (graph, name), request in requests.items():
        found.setdefault(graph, {})[name] = results[request]
    points = _speed_ups if speed_up else _times
    return {
        **sweep.document(results, kind="random"),
        "processor": processor_name(),
        "cores": cores(),
        "points": [
            {"degree": graph.degree, "vertices": graph.vertices, **point}
            for graph, series in found.items()
            for point in points(series)
        ],
    }


def _machine_phases(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the milliseconds of the machine by phase, and of the host's search for a start, which is real time."""
    cycles = {phase: 1e3 * count / result["clock_hz"] for phase, count in result["cycles"].items()}
    return {**cycles, "starts": 1e3 * result["start_seconds"]}


def _times(series: Series) -> Iterator[dict[str, Any]]:
    """Yield the points of figure 12 that a graph has."""
    for name, result in series.items():
        if name == SOFTWARE:
            phases, further = {phase: 1e3 * result[phase] for phase in PHASES}, ["runs"]
        else:
            phases, further = _machine_phases(result), ["cycles", "components", "trimmed", "iterations", "wall"]
        kept = {field: result[field] for field in further}
        yield {"series": name, "milliseconds": phases, "total": sum(phases.values()), **kept}


def _speed_ups(series: Series) -> Iterator[dict[str, Any]]:
    """Yield the points of figure 13 that a graph has."""
    base = 1e3 * series[SOFTWARE]["seconds"]
    for name, result in series.items():
        if name != SOFTWARE:
            time = 1e3 * result["seconds"] if name == "hong" else sum(_machine_phases(result).values())
            yield {"series": name, "milliseconds": time, "kosaraju": base, "speed_up": base / time}
