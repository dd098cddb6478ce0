"""Table I and figures 10 to 13 of Attia et al. 2015: searches and components on the machine, and by software."""

import itertools
import math
import statistics
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import CAUSES, BfsRequest, SccRequest
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Measured, Request
from cyscc.host.experiments.studies.charts import Line, draw_lines, group_places
from cyscc.host.experiments.studies.machines import preset_of
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.study import Case, Grid, MachineStudy, Point, grouped, quotient
from cyscc.host.output import figures
from cyscc.host.output.text import count_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.execution import SOURCE_RULE
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {"random": "uniform random", "rmat": "R-MAT"}
"""Kinds of graphs, in the order of table I's columns."""

ENGINES = (1, 4)
"""Numbers of Application Engines (FPGAs), in the order of table I's columns."""

TABLE1_DEGREES = (8, 16, 32, 64)
"""Average degrees, the rows of table I and the panels of figures 10 and 11."""

TABLE1_VERTICES = (1 << 20, 1 << 21, 1 << 22, 1 << 23)
"""Numbers of vertices that table I averages over."""

TABLE1 = {(row["kind"], row["degree"]): row for row in printed("attia-table1", texts=("kind",))}
"""Rows of table I by kind and degree: GTEPS of the accelerator by the number of AEs, and of Betkaoui et al. 2012."""

_SUMMED = ("cycles", "edges", "levels", "duplicates")
"""Fields of a point with counts."""


class Key(NamedTuple):
    """Machine and graph of a point."""

    config: str
    """Machine, of `cyscc.host.experiments.studies.machines.SEARCH_MACHINES`."""
    vertices: int
    kind: str
    degree: int
    engines: int
    """Number of AEs."""


