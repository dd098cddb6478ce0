"""Table I and figures 10 to 13 of Attia et al. 2015: searches and components on the machine, and by software."""

import itertools
import statistics
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

from cyscc.host.answer import charts
from cyscc.host.answer.charts import Figure, Panel, Trace, look, series
from cyscc.host.answer.colours import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.runs import KERNEL_CAUSES, BfsRequest, SccRequest
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Measured, Request
from cyscc.host.experiments.studies.catalogue import preset_of
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.study import Case, Grid, MachineStudy, Point, grouped, quotient
from cyscc.host.output.text import count_text, milliseconds_text
from cyscc.host.runs.execution import SOURCE_RULE
from cyscc.host.specification.numbers import number_text

if TYPE_CHECKING:
    import pandas as pd

_GTEPS = {"title": "throughput (GTEPS)", "rangemode": "tozero"}

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


Key = tuple[str, int, str, int, int]
"""Machine, of `cyscc.host.experiments.studies.catalogue.SEARCH_MACHINES`, and graph of a point: vertices, kind and
degree of the graph; number of AEs."""


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
        for config, vertices, kind, degree, engines in self.keys():
            preset, row = preset_of(config, engines), TABLE1.get((kind, degree), {})
            graph = GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=self.seed)
            known = {"config": config, "vertices": vertices, "kind": kind, "degree": degree, "engines": engines}
            known |= {"preset": preset, "seed": self.seed}
            known |= {"paper": row.get(str(engines)), "betkaoui": row.get("betkaoui")}
            yield Case(known, {"search": BfsRequest.of(graph, preset, self.memory)})

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
    same = ("kind", "degree", "engines", "config", "paper", "betkaoui", "preset", "seed")
    means = []
    for group in grouped(found, "config", "kind", "degree", "engines").values():
        mean = {name: group[0][name] for name in same}
        mean |= {name: statistics.fmean(cell[name] for cell in group) for name in ("simulated", *_SUMMED)}
        mean["ratio"] = mean["simulated"] / mean["paper"]
        shares = {cause: statistics.fmean(cell["shares"][cause] for cell in group) for cause in KERNEL_CAUSES}
        means.append({**mean, "shares": shares})
    return means


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


_SIDES = {"paper": ORANGE, "simulated": BLUE}
_HATCH = {1: "/", 4: ""}


def _table1_figure(document: dict[str, Any]) -> Figure:
    """Return a panel for each configuration and kind of graph; several numbers of vertices are averaged."""
    cells = charts.frame_of(document.get("averages", document["cells"]))
    long = cells.melt(["config", "kind", "degree", "engines"], list(_SIDES), "side")
    long["name"] = [f"{row.side}, {count_text(row.engines, 'AE')}" for row in long.itertuples()]
    looks = {
        f"{side}, {count_text(engines, 'AE')}": look(
            "bars", colour, marker={"pattern": charts.pattern(_HATCH[engines])}
        )
        for engines, (side, colour) in itertools.product(ENGINES, _SIDES.items())
    }
    parts = []
    for (config, kind), own in cells[cells["engines"] == ENGINES[0]].groupby(["config", "kind"], sort=False):
        shown = long[(long["config"] == config) & (long["kind"] == kind)].sort_values("engines", kind="stable")
        theirs = own.assign(name="Betkaoui et al., 4 FPGAs")
        bars = series(shown, "degree", "value", "name", looks)
        bars += series(theirs, "degree", "betkaoui", "name", {"Betkaoui et al., 4 FPGAs": look("bars", GREY)})
        axis = {"type": "category", "title": "average degree"}
        parts.append(Panel(f"{config}: {KINDS[kind]}", bars, x=axis, y=_GTEPS))
    return charts.panels(parts, shared="y", barmode="group")


