"""Throughput of breadth-first search compared with the paper's: cells of table I, points of figures 10 and 11."""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import CAUSES, BfsRequest
from cyscc.host.experiments.measuring.measurements import Measured, Measurements
from cyscc.host.experiments.studies import paper
from cyscc.host.experiments.studies.study import Columns, Grid, Point, Study, grouped, left_out_text, run_fields, table
from cyscc.host.output.figures import BLACK, BLUE, ORANGE, add_legend, degree_axis, lettered, panel_grid, power_text
from cyscc.host.output.text import count_text
from cyscc.host.runs.execution import SOURCE_RULE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Table1", "Throughput", "averages", "errors"]

_SUMMED = ("cycles", "edges", "levels", "duplicates")
"""Fields of a point with counts."""


def _measured(
    measurements: Measurements, keys: Iterable[tuple[str, int, str, int, int]], *, memory: str, seed: int
) -> tuple[list[Point], dict[BfsRequest, Measured]]:
    """Measure points; return them, with the paper's results and the cycles by cause, and the measurements.

    For degrees that are not in the paper's table, ``paper``, ``ratio`` and ``betkaoui`` are None.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurements.
    keys : iterable of (str, int, str, int, int)
        Machine (one of `paper.SEARCH_MACHINES`), vertices, kind of graph, degree and AEs of each point.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    """
    requests = {
        (config, vertices, kind, degree, engines): BfsRequest(
            graph=GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed),
            preset=paper.preset_of(config, engines),
            memory=memory,
        )
        for config, vertices, kind, degree, engines in keys
    }
    results = measurements.measure(requests.values())
    found = []
    for (config, vertices, kind, degree, engines), request in requests.items():
        result = results[request]
        published = paper.cygraph_gteps(kind, degree, engines)
        found.append(
            {
                "kind": kind,
                "degree": degree,
                "engines": engines,
                "config": config,
                "vertices": vertices,
                "paper": published,
                "simulated": result["gteps"],
                "ratio": None if published is None else result["gteps"] / published,
                "betkaoui": paper.betkaoui_gteps(kind, degree),
                "preset": request.preset,
                "seed": seed,
                "source": result["source"],
                **{name: result[name] for name in (*_SUMMED, "reached", "shares", "verified", "wall")},
            }
        )
    return found, results


def averages(found: Sequence[Point]) -> list[Point]:
    """Return each cell's mean over the numbers of vertices, as in the paper's table."""
    return [_mean(group) for group in grouped(found, "config", "kind", "degree", "engines").values()]


def _mean(group: Sequence[Point]) -> Point:
    same = ("kind", "degree", "engines", "config", "paper", "betkaoui", "preset", "seed")
    mean = {name: group[0][name] for name in same}
    mean["simulated"] = statistics.fmean(cell["simulated"] for cell in group)
    mean["ratio"] = mean["simulated"] / mean["paper"]
    mean |= {name: statistics.fmean(cell[name] for cell in group) for name in _SUMMED}
    mean["shares"] = {cause: statistics.fmean(cell["shares"][cause] for cell in group) for cause in CAUSES}
    return mean


def errors(found: Iterable[Point]) -> dict[str, Any]:
    """Return mean and maximum difference from the paper, in percent of the paper's value.

    Parameters
    ----------
    found : iterable of dict
        Cells of one configuration.

    Returns
    -------
    dict
        ``mean_percent`` and ``largest_percent`` over all cells, and the same for each kind of graph.
    """
    differences = [(cell["kind"], 100 * abs(cell["ratio"] - 1)) for cell in found]

    def summary(values: Sequence[float]) -> dict[str, float]:
        return {"mean_percent": statistics.fmean(values), "largest_percent": max(values)}

    return {
        **summary([value for _, value in differences]),
        **{kind: summary([value for each, value in differences if each == kind]) for kind in paper.KINDS},
    }


_UNIFORM_TEXT = {"random": "uniform random", "rmat": "R-MAT"}

_GRAPH: Columns = {"config": "{}", "kind": Column("graph"), "degree": "{}", "engines": Column("AEs")}
_GTEPS: Columns = {
    **dict.fromkeys(("paper", "simulated", "ratio"), "{:.3f}"),
    "betkaoui": Column("Betkaoui, four FPGAs", "{:.3f}"),
}


