"""Figures 2 and 3: recursion depth on random graphs."""

from typing import Any

from host.measuring.graphs import GraphSpec
from host.measuring.measurements import Measurements
from host.measuring.software import SoftwareRequest
from host.results.version import version
from host.studies.li.paper import FIGURE2, FIGURE3, VERTICES

__all__ = ["PARTITION", "SINGLE", "TENTH", "figure2_document", "figure3_document"]

SINGLE = "single source"
PARTITION = "single source + Partition"
"""The series, as figure 2 calls them."""
TENTH = "single source + Partition, k = n / 10"
"""Partition with as many sources at every degree, by which the text's depths seem to have been measured."""

_DEGREE = 1
"""Of the graphs of figure 3."""

_Point = tuple[str, int, int | None, SoftwareRequest]
"""Series, place on the horizontal axis, the text's depth, what is measured."""


def _request(vertices: int, degree: int, seed: int, *options: tuple[str, int]) -> SoftwareRequest:
    # On one thread, where depths repeat.
    graph = GraphSpec(kind="random", degree=degree, vertices=vertices, seed=seed)
    return SoftwareRequest(graph=graph, algorithm="li", threads=1, seed=seed, options=options)


def _document(
    measurements: Measurements, figure: str, axis: str, points: list[_Point], vertices: int, seed: int
) -> dict[str, Any]:
    results = measurements.measure(request for *_, request in points)
    return {
        "figure": figure,
        "version": version(),
        "seed": seed,
        "vertices": vertices,
        "axis": axis,
        "points": [
            {
                "series": series,
                axis: place,
                "paper": paper,
                "depth": results[request]["counts"]["depth"],
                "counts": results[request]["counts"],
                "milliseconds": 1e3 * results[request]["seconds"],
                "verified": results[request]["verified"],
            }
            for series, place, paper, request in points
        ],
    }


def figure2_document(measurements: Measurements, vertices: int, *, seed: int) -> dict[str, Any]:
    """Measure figure 2 and return it as a JSON document.

    Its ``points`` are ``series`` (`SINGLE`, `PARTITION` or `TENTH`), ``degree``, ``paper`` (the text's depth, where the
    graph has as many vertices), ``depth``, and ``counts`` and ``milliseconds`` of the run.
    """
    points: list[_Point] = []
    for degree, (single, both) in FIGURE2.items():
        for series, paper, options in (
            (SINGLE, single, (("sources", 0),)),
            (PARTITION, both, ()),
            (TENTH, both, (("sources", vertices // 10),)),
        ):
            known = paper if vertices == VERTICES else None
            points.append((series, degree, known, _request(vertices, degree, seed, *options)))
    return _document(measurements, "li-fig2", "degree", points, vertices, seed)


def figure3_document(measurements: Measurements, vertices: int, *, seed: int) -> dict[str, Any]:
    """Measure figure 3 and return it as a JSON document, whose ``points`` have ``sources`` in place of ``degree``.

    On graphs of other sizes the sources are as large a part of the vertices as the text's.
    """
    points: list[_Point] = []
    for sources, paper in FIGURE3.items():
        scaled = max(1, sources * vertices // VERTICES)
        known = paper if vertices == VERTICES else None
        points.append((PARTITION, scaled, known, _request(vertices, _DEGREE, seed, ("sources", scaled))))
    return _document(measurements, "li-fig3", "sources", points, vertices, seed)
