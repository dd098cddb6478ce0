"""Made-up results of measurements, and documents made of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.runs import KERNEL_CAUSES, BfsRequest, SccRequest
from cyscc.host.experiments.measuring.software import MecRequest, SoftwareRequest
from cyscc.host.experiments.plan.request import Request
from cyscc.host.experiments.studies.catalogue import study_of
from cyscc.host.experiments.studies.vhdl import REFERENCE, PublishedRun, read_runs


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


def li_made_up(request: Any) -> dict[str, Any]:
    """Return a result: 40 ms of li, 60 ms of Tarjan's algorithm."""
    counts = {"depth": 260, "queries": 1000, "edges": 2000, "passes": 300, "subgraphs": 800}
    of_li = 0.04 if ("as-printed", 1) in request.options else 0.02
    seconds = {"tarjan": 0.06, "fbt": 0.05, "li": of_li}[request.algorithm]
    sizes = {"vertices": 1000, "edges": 12_000, "components": 16}
    return {"seconds": seconds, "counts": counts, "verified": True, **sizes}


_QUACH_COUNTS = {
    "edges": 70_000,
    "edges_pruning": 20_000,
    "edges_by_pivot": 90_000,
    "passes": 17,
    "prune_rounds": 4,
    "levels": 11,
    "pruned": 30,
    "components_searched": 2,
    "pivots_wasted": 9,
}


def quach_made_up(request: SoftwareRequest) -> dict[str, Any]:
    """Return a result: 2 ms, 4 ms as printed; a microsecond for each vertex of Tarjan's algorithm."""
    if request.algorithm == "tarjan":
        assert isinstance(request.graph, GraphSpec | GraphFile)
        return {"seconds": request.graph.vertices * 1e-6, "counts": {}}
    graph = request.graph
    sizes = {"vertices": graph.vertices, "edges": graph.edges, "components": 40}  # type: ignore[union-attr]
    return {"seconds": 0.004 if ("as-printed", 1) in request.options else 0.002, "counts": _QUACH_COUNTS, **sizes}


_WIJS_COUNTS = ("rounds", "pivots", "trimming_rounds", "search_iterations", "passes", "edges")
_WIJS_SECONDS = {"basic": 12.0, "parallel": 3.0, "tarjan": 4.0, "fbt": 2.0}


def wijs_made_up(request: SoftwareRequest) -> dict[str, Any]:
    """Return 8 s of Tarjan's algorithm, and 4 s of fbt; 2 s with segments."""
    options = dict(request.options)
    seconds = 8.0 if request.algorithm == "tarjan" else 2.0 if options["segment"] == 7 else 4.0
    counts = {name: 999 + len(options) for name in _WIJS_COUNTS}
    return {"seconds": seconds, "counts": counts, "vertices": 4000, "edges": 10_000, "components": 17}


def mecs_made_up(request: MecRequest | SoftwareRequest) -> dict[str, Any]:
    """Return 12 s of the basic algorithm and 4 s of Tarjan's, 3 s of the parallel one and 2 s of fbt."""
    result = {"seconds": _WIJS_SECONDS[request.algorithm], "counts": {"passes": 1700, "edges": 180_000}}
    if isinstance(request, SoftwareRequest):
        return {**result, "vertices": 4000, "edges": 10_000, "components": 1900}
    sizes = {"states": 4000, "choices": 6000, "transitions": 10_000}
    return {**result, **sizes, "mecs": 15, "in_mecs": 1600, "rounds": [{}, {}, {}]}


_RUNS = {(run.graph, f"fixed:{run.latency}"): run for run in read_runs(REFERENCE)}


def published(request: Any) -> PublishedRun:
    """Return the published run that a request is compared with."""
    return _RUNS[request.graph.path.stem, request.spec.memory]


def vhdl_made_up(request: Any) -> dict[str, Any]:
    """Return the published run with 1 % more cycles, without loss."""
    run = published(request)
    levels = [[level.cycles * 1.01, level.frontier, level.edges] for level in run.levels]
    return {"cycles": run.cycles * 1.01, "edges_read": run.edges, "levels": levels}
