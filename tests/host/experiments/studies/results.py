"""Made-up results of measurements, and documents made of them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cyscc.host.experiments.measuring.machines import CAUSES, BfsRequest, SccRequest
from cyscc.host.experiments.measuring.measurements import Request
from cyscc.host.experiments.studies.components import SpeedUps, Times
from cyscc.host.experiments.studies.searches import Table1, Throughput
from cyscc.host.experiments.studies.study import Grid


def made_up(request: Request, *, gteps: float = 1.0) -> dict[str, Any]:
    """Return a result: searches of 1 GTEPS, Kosaraju 6 ms, the machine 1.5 ms, Hong's algorithm 4 ms."""
    if isinstance(request, BfsRequest):
        return {
            "gteps": gteps,
            "source": 5,
            "cycles": 1000 * request.graph.vertices,
            "edges": request.graph.edges,
            "levels": 7,
            "duplicates": 3,
            "reached": request.graph.vertices,
            "shares": {cause: float(cause == "write") for cause in CAUSES},
            "clock_hz": 150e6,
            "verified": True,
            "wall": {"simulate": 1.0},
        }
    if isinstance(request, SccRequest):
        return {
            "cycles": {"searches": 150_000, "intersections": 60_000},
            "start_seconds": 0.0001,
            "components": 4,
            "trimmed": 2,
            "iterations": 2,
            "clock_hz": 150e6,
            "wall": {"simulate": 1.0},
        }
    if "hong" in request.label:
        return {"seconds": 0.004, "runs": 3}
    return {"seconds": 0.006, "searches": 0.004, "intersections": 0.0015, "starts": 0.0005, "runs": 3}


class FakeMeasurements:
    """Fake that records the requests, and invents the results.

    Parameters
    ----------
    result : callable
        Returns the result of a request.
    """

    def __init__(self, result: Callable[[Any], Mapping[str, Any]] = made_up) -> None:
        self.requests: list[Any] = []
        self._result = result

    def measure(self, requests: Iterable[Any]) -> dict[Any, Any]:
        wanted = list(requests)
        self.requests += wanted
        return {request: self._result(request) for request in wanted}

    def forget(self, requests: Iterable[Any]) -> None:
        for request in requests:
            self.requests.remove(request)


def table1_of(
    configs: tuple[str, ...], vertices: tuple[int, ...], result: Callable[[Any], Mapping[str, Any]] = made_up
) -> dict[str, Any]:
    """Return the document of table I; its cells are all 1 GTEPS if nothing else is said."""
    measurements: Any = FakeMeasurements(result)
    return Table1(configs=configs, vertices=vertices, memory="hc2", seed=9).document(measurements)


_GRIDS: dict[str, type[Grid]] = {"fig10": Throughput, "fig11": Throughput, "fig12": Times, "fig13": SpeedUps}


def grid_of(figure: str, pairs: Iterable[tuple[int, int]], **changes: Any) -> Grid:
    """Return the study of a figure, over graphs of all these degrees and vertices."""
    degrees, vertices = (tuple(dict.fromkeys(values)) for values in zip(*pairs, strict=True))
    options = {"configs": ("published",), "max_edges": 1 << 30, "memory": "hc2", "seed": 9, **changes}
    return _GRIDS[figure](figure=figure, degrees=degrees, vertices=vertices, **options)


def throughput_of(figure: str, configs: tuple[str, ...]) -> dict[str, Any]:
    """Return the document of figure 10 or 11 whose points are all 1 GTEPS."""
    pairs = [(degree, 1 << exponent) for degree in (8, 16, 32, 64) for exponent in (16, 18)]
    measurements: Any = FakeMeasurements()
    return grid_of(figure, pairs, configs=configs).document(measurements)


def components_of(figure: str, *pairs: tuple[int, int], **changes: Any) -> dict[str, Any]:
    """Return the document of figure 12 or 13."""
    measurements: Any = FakeMeasurements()
    return grid_of(figure, pairs, **changes).document(measurements)