def _setting(document: dict[str, Any]) -> dict[str, str]:
    """Return the facts on the runs of a document."""
    clock = f"{document['clock_hz'] / 1e6:g} MHz"
    return {"memory": document["memory"], "clock": clock, "seed": str(document["seed"]), "source": SOURCE_RULE}


_UNIT = (
    "GTEPS: 10⁹ traversed edges a simulated second. The paper's figures, also those of Betkaoui et al., are averages "
    "over 2^20 to 2^23 vertices."
)


def _table1_answer(document: dict[str, Any]) -> Answer:
    """Return the cells, the shares of the kernels' cycles by cause, and the differences from the paper.

    Parameters
    ----------
    document : dict
        The document of `Table1.document`.
    """
    cells, means = document["cells"], document.get("averages", [])
    named = ("config", "vertices", "kind", "degree", "engines")
    shares = [{**{name: cell[name] for name in named}, **cell["shares"]} for cell in cells]
    differences = [
        {"config": config, "kind": kind, **found[kind]}
        for config, each in document["errors"].items()
        for found in [{"all": each, **each}]
        for kind in ("all", *paper.KINDS)
    ]
    sized: Columns = {"config": "{}", "vertices": "{:,}", **_GRAPH}
    tables = {
        "cells": table("throughput in GTEPS", cells, {**sized, **_GTEPS, "preset": "{}"}),
        "averages": table("means over the numbers of vertices", means, {**_GRAPH, **_GTEPS}),
        "errors": table(
            "difference from the paper" + (", of the means" if means else ""),
            differences,
            {
                **{name: _GRAPH[name] for name in ("config", "kind")},
                "mean_percent": Column("mean", "{:.2f} %"),
                "largest_percent": Column("largest", "{:.2f} %"),
            },
        ),
        "shares": table(
            "share of the BFS kernels' cycles by cause", shares, {**sized, **dict.fromkeys(CAUSES, "{:.1%}")}
        ),
    }
    return Answer(title="Table I: breadth-first search", facts=_setting(document), said=[_UNIT], tables=tables)


_WIDTH = 0.18
_HATCH = {1: "////", 4: ""}
_SIDES = {"paper": ORANGE, "simulated": BLUE}


def _table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel for each configuration and kind of graph; several numbers of vertices are averaged.

    Parameters
    ----------
    document : dict
        The document of `Table1.document`.
    """
    groups = grouped(document.get("averages", document["cells"]), "config", "kind")
    figure, panels = panel_grid(
        [f"{config}: {_UNIFORM_TEXT[kind]}" for config, kind in groups], row=3.6, rest=0.5, sharey=True
    )
    for axes, ((_, kind), cells) in zip(panels, groups.items(), strict=True):
        for place, (engines, (side, colour)) in enumerate(itertools.product(paper.ENGINES, _SIDES.items())):
            axes.bar(
                [number + (place - 1.5) * _WIDTH for number in range(len(paper.TABLE1_DEGREES))],
                [cell[side] for cell in cells if cell["engines"] == engines],
                _WIDTH,
                color=colour,
                edgecolor="white",
                hatch=_HATCH[engines],
                label=f"{side}, {count_text(engines, 'AE')}",
            )
        degree_axis(axes, paper.TABLE1_DEGREES)
        axes.set_ylabel("throughput (GTEPS)")
        axes.plot(
            [number + 2.5 * _WIDTH for number in range(len(paper.TABLE1_DEGREES))],
            paper.BETKAOUI_GTEPS[kind],
            linestyle="",
            marker="D",
            markersize=5,
            color=BLACK,
            label="Betkaoui et al., 4 FPGAs",
        )
    panels[0].set_ylim(bottom=0)  # last, and for all panels: they share the axis
    add_legend(figure, 5)
    return figure


@dataclass(frozen=True, kw_only=True)
class Table1(Study):
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
    seed : int
        Seed of the graphs.
    """

    configs: tuple[str, ...]
    vertices: tuple[int, ...]
    memory: str

    answer_of = staticmethod(_table1_answer)
    figure_of = staticmethod(_table1_figure)

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        keys = itertools.product(self.configs, self.vertices, paper.KINDS, paper.TABLE1_DEGREES, paper.ENGINES)
        cells, results = _measured(measurements, keys, memory=self.memory, seed=self.seed)
        mean = averages(cells) if len(self.vertices) > 1 else []
        judged = grouped(mean or cells, "config")
        return {
            "table": "table1",
            **run_fields(results, memory=self.memory, seed=self.seed),
            "cells": cells,
            **({"averages": mean} if mean else {}),
            "errors": {config: errors(group) for (config,), group in judged.items()},
        }


