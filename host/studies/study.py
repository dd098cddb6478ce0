"""Studies: tables and figures that are measured and shown, and what they come to."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from host.errors import InputError
from host.measuring.graphs import size_text
from host.measuring.measurements import Measurements
from host.output import open_output, write_json
from host.results.version import version

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Grid", "Point", "Report", "Study", "grouped", "left_out_text", "run_fields"]

Point = dict[str, Any]
"""A point of a figure, or a row or cell of a table, as it is in the document."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of a study.

    Parameters
    ----------
    document : dict
        For programs, JSON-able.
    markdown : str
        For people.
    draw : callable, optional
        Draws the plot.
    failure : str, optional
        What the study shows to be not as it should, one line.
    """

    document: dict[str, Any]
    markdown: str
    draw: "Callable[[], Figure] | None" = None
    failure: str = ""

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write the files, and return their paths.

        Parameters
        ----------
        folder : Path
            Where they go.
        name : str
            Their name without suffix.

        Raises
        ------
        InputError
            One could not be written.
        """
        paths = [folder / f"{name}.{suffix}" for suffix in ("json", "md")]
        write_json(str(paths[0]), self.document)
        with open_output(str(paths[1])) as file:
            file.write(self.markdown.encode())
        if self.draw is not None:
            from host.results.plots import write_plot

            paths.append(folder / f"{name}.svg")
            write_plot(self.draw, str(paths[-1]))
        return paths


@dataclass(frozen=True, kw_only=True)
class Study(ABC):
    """A table or figure of a paper: the fields are its options.

    Parameters
    ----------
    seed : int
        Seed of the graphs.
    """

    seed: int

    markdown: ClassVar["staticmethod[[dict[str, Any]], str]"]
    """Returns the document as Markdown."""
    figure_of: ClassVar["staticmethod[[dict[str, Any]], Figure] | None"] = None
    """Draws the document."""

    @abstractmethod
    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Measure it, and return it as a JSON document.

        Raises
        ------
        InputError, SimulationError
            There is nothing to measure, or a measurement failed.
        """

    def report(self, measurements: Measurements) -> Report:
        """Measure it, and return its report."""
        document = self.document(measurements)
        draw = None if self.figure_of is None else partial(self.figure_of, document)
        return Report(document=document, markdown=self.markdown(document), draw=draw)


@dataclass(frozen=True, kw_only=True)
class Grid(Study):
    """A figure over graphs of some sizes and degrees, each with each.

    Parameters
    ----------
    figure : str
        Its name.
    configs : tuple of str
        Names of machines, of `host.studies.paper`.
    vertices, degrees : tuple of int
        Sizes of the graphs.
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

    def described(self, results: Mapping[Any, Mapping[str, Any]], *, kind: str) -> dict[str, Any]:
        """Return what the document says besides its points.

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


def run_fields(results: Mapping[Any, Mapping[str, Any]], *, memory: str, seed: int) -> dict[str, Any]:
    """Return what a document says of the runs: version, memory profile, clock and seed."""
    clock = next(result["clock_hz"] for result in results.values() if "clock_hz" in result)
    return {"version": version(), "memory": memory, "clock_hz": clock, "seed": seed}


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
