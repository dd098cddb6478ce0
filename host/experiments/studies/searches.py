"""Throughput of breadth-first search compared with the paper's: cells of table I, points of figures 10 and 11."""

import itertools
import math
import statistics
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import CAUSES, BfsRequest
from cyscc.host.experiments.measuring.measurements import Measured, Measurements, Request
from cyscc.host.experiments.sheets import Sheet, sheet_of
from cyscc.host.experiments.studies import paper
from cyscc.host.experiments.studies.charts import Line, draw_lines, group_places
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.study import Case, Grid, MachineStudy, Point, grouped, quotient
from cyscc.host.output.figures import BLACK, BLUE, ORANGE, add_legend, degree_axis, lettered, panel_grid, power_text
from cyscc.host.output.text import count_text
from cyscc.host.runs.execution import SOURCE_RULE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TABLE1", "Table1", "Throughput", "averages", "errors"]

TABLE1 = {(row["kind"], row["degree"]): row for row in printed("attia-table1", texts=("kind",))}
"""Rows of table I by kind and degree: GTEPS of the accelerator by the number of AEs, and of Betkaoui et al. 2012."""

_SUMMED = ("cycles", "edges", "levels", "duplicates")
"""Fields of a point with counts."""


class Key(NamedTuple):
    """What a point is measured on."""

    config: str
    """Machine, of `paper.SEARCH_MACHINES`."""
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

    def sheet(self) -> Sheet:
        """Return how the answer is told."""
        return sheet_of("searches")

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
            preset, row = paper.preset_of(key.config, key.engines), TABLE1.get((key.kind, key.degree), {})
            graph = GraphSpec(kind=key.kind, degree=key.degree, vertices=key.vertices, seed=self.seed)
            known = {**key._asdict(), "preset": preset, "seed": self.seed}
            known |= {"paper": row.get(str(key.engines)), "betkaoui": row.get("betkaoui")}
            yield Case(known, {"search": BfsRequest(graph=graph, preset=preset, memory=self.memory)})

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the point of a search."""
        result = found["search"]
        told = {name: result[name] for name in (*_SUMMED, "source", "reached", "shares", "verified", "wall")}
        yield {**told, "simulated": result["gteps"], "ratio": quotient(result["gteps"], case.known["paper"])}


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


_KINDS = {"random": "uniform random", "rmat": "R-MAT"}

_WIDTH = 0.18
_HATCH = {1: "////", 4: ""}
_SIDES = {"paper": ORANGE, "simulated": BLUE}


def _table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel for each configuration and kind of graph; several numbers of vertices are averaged."""
    groups = grouped(document.get("averages", document["cells"]), "config", "kind")
    titles = [f"{config}: {_KINDS[kind]}" for config, kind in groups]
    figure, panels = panel_grid(titles, row=3.6, rest=0.5, sharey=True)
    places, series = range(len(paper.TABLE1_DEGREES)), list(itertools.product(paper.ENGINES, _SIDES.items()))
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
        degree_axis(axes, paper.TABLE1_DEGREES)
        theirs = [cell["betkaoui"] for cell in cells if cell["engines"] == paper.ENGINES[0]]
        looks = {"linestyle": "", "marker": "D", "markersize": 5, "color": BLACK}
        beside = [place + 2.5 * _WIDTH for place in places]
        line = Line("Betkaoui et al., 4 FPGAs", beside, theirs, looks)
        draw_lines(axes, [line], ylabel="throughput (GTEPS)")
    panels[0].set_ylim(bottom=0)  # last, and for all panels: they share the axis
    add_legend(figure, 5)
    return figure


@dataclass(frozen=True, kw_only=True)
class Table1(_Searches):
    """Table I: its 16 cells, in the paper and in simulation.

    Its document has ``cells``; ``averages`` over the numbers of vertices, if there are several; ``errors`` by
    configuration, of the averages if there are any; and the settings of the runs.

    Parameters
    ----------
    configs : tuple of str
        Names of machines, of `cyscc.host.experiments.studies.paper.SEARCH_MACHINES`.
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
        return itertools.starmap(
            Key, itertools.product(self.configs, self.vertices, paper.KINDS, paper.TABLE1_DEGREES, paper.ENGINES)
        )

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the cells."""
        head = super().head(results)
        return {"table": head.pop("figure"), **head}

    def document(self, measurements: Measurements) -> dict[str, Any]:
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
            for kind in ("all", *paper.KINDS)
        ]
        return {"cells": cells, "averages": document.get("averages", []), "errors": differences, "shares": shares}


_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: ORANGE, 4: BLUE}
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
        ("Betkaoui et al. four FPGAs, paper", points[0]["betkaoui"], BLACK, 2.0),
        *((f"CyGraph {_COUNT[each]}, paper", published[each], _COLOURS[each], 1.0) for each in paper.ENGINES),
    ):
        if height is not None:
            covered = [math.log2(paper.TABLE1_VERTICES[0]), math.log2(paper.TABLE1_VERTICES[-1])]
            yield Line(label, covered, [height] * 2, {"color": colour, "linewidth": width, "linestyle": (0, (4, 1))})


def _throughput_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 10 or 11, given the document."""
    groups = grouped(document["points"], "degree")
    sizes = sorted({*paper.TABLE1_VERTICES, *(point["vertices"] for point in document["points"])})
    figure, panels = panel_grid(lettered(f"average degree {degree}" for (degree,) in groups), sharey=True)
    for axes, points in zip(panels, groups.values(), strict=True):
        draw_lines(axes, list(_panel_lines(points)), xlabel="vertices", ylabel="throughput (GTEPS)")
        axes.set_xticks([math.log2(size) for size in sizes], [power_text(size) for size in sizes])
        axes.grid(color="0.85")
    panels[0].set_ylim(bottom=0)  # last, and for all panels: they share the axis
    add_legend(figure, 3)
    return figure


class Throughput(_Searches, Grid):
    """Figures 10 and 11: throughput over the number of vertices, for random and for R-MAT graphs."""

    figure_of = staticmethod(_throughput_figure)

    @property
    def kind(self) -> str:
        """Kind of the graphs."""
        return {"fig10": "random", "fig11": "rmat"}[self.figure]

    def keys(self) -> Iterable[Key]:
        """Return the keys of the points."""
        for config, (degree, vertices), engines in itertools.product(self.configs, self.graphs(), paper.ENGINES):
            yield Key(config, vertices, self.kind, degree, engines)

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), "paper_average_over_vertices": list(paper.TABLE1_VERTICES)}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        return {"points": document["points"]}
