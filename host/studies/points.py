"""Searches beside the paper's: the cells of table I, the points of figures 10 and 11."""

import argparse
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from host.errors import InputError
from host.measuring.graphs import GraphSpec, size_text
from host.measuring.machines import BfsRequest
from host.measuring.measurements import Measurements
from host.measuring.requests import Measured
from host.results.version import version
from host.studies.paper import betkaoui_gteps, cygraph_gteps
from host.studies.reproduction import preset_of

__all__ = ["SUMMED", "Grid", "Point", "grouped", "left_out_text", "measure_points", "run_fields"]

Point = dict[str, Any]
"""A point of a figure, or a cell of a table, as it is in the document."""

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
        The points; the configurations are names of `host.studies.reproduction.SEARCH_MACHINES`.
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


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Grid of points that a figure goes over.

    Parameters
    ----------
    figure : str
        Its name.
    configs : tuple of str
        Names of machines, of `host.studies.reproduction`.
    vertices, degrees : tuple of int
        Sizes of the graphs: each with each.
    max_edges : int
        Edges of the largest graph; larger ones are left out.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    """

    figure: str
    configs: tuple[str, ...]
    vertices: tuple[int, ...]
    degrees: tuple[int, ...]
    max_edges: int
    memory: str
    seed: int

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Grid":
        """Return what options ask for."""
        return cls(**{name: getattr(arguments, name) for name in cls.__dataclass_fields__})

    def graphs(self) -> list[tuple[int, int]]:
        """Return degree and vertices of each graph.

        Raises
        ------
        InputError
            None is small enough.
        """
        pairs = list(itertools.product(self.degrees, self.vertices))
        kept = [pair for pair in pairs if pair[0] * pair[1] <= self.max_edges]
        if not kept:
            least = min(degree * size for degree, size in pairs)
            raise InputError(f"no graph has at most {self.max_edges} edges: the smallest one has {least} (--max-edges)")
        return kept

    def document(self, results: Mapping[Any, Mapping[str, Any]], *, kind: str) -> dict[str, Any]:
        """Return what a figure's document says of it, the points apart.

        Parameters
        ----------
        results : mapping
            What was measured.
        kind : str
            Kind of graphs.
        """
        kept = self.graphs()
        left_out = [pair for pair in itertools.product(self.degrees, self.vertices) if pair not in kept]
        return {
            "figure": self.figure,
            **run_fields(results, memory=self.memory, seed=self.seed),
            "kind": kind,
            "max_edges": self.max_edges,
            "left_out": [{"degree": degree, "vertices": vertices} for degree, vertices in left_out],
        }


def left_out_text(document: dict[str, Any]) -> str:
    """Return a line that names the graphs left out, empty when there are none."""
    names = [f"degree {each['degree']} with {size_text(each['vertices'])}" for each in document["left_out"]]
    if not names:
        return ""
    return f"\nLeft out, more than {size_text(document['max_edges'])} edges: {', '.join(names)} vertices.\n"


def grouped(points: Iterable[Point], *names: str) -> dict[tuple[Any, ...], list[Point]]:
    """Return the points by the values of these fields, groups and points in the order in which they come."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(point[name] for name in names), []).append(point)
    return groups
