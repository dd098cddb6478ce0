"""Made-up results of measurements, and documents made of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.measuring.runs import KERNEL_CAUSES, BfsRequest, SccRequest
from cyscc.host.experiments.plan.request import Request
from cyscc.host.experiments.studies.catalogue import study_of


def made_up(request: Request, *, gteps: float = 1.0) -> dict[str, Any]:
    """Return a result: searches of 1 GTEPS, Kosaraju 6 ms, the machine 1.5 ms, Hong's algorithm 4 ms."""
    if isinstance(request, BfsRequest):
        return {
            "gteps": gteps,
            "source": 5,
            "cycles": 1000 * request.graph.vertices,
            "edges": request.graph.edges,
            "levels": [[1, 1, 1]] * 7,
            "duplicates": 3,
            "reached": request.graph.vertices,
            "shares": {cause: float(cause == "write") for cause in KERNEL_CAUSES},
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
    return {"seconds": 0.006, "phases": {"searches": 0.004, "intersections": 0.0015, "starts": 0.0005}, "runs": 3}


def patch_computer(patch: pytest.MonkeyPatch) -> None:
    """Have documents say that software ran on five cores of an Abacus 2000."""
    patch.setattr("cyscc.host.experiments.studies.study.processor_name", lambda: "Abacus 2000")
    patch.setattr("cyscc.host.experiments.studies.study.available_cores", lambda: 5)


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


class Made(NamedTuple):
    """What a study asks for, and what it makes of results that are made up."""

    requests: list[Any]
    document: dict[str, Any]
    answer: Answer

    def cells(self, name: str) -> Any:
        """Return the cells of a table of the answer."""
        return self.answer.tables[name].grid().rows


def study(figure: str, **options: Any) -> Any:
    """Return a study with options as given, and seed 9 if nothing else is said."""
    fixed: dict[str, Any] = {} if figure == "vhdl" else {"seed": 9}
    return replace(study_of(figure, {}), **fixed | options)


def made(figure: str, result: Callable[[Any], Mapping[str, Any]] = made_up, **options: Any) -> Made:
    """Return what is made of a table or figure."""
    found, measurements = study(figure, **options), FakeMeasurements(result)
    document = found.document(measurements)
    return Made(measurements.requests, document, found.answer_of(document))


def grid(figure: str, pairs: Iterable[tuple[int, int]], result: Any = made_up, **changes: Any) -> Made:
    """Return what is made of figure 10 to 13, over graphs of all these degrees and vertices."""
    degrees, vertices = (tuple(dict.fromkeys(values)) for values in zip(*pairs, strict=True))
    return made(figure, result, degrees=degrees, vertices=vertices, **{"max_edges": 1 << 30, **changes})