class _Searches(MachineStudy):
    """Searches on machines.

    In the points of the document, ``paper`` is table I's average for any number of vertices; for degrees that are not
    in the table, ``paper``, ``ratio`` and ``betkaoui`` are None.
    """

    sheet_name = "searches"

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        judged = ", of the means" if "averages" in document else ""
        return {**super().words(document), "source_rule": SOURCE_RULE, "judged": judged}

    @abstractmethod
    def keys(self) -> Iterable[Key]:
        """Return the keys of the points."""

    def cases(self) -> Iterator[Case]:
        """Yield what is to be measured."""
        for key in self.keys():
            preset, row = preset_of(key.config, key.engines), TABLE1.get((key.kind, key.degree), {})
            graph = GraphSpec(kind=key.kind, degree=key.degree, vertices=key.vertices, seed=self.seed)
            known = {**key._asdict(), "preset": preset, "seed": self.seed}
            known |= {"paper": row.get(str(key.engines)), "betkaoui": row.get("betkaoui")}
            yield Case(known, {"search": BfsRequest(graph=graph, preset=preset, memory=self.memory)})

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the point of a search."""
        result = found["search"]
        told = {name: result[name] for name in (*_SUMMED, "source", "reached", "shares", "verified", "wall")}
        yield {
            **told,
            "levels": len(result["levels"]),
            "simulated": result["gteps"],
            "ratio": quotient(result["gteps"], case.known["paper"]),
        }


def averages(found: Sequence[Point]) -> list[Point]:
    """Return each cell's mean over the numbers of vertices, as in the paper's table."""
    return [_mean(group) for group in grouped(found, "config", "kind", "degree", "engines").values()]


def _mean(group: Sequence[Point]) -> Point:
    same = ("kind", "degree", "engines", "config", "paper", "betkaoui", "preset", "seed")
    mean = {name: group[0][name] for name in same}
    mean |= {name: statistics.fmean(cell[name] for cell in group) for name in ("simulated", *_SUMMED)}
    mean["ratio"] = mean["simulated"] / mean["paper"]
    mean["shares"] = {cause: statistics.fmean(cell["shares"][cause] for cell in group) for cause in CAUSES}
    return mean


def errors(found: Sequence[Point]) -> dict[str, Any]:
    """Return mean and maximum difference from the paper, in percent of the paper's value.

    Parameters
    ----------
    found : sequence of dict
        Cells of one configuration.

    Returns
    -------
    dict
        ``mean_percent`` and ``largest_percent`` over all cells, and the same for each kind of graph.
    """

    def summary(cells: Iterable[Point]) -> dict[str, float]:
        values = [100 * abs(cell["ratio"] - 1) for cell in cells]
        return {"mean_percent": statistics.fmean(values), "largest_percent": max(values)}

    return {**summary(found), **{kind: summary(cells) for (kind,), cells in grouped(found, "kind").items()}}


_WIDTH = 0.18
_HATCH = {1: "////", 4: ""}
_SIDES = {"paper": figures.ORANGE, "simulated": figures.BLUE}


def _table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel for each configuration and kind of graph; several numbers of vertices are averaged."""
    groups = grouped(document.get("averages", document["cells"]), "config", "kind")
    titles = [f"{config}: {KINDS[kind]}" for config, kind in groups]
    figure, panels = figures.panel_grid(titles, row=3.6, rest=0.5, sharey=True)
    places, series = range(len(TABLE1_DEGREES)), list(itertools.product(ENGINES, _SIDES.items()))
    for axes, cells in zip(panels, groups.values(), strict=True):
        for place, (engines, (side, colour)) in enumerate(series):
            axes.bar(
                group_places(places, place, len(series), _WIDTH),
                [cell[side] for cell in cells if cell["engines"] == engines],
                _WIDTH,
                color=colour,
                edgecolor="white",
                hatch=_HATCH[engines],
                label=f"{side}, {count_text(engines, 'AE')}",
            )
        figures.degree_axis(axes, TABLE1_DEGREES)
        theirs = [cell["betkaoui"] for cell in cells if cell["engines"] == ENGINES[0]]
        looks = {"linestyle": "", "marker": "D", "markersize": 5, "color": figures.BLACK}
        beside = [place + 2.5 * _WIDTH for place in places]
        line = Line("Betkaoui et al., 4 FPGAs", beside, theirs, looks)
        draw_lines(axes, [line], ylabel="throughput (GTEPS)")
    panels[0].set_ylim(bottom=0)  # last, and for all panels: they share the axis
    figures.add_legend(figure, 5)
    return figure