@dataclass(frozen=True, kw_only=True)
class Table1(_Searches):
    """Table I: its 16 cells, in the paper and in simulation.

    Its document has ``cells``; ``averages`` over the numbers of vertices, if there are several; ``errors`` by
    configuration, of the averages if there are any; and the settings of the runs.

    Parameters
    ----------
    configs : tuple of str
        Names of machines, of `cyscc.host.experiments.studies.catalogue.SEARCH_MACHINES`.
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
        return itertools.product(self.configs, self.vertices, KINDS, TABLE1_DEGREES, ENGINES)

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
            {name: cell[name] for name in named} | {each: cell["shares"][each] for each in KERNEL_CAUSES}
            for cell in cells
        ]
        differences = [
            {"config": config, "kind": kind, **found[kind]}
            for config, each in document["errors"].items()
            for found in [{"all": each, **each}]
            for kind in ("all", *KINDS)
        ]
        return {"cells": cells, "averages": document.get("averages", []), "errors": differences, "shares": shares}


_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: ORANGE, 4: BLUE}
_SYMBOLS = {1: "circle", 4: "square"}
_DASHES = ("solid", "dash", "dot", "dashdot")


def _published_lines(points: "pd.DataFrame") -> Iterator[Trace]:
    """Yield the paper's averages at a degree, over the numbers of vertices that they cover."""
    published = dict(zip(points["engines"], points["paper"], strict=True))
    for name, height, colour in (
        ("Betkaoui et al. four FPGAs, paper", points["betkaoui"].iloc[0], BLACK),
        *((f"CyGraph {_COUNT[each]}, paper", published[each], _COLOURS[each]) for each in ENGINES),
    ):
        # None, or what a frame makes of it.
        if height == height and height is not None:
            ends = {"x": [TABLE1_VERTICES[0], TABLE1_VERTICES[-1]], "y": [height] * 2}
            yield {**look("lines", colour, line={"dash": "longdash"}), "name": name, **ends}


def _throughput_figure(document: dict[str, Any]) -> Figure:
    """Return figure 10 or 11, given the document."""
    points = charts.frame_of(document["points"])
    points["name"] = [f"CyGraph {_COUNT[row.engines]}, {row.config}" for row in points.itertuples()]
    looks = {}
    for number, config in enumerate(points["config"].unique()):
        line = {"dash": _DASHES[number % len(_DASHES)]}
        for engines in ENGINES:
            own = look("joined", _COLOURS[engines], line=line, marker={"symbol": _SYMBOLS[engines]})
            looks[f"CyGraph {_COUNT[engines]}, {config}"] = own
    sizes = sorted({*TABLE1_VERTICES, *points["vertices"]})
    axis = {"type": "log", "tickvals": sizes, "ticktext": list(map(number_text, sizes)), "title": "vertices"}
    parts = [
        Panel(
            f"({letter}) average degree {degree}",
            [*series(own, "vertices", "simulated", "name", looks), *_published_lines(own)],
            x=axis,
            y=_GTEPS,
        )
        for letter, (degree, own) in zip(ascii_lowercase, points.groupby("degree", sort=False), strict=False)
    ]
    return charts.panels(parts, shared="y")


class Throughput(_Searches, Grid):
    """Figures 10 and 11: throughput over the number of vertices, for random and for R-MAT graphs."""

    figure_of = staticmethod(_throughput_figure)
    head_names = (*Grid.head_names, "paper_average_over_vertices")
    paper_average_over_vertices: ClassVar[list[int]] = list(TABLE1_VERTICES)

    def keys(self) -> Iterable[Key]:
        """Return the keys of the points."""
        for config, (degree, vertices), engines in itertools.product(self.configs, self.graphs(), ENGINES):
            yield config, vertices, self.kind, degree, engines


PHASES = {"searches": "BFS", "intersections": "intersection", "starts": "search for a start"}
"""Parts of a time, from the bottom of a bar to its top, and their titles."""

SOFTWARE = "kosaraju"
"""Name of the baseline series."""


