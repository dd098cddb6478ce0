"""Base classes of studies: tables and figures that are measured."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from cyscc.host.answer.answer import Answer, Chart, Column, Table
from cyscc.host.baselines.algorithms import AS_PRINTED
from cyscc.host.experiments.measuring.measurements import Measurements
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import version
from cyscc.host.specification.numbers import number_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AS_ITS_PAPER", "Columns", "Grid", "Point", "Study", "grouped", "left_out_text", "run_fields", "table"]

Point = dict[str, Any]
"""A point of a figure, or a row or cell of a table, in a study's document."""

Columns: TypeAlias = Mapping[str, Column | str]
"""Columns of a table, see `cyscc.host.answer.answer.Table`."""

AS_ITS_PAPER = ((AS_PRINTED, 1),)
"""Options of a measurement of ``fbt``, ``li`` or ``quach`` beside its paper: the published scheme alone."""


def table(title: str, rows: Iterable[Mapping[str, Any]], columns: Columns) -> Table:
    """Return a table of all rows; what is inside of their values has names with dots: ``counts.edges``."""
    import pandas as pd

    return Table(title=title, frame=pd.json_normalize(list(rows)), columns=columns, most=None)


@dataclass(frozen=True, kw_only=True)
class Study(ABC):
    """A table or figure of a paper; the fields are its options.

    Parameters
    ----------
    seed : int
        Seed of the graphs, if they are generated.
    """

    seed: int = 1

    answer_of: ClassVar["staticmethod[[dict[str, Any]], Answer]"]
    """Function that returns the tables of the document, and what is said of them."""
    figure_of: ClassVar["staticmethod[[dict[str, Any]], Figure]"]
    """Function that draws the document."""

    @abstractmethod
    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document.

        Raises
        ------
        InputError, SimulationError
            There is nothing to measure, or a measurement failed.
        """

    def head(self, figure: str) -> dict[str, Any]:
        """Return the first fields of the document: name of the figure or table, version and seed."""
        return {"figure": figure, "version": version(), "seed": self.seed}

    def answer(self, measurements: Measurements) -> Answer:
        """Perform the measurements, and return the answer, which has all fields of the document."""
        document = self.document(measurements)
        told = self.answer_of(document)
        chart = Chart(title=told.title, draw=partial(self.figure_of, document))
        return replace(told, fields=document, charts={"figure": chart})


@dataclass(frozen=True, kw_only=True)
class Grid(Study):
    """A figure over graphs of all combinations of some sizes and degrees.

    Parameters
    ----------
    figure : str
        Name of the figure.
    configs : tuple of str
        Names of machines, see `cyscc.host.experiments.studies.paper`.
    vertices, degrees : tuple of int
        Numbers of vertices; average degrees.
    max_edges : int
        Most edges of a graph; larger graphs are left out.
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

    def graphs(self) -> list[tuple[int, int]]:
        """Return degree and number of vertices of each graph.

        Raises
        ------
        InputError
            All graphs are too large.
        """
        pairs = list(itertools.product(self.degrees, self.vertices))
        kept = [pair for pair in pairs if pair[0] * pair[1] <= self.max_edges]
        if not kept:
            least = min(degree * size for degree, size in pairs)
            raise InputError(f"no graph has at most {self.max_edges} edges: the smallest one has {least} (--max-edges)")
        return kept

    def described(self, results: Mapping[Any, Mapping[str, Any]], *, kind: str) -> dict[str, Any]:
        """Return the fields of the document other than the points.

        Parameters
        ----------
        results : mapping
            The measurements.
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


def run_fields(results: Mapping[Any, Mapping[str, Any]], *, memory: str, seed: int) -> dict[str, Any]:
    """Return the fields of a document on its runs: version, memory profile, clock and seed."""
    clock = next(result["clock_hz"] for result in results.values() if "clock_hz" in result)
    return {"version": version(), "memory": memory, "clock_hz": clock, "seed": seed}


def left_out_text(document: dict[str, Any]) -> list[str]:
    """Return a sentence that names the graphs left out; none if there are none."""
    names = [f"degree {each['degree']} with {number_text(each['vertices'])}" for each in document["left_out"]]
    if not names:
        return []
    return [f"Left out, more than {number_text(document['max_edges'])} edges: {', '.join(names)} vertices."]


def grouped(points: Iterable[Point], *names: str) -> dict[tuple[Any, ...], list[Point]]:
    """Return points grouped by the values of some fields, in their original order."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(point[name] for name in names), []).append(point)
    return groups