@dataclass(frozen=True, kw_only=True)
class Table1(_Searches):
    """Table I: its 16 cells, in the paper and in simulation.

    Its document has ``cells``; ``averages`` over the numbers of vertices, if there are several; ``errors`` by
    configuration, of the averages if there are any; and the settings of the runs.

    Parameters
    ----------
    configs : tuple of str
        Names of machines, of `cyscc.host.experiments.studies.machines.SEARCH_MACHINES`.
    vertices : tuple of int
        Numbers of vertices.
    memory : str
        Memory profile.
    """

    configs: tuple[str, ...]
    vertices: tuple[int, ...]
    memory: str

    points_name = "cells"
    figure_of = staticmethod(_table1_figure)

    def keys(self) -> Iterable[Key]:
        """Return the keys of the cells."""
        return itertools.starmap(Key, itertools.product(self.configs, self.vertices, KINDS, TABLE1_DEGREES, ENGINES))

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the cells."""
        head = super().head(results)
        return {"table": head.pop("figure"), **head}

    def document(self, measurements: Plan) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        document = super().document(measurements)
        cells = document["cells"]
        if len(self.vertices) > 1:
            document["averages"] = cells = averages(cells)
        document["errors"] = {config: errors(group) for (config,), group in grouped(cells, "config").items()}
        return document

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        cells = document["cells"]
        named = ("config", "vertices", "kind", "degree", "engines")
        shares = [
            {name: cell[name] for name in named} | {each: cell["shares"][each] for each in CAUSES} for cell in cells
        ]
        differences = [
            {"config": config, "kind": kind, **found[kind]}
            for config, each in document["errors"].items()
            for found in [{"all": each, **each}]
            for kind in ("all", *KINDS)
        ]
        return {"cells": cells, "averages": document.get("averages", []), "errors": differences, "shares": shares}


_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: figures.ORANGE, 4: figures.BLUE}
_MARKERS = {1: "o", 4: "s"}
_LINES = ("-", "--", ":", "-.")


def _panel_lines(points: list[Point]) -> Iterator[Line]:
    """Yield the lines of a degree; the paper's averages are over the numbers of vertices that they cover."""
    for number, ((config,), group) in enumerate(grouped(points, "config").items()):
        style = _LINES[number % len(_LINES)]
        for (engines,), series in grouped(group, "engines").items():
            exponents, heights = zip(
                *((math.log2(point["vertices"]), point["simulated"]) for point in series), strict=True
            )
            looks = {"color": _COLOURS[engines], "marker": _MARKERS[engines], "linestyle": style}
            yield Line(f"CyGraph {_COUNT[engines]}, {config}", exponents, heights, looks)
    published = {point["engines"]: point["paper"] for point in points}
    for label, height, colour, width in (
        ("Betkaoui et al. four FPGAs, paper", points[0]["betkaoui"], figures.BLACK, 2.0),
        *((f"CyGraph {_COUNT[each]}, paper", published[each], _COLOURS[each], 1.0) for each in ENGINES),
    ):
        if height is not None:
            covered = [math.log2(TABLE1_VERTICES[0]), math.log2(TABLE1_VERTICES[-1])]
            yield Line(label, covered, [height] * 2, {"color": colour, "linewidth": width, "linestyle": (0, (4, 1))})


def _throughput_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 10 or 11, given the document."""
    groups = grouped(document["points"], "degree")
    sizes = sorted({*TABLE1_VERTICES, *(point["vertices"] for point in document["points"])})
    figure, panels = figures.panel_grid(
        figures.lettered(f"average degree {degree}" for (degree,) in groups), sharey=True
    )
    for axes, points in zip(panels, groups.values(), strict=True):
        draw_lines(axes, list(_panel_lines(points)), xlabel="vertices", ylabel="throughput (GTEPS)")
        axes.set_xticks([math.log2(size) for size in sizes], [figures.power_text(size) for size in sizes])
        axes.grid(color="0.85")
    panels[0].set_ylim(bottom=0)  # last, and for all panels: they share the axis
    figures.add_legend(figure, 3)
    return figure


class Throughput(_Searches, Grid):
    """Figures 10 and 11: throughput over the number of vertices, for random and for R-MAT graphs."""

    figure_of = staticmethod(_throughput_figure)

    def keys(self) -> Iterable[Key]:
        """Return the keys of the points."""
        for config, (degree, vertices), engines in itertools.product(self.configs, self.graphs(), ENGINES):
            yield Key(config, vertices, self.kind, degree, engines)

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), "paper_average_over_vertices": list(TABLE1_VERTICES)}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        return {"points": document["points"]}


PHASES = {"searches": "BFS", "intersections": "intersection", "starts": "search for a start"}
"""Parts of a time, from the bottom of a bar to its top, and their titles."""

SOFTWARE = "kosaraju"
"""Name of the baseline series."""


def _machine_phases(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the milliseconds of a machine by phase; ``starts``, the host's search for a start, is processor time."""
    cycles = {phase: 1e3 * count / result["clock_hz"] for phase, count in result["cycles"].items()}
    return {**cycles, "starts": 1e3 * result["start_seconds"]}


_PHASE_COLOURS = {"searches": figures.BLUE, "intersections": figures.ORANGE, "starts": figures.GREEN}
_HATCHES = ("", "////", "....", "xxxx")
_GROUP_WIDTH = 0.8


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
        width = _GROUP_WIDTH / len(series)
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
                    color=_PHASE_COLOURS[phase],
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