def _throughput_answer(document: dict[str, Any]) -> Answer:
    """Return the points.

    Parameters
    ----------
    document : dict
        The document of `Throughput.document`.
    """
    return Answer(
        title=f"{document['figure'].replace('fig', 'Figure ')}: breadth-first search of "
        f"{_UNIFORM_TEXT[document['kind']]} graphs",
        facts=_setting(document),
        said=[_UNIT, *left_out_text(document)],
        tables={
            "points": table(
                "throughput in GTEPS",
                document["points"],
                {"config": "{}", "degree": "{}", "vertices": "{:,}", "engines": _GRAPH["engines"], **_GTEPS},
            )
        },
    )


_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: ORANGE, 4: BLUE}
_MARKERS = {1: "o", 4: "s"}
_LINES = ("-", "--", ":", "-.")


def _reference(axes: "Axes", height: float | None, *, colour: str, label: str, width: float) -> None:
    """Draw an average of the paper as a line over the numbers of vertices that it covers."""
    if height is not None:
        exponents = [math.log2(paper.TABLE1_VERTICES[0]), math.log2(paper.TABLE1_VERTICES[-1])]
        axes.plot(exponents, [height, height], color=colour, linewidth=width, label=label, linestyle=(0, (4, 1)))


def _panel(axes: "Axes", points: list[Point]) -> None:
    for number, ((config,), group) in enumerate(grouped(points, "config").items()):
        for (engines,), series in grouped(group, "engines").items():
            axes.plot(
                [math.log2(point["vertices"]) for point in series],
                [point["simulated"] for point in series],
                color=_COLOURS[engines],
                marker=_MARKERS[engines],
                linestyle=_LINES[number % len(_LINES)],
                label=f"CyGraph {_COUNT[engines]}, {config}",
            )
    _reference(axes, points[0]["betkaoui"], colour=BLACK, label="Betkaoui et al. four FPGAs, paper", width=2.0)
    for engines in paper.ENGINES:
        published = next(point["paper"] for point in points if point["engines"] == engines)
        _reference(axes, published, colour=_COLOURS[engines], label=f"CyGraph {_COUNT[engines]}, paper", width=1.0)


def _throughput_figure(document: dict[str, Any]) -> "Figure":
    """Return the figure; the paper's averages are lines over the numbers of vertices that they cover.

    Parameters
    ----------
    document : dict
        The document of `Throughput.document`.
    """
    groups = grouped(document["points"], "degree")
    sizes = sorted({*paper.TABLE1_VERTICES, *(point["vertices"] for point in document["points"])})
    figure, panels = panel_grid(lettered(f"average degree {degree}" for (degree,) in groups), sharey=True)
    for axes, points in zip(panels, groups.values(), strict=True):
        _panel(axes, points)
        axes.set_xticks([math.log2(size) for size in sizes], [power_text(size) for size in sizes])
        axes.set(xlabel="vertices", ylabel="throughput (GTEPS)")
        axes.grid(color="0.85")
    panels[0].set_ylim(bottom=0)  # last, and for all panels: they share the axis
    add_legend(figure, 3)
    return figure


class Throughput(Grid):
    """Figures 10 and 11: throughput over the number of vertices, for random and for R-MAT graphs.

    In the ``points`` of their documents, ``paper`` is table I's average for any number of vertices. The parameters are
    those of `Grid`.
    """

    answer_of = staticmethod(_throughput_answer)
    figure_of = staticmethod(_throughput_figure)

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        kind = {"fig10": "random", "fig11": "rmat"}[self.figure]
        keys = [
            (config, vertices, kind, degree, engines)
            for config in self.configs
            for degree, vertices in self.graphs()
            for engines in paper.ENGINES
        ]
        points, results = _measured(measurements, keys, memory=self.memory, seed=self.seed)
        return {
            **self.described(results, kind=kind),
            "paper_average_over_vertices": list(paper.TABLE1_VERTICES),
            "points": points,
        }
