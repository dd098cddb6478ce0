"""Made-up results of measurements, and documents made of them."""

from typing import Any

from host.studies.reproduction.components import ComponentTimes
from host.studies.reproduction.measure import CAUSES
from host.studies.reproduction.table1 import cells, table1_document, table1_requests
from host.studies.reproduction.throughput import KIND_OF, throughput_document, throughput_requests
from tests.host.studies.reproduction.requests import spec

__all__ = ["bfs_result", "component_times", "table1_of", "throughput_of"]


def bfs_result(gteps: float) -> dict[str, Any]:
    """Return the result of a search."""
    return {
        "gteps": gteps,
        "source": 5,
        "cycles": 16000,
        "edges": 128,
        "levels": 7,
        "duplicates": 3,
        "reached": 16,
        "shares": {cause: float(cause == "request") for cause in CAUSES},
        "clock_hz": 150e6,
        "verified": True,
        "wall": {"simulate": 1.0},
    }


def component_times(*pairs: tuple[int, int], hong: bool) -> list[ComponentTimes]:
    """Return the times of graphs: Kosaraju 6 ms, the machine 1.5 ms, Hong's 4 ms."""
    return [
        ComponentTimes(
            graph=spec(degree=degree, vertices=vertices),
            software={"seconds": 0.006, "searches": 0.004, "intersections": 0.0015, "starts": 0.0005, "runs": 3},
            machines={
                "published": {
                    "cycles": {"searches": 150_000, "intersections": 60_000},
                    "start_seconds": 0.0001,
                    "components": 4,
                    "trimmed": 2,
                    "iterations": 2,
                    "clock_hz": 150e6,
                    "wall": {"simulate": 1.0},
                }
            },
            hong={"seconds": 0.004, "runs": 3} if hong else None,
        )
        for degree, vertices in pairs
    ]


def table1_of(configs: tuple[str, ...], vertices: tuple[int, ...]) -> dict[str, Any]:
    """Return the document of table I whose cells are all 1 GTEPS."""
    requests = table1_requests(configs, vertices, memory="hc2", seed=9)
    found = cells(requests, {request: bfs_result(1.0) for request in requests.values()})
    return table1_document(found, memory="hc2", seed=9, clock=150e6, version="1.2")


def throughput_of(figure: str, configs: tuple[str, ...]) -> dict[str, Any]:
    """Return the document of figure 10 or 11 whose points are all 1 GTEPS."""
    pairs = [(degree, 1 << exponent) for degree in (8, 16, 32, 64) for exponent in (16, 18)]
    requests = throughput_requests(pairs, kind=KIND_OF[figure], configs=configs, memory="hc2", seed=9)
    points = cells(requests, {request: bfs_result(1.0) for request in requests.values()})
    return throughput_document(
        points, [], figure=figure, most=1 << 26, memory="hc2", seed=9, clock=150e6, version="1.2"
    )
