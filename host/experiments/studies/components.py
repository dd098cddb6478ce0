"""Figures 12 and 13: time to find the strongly connected components, and speed-up over sequential software."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import SccRequest
from cyscc.host.experiments.measuring.measurements import Measured, Request
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.charts import Line, draw_lines, group_places
from cyscc.host.experiments.studies.study import Case, Grid, Point, grouped
from cyscc.host.output import figures
from cyscc.host.output.text import count_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SpeedUps", "Times"]

PHASES = {"searches": "BFS", "intersections": "intersection", "starts": "search for a start"}
"""Parts of a time, from the bottom of a bar to its top, and their titles."""

SOFTWARE = "kosaraju"
"""Name of the baseline series."""


def _machine_phases(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the milliseconds of a machine by phase; ``starts``, the host's search for a start, is processor time."""
    cycles = {phase: 1e3 * count / result["clock_hz"] for phase, count in result["cycles"].items()}
    return {**cycles, "starts": 1e3 * result["start_seconds"]}


_COLOURS = {"searches": figures.BLUE, "intersections": figures.ORANGE, "starts": figures.GREEN}
_HATCHES = ("", "////", "....", "xxxx")
_WIDTH = 0.8


def _panels(document: dict[str, Any]) -> "tuple[Figure, list[int], list[tuple[Axes, dict[str, list[Point]]]]]":
    """Return a figure, the degrees on its axes, and its panels.

    There is a panel for each number of vertices, returned with its points by series.
    """
    groups = grouped(document["points"], "vertices")
    degrees = sorted({point["degree"] for point in document["points"]})
    figure, panels = figures.panel_grid(
        figures.lettered(f"{figures.power_text(vertices)} vertices" for (vertices,) in groups)
    )
    for axes in panels:
        figures.degree_axis(axes, degrees)
        axes.set_xlim(-0.6, len(degrees) - 0.4)
    series = ({name: own for (name,), own in grouped(group, "series").items()} for group in groups.values())
    return figure, degrees, list(zip(panels, series, strict=True))


def _time_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 12: for each degree a bar of sequential Kosaraju and one of each machine, by phase."""
    figure, degrees, panels = _panels(document)
    for axes, series in panels:
        width = _WIDTH / len(series)
        for place, (name, points) in enumerate(series.items()):
            groups = [degrees.index(point["degree"]) for point in points]
            centres = group_places(groups, place, len(series), width)
            floor = np.zeros(len(points))
            for phase, text in PHASES.items():
                heights = np.array([point["milliseconds"][phase] for point in points])
                bars = axes.bar(
                    centres,
                    heights,
                    width * 0.92,
                    bottom=floor,
                    color=_COLOURS[phase],
                    edgecolor="white",
                    hatch=_HATCHES[place % len(_HATCHES)],
                    linewidth=0,
                    label=f"{'software' if name == SOFTWARE else name}: {text}",
                )
                floor = floor + heights
            axes.bar_label(bars, [figures.time_text(total) for total in floor], padding=2, fontsize=7)
        axes.margins(y=0.08)  # room for the numbers above the bars
        axes.set(ylim=(0, None), ylabel="time (ms)")
    figures.add_legend(figure, len(PHASES))
    return figure


def _speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 13: speed-up over sequential Kosaraju against degree."""
    figure, degrees, panels = _panels(document)
    colours = (figures.BLUE, figures.SKY, figures.PURPLE, figures.VERMILION)
    for axes, series in panels:
        lines = []
        for place, (name, points) in enumerate(series.items()):
            label, looks = f"four FPGAs, {name}", {"color": colours[place % len(colours)], "marker": "s"}
            if name == "hong":
                label = f"Hong et al., {count_text(document['cores'], 'thread')}"
                looks = {"color": figures.ORANGE, "marker": "o", "linestyle": "--"}
            places = [degrees.index(point["degree"]) for point in points]
            lines.append(Line(label, places, [point["speed_up"] for point in points], looks))
        draw_lines(axes, lines, one=True, ylabel="speed-up over sequential Kosaraju")
        axes.set_ylim(0, None)
    figures.add_legend(figure, 4)
    return figure


class _Components(Grid):
    """A figure over uniform random graphs: sequential Kosaraju and each machine."""

    hong: ClassVar[bool] = False
    """Whether Hong's algorithm is measured too."""

    def cases(self) -> Iterator[Case]:
        """Yield what is to be measured."""
        for degree, vertices in self.graphs():
            graph = GraphSpec(kind=self.kind, degree=degree, vertices=vertices, seed=self.seed)
            requests: dict[str, Request] = {SOFTWARE: SoftwareRequest(graph=graph, algorithm=SOFTWARE, threads=1)}
            for config in self.configs:
                requests[config] = SccRequest(graph=graph, preset=config, memory=self.memory)
            if self.hong:
                requests["hong"] = SoftwareRequest(graph=graph, algorithm="hong", threads=available_cores())
            yield Case({"degree": degree, "vertices": vertices}, requests)

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), "processor": processor_name(), "cores": available_cores()}

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        return {**super().words(document), "cores_text": count_text(document["cores"], "core")}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        return {"points": document["points"]}


class Times(_Components):
    """Figure 12: time of sequential Kosaraju and of each machine.

    Each of the ``points`` of its document is a bar: ``degree``, ``vertices``, ``series`` (``kosaraju`` or a
    configuration), ``milliseconds`` by phase, and ``total``. No time includes trimming.
    """

    figure_of = staticmethod(_time_figure)

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the points of a graph."""
        for name, result in found.items():
            if name == SOFTWARE:
                phases, further = {phase: 1e3 * result[phase] for phase in PHASES}, ["runs"]
            else:
                phases, further = _machine_phases(result), ["cycles", "components", "trimmed", "iterations", "wall"]
            kept = {field: result[field] for field in further}
            yield {"series": name, "milliseconds": phases, "total": sum(phases.values()), **kept}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        rows = []
        for group in grouped(document["points"], "vertices", "degree").values():
            base = next(point["total"] for point in group if point["series"] == SOFTWARE)
            rows += [{**point, "speed_up": base / point["total"]} for point in group]
        return {"points": rows}


class SpeedUps(_Components):
    """Figure 13: speed-up of each machine, and of Hong's algorithm, over sequential Kosaraju.

    The ``points`` of its document have ``degree``, ``vertices``, ``series`` (a configuration or ``hong``),
    ``milliseconds``, ``kosaraju`` (its milliseconds), and ``speed_up``. Only Hong's time includes trimming, which is
    a part of that algorithm.
    """

    hong = True
    figure_of = staticmethod(_speed_up_figure)

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the points of a graph."""
        base = 1e3 * found.pop(SOFTWARE)["seconds"]
        for name, result in found.items():
            time = 1e3 * result["seconds"] if name == "hong" else sum(_machine_phases(result).values())
            yield {"series": name, "milliseconds": time, "kosaraju": base, "speed_up": base / time}