def _machine_phases(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the milliseconds of a machine by phase; ``starts``, the host's search for a start, is processor time."""
    cycles = {phase: 1e3 * count / result["clock_hz"] for phase, count in result["cycles"].items()}
    return {**cycles, "starts": 1e3 * result["start_seconds"]}


_PHASE_COLOURS = {"searches": BLUE, "intersections": ORANGE, "starts": GREEN}
_HATCHES = ("", "/", ".", "x")


def _degree_panels(
    points: "pd.DataFrame",
    title: str,
    traces_of: Callable[["pd.DataFrame"], list[Trace]],
    *,
    one: str = "",
    **layout: Any,
) -> Figure:
    """Return a panel for each number of vertices over the degrees, with the traces of its points."""
    degrees = list(map(str, sorted(points["degree"].unique())))
    across = {"type": "category", "categoryorder": "array", "categoryarray": degrees, "title": "average degree"}
    up = {"title": title, "rangemode": "tozero"}
    groups = points.assign(degree=points["degree"].astype(str)).groupby("vertices", sort=False)
    parts = [
        Panel(f"({letter}) {number_text(vertices)} vertices", traces_of(own), across, up, one=one)
        for letter, (vertices, own) in zip(ascii_lowercase, groups, strict=False)
    ]
    return charts.panels(parts, **layout)


def _time_figure(document: dict[str, Any]) -> Figure:
    """Return figure 12: for each degree a bar of sequential Kosaraju and one of each machine, by phase."""

    def bars(points: "pd.DataFrame") -> list[Trace]:
        found = []
        for place, (name, own) in enumerate(points.groupby("series", sort=False)):
            for phase, text in PHASES.items():
                pattern = charts.pattern(_HATCHES[place % len(_HATCHES)])
                bar = look("bars", _PHASE_COLOURS[phase], marker={"pattern": pattern}, offsetgroup=name)
                title = f"{'software' if name == SOFTWARE else name}: {text}"
                shown = {"x": own["degree"].tolist(), "y": own[f"milliseconds.{phase}"].tolist()}
                found.append({**bar, "name": title, **shown})
            found[-1] |= {"text": list(map(milliseconds_text, own["total"])), "textposition": "outside"}
        return found

    return _degree_panels(charts.frame_of(document["points"]), "time (ms)", bars, barmode="stack")


def _speed_up_figure(document: dict[str, Any]) -> Figure:
    """Return figure 13: speed-up over sequential Kosaraju against degree."""
    points = charts.frame_of(document["points"])
    hong = f"Hong et al., {count_text(document['cores'], 'thread')}"
    points["name"] = [hong if name == "hong" else f"four FPGAs, {name}" for name in points["series"]]
    machines = [name for name in points["name"].unique() if name != hong]
    looks = {hong: look("joined", ORANGE, line={"dash": "dash"})}
    looks |= {
        name: look("joined", colour, marker={"symbol": "square"})
        for name, colour in zip(machines, itertools.cycle((BLUE, SKY, PURPLE, VERMILION)), strict=False)
    }
    return _degree_panels(
        points,
        "speed-up over sequential Kosaraju",
        lambda own: series(own, "degree", "speed_up", "name", looks),
        one="y",
    )


class _Components(Grid):
    """A figure over uniform random graphs: sequential Kosaraju and each machine."""

    head_names = (*Grid.head_names, "processor", "cores")
    hong: ClassVar[bool] = False
    """Whether Hong's algorithm is measured too."""

    def cases(self) -> Iterator[Case]:
        """Yield what is to be measured."""
        for degree, vertices in self.graphs():
            graph = GraphSpec(kind=self.kind, degree=degree, vertices=vertices, seed=self.seed)
            requests: dict[str, Request] = {SOFTWARE: SoftwareRequest(graph=graph, algorithm=SOFTWARE, threads=1)}
            for config in self.configs:
                requests[config] = SccRequest.of(graph, config, self.memory)
            if self.hong:
                requests["hong"] = SoftwareRequest(graph=graph, algorithm="hong", threads=self.cores)
            yield Case({"degree": degree, "vertices": vertices}, requests)

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        return {**super().words(document), "cores_text": count_text(document["cores"], "core")}


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
                phases, further = {phase: 1e3 * result["phases"][phase] for phase in PHASES}, ["runs"]
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
