"""Figures 10 and 11: throughput of breadth-first search against the number of vertices."""

import argparse
import math
from typing import TYPE_CHECKING, Any

from host.measuring.graphs import size_text
from host.measuring.measurements import Measurements
from host.results.plots import BLACK, BLUE, ORANGE, add_legend, lettered, panel_grid, power_text
from host.results.table_text import markdown_table
from host.runs.execution import SOURCE_RULE
from host.studies.paper import ENGINES, TABLE1_VERTICES
from host.studies.points import Grid, Point, grouped, left_out_text, measure_points
from host.studies.reproduction import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["throughput_document", "throughput_figure", "throughput_markdown", "throughput_report"]

_KIND_OF = {"fig10": "random", "fig11": "rmat"}


def throughput_document(measurements: Measurements, grid: Grid) -> dict[str, Any]:
    """Measure figure 10 or 11, and return it as a JSON document.

    Its ``points`` are those of `host.studies.points`; their ``paper`` is table I's average, whatever their
    number of vertices.

    Raises
    ------
    InputError, SimulationError
        No graph is small enough, or a measurement failed.
    """
    kind = _KIND_OF[grid.figure]
    keys = [
        (config, vertices, kind, degree, engines)
        for config in grid.configs
        for degree, vertices in grid.graphs()
        for engines in ENGINES
    ]
    points, results = measure_points(measurements, keys, memory=grid.memory, seed=grid.seed)
    return {
        **grid.document(results, kind=kind),
        "paper_average_over_vertices": list(TABLE1_VERTICES),
        "points": points,
    }


_KIND_TEXT = {"random": "uniform random", "rmat": "R-MAT"}


def throughput_markdown(document: dict[str, Any]) -> str:
    """Return the points as Markdown, a table for each configuration and degree.

    Parameters
    ----------
    document : dict
        What `host.studies.throughput.throughput_document` returned.
    """
    parts = [
        f"# {document['figure'].replace('fig', 'Figure ')}: breadth-first search of {_KIND_TEXT[document['kind']]} "
        "graphs\n\n"
        "GTEPS: 10⁹ traversed edges a simulated second. The paper's figures are table I's averages over 2^20 to 2^23\n"
        f"vertices. Memory `{document['memory']}`, clock {document['clock_hz'] / 1e6:g} MHz, seed {document['seed']}; "
        f"searches start at the\n{SOURCE_RULE}.\n{left_out_text(document)}"
    ]
    head = ["vertices"]
    for engines in ENGINES:
        head += [f"{engines} AE{'s' if engines > 1 else ''}", "paper"]
    head.append("Betkaoui")
    for (config, degree), group in grouped(document["points"], "config", "degree").items():
        rows = []
        for (vertices,), points in grouped(group, "vertices").items():
            row = [size_text(vertices)]
            for point in points:
                row += [f"{point['simulated']:.3f}", _known(point["paper"])]
            rows.append([*row, _known(points[0]["betkaoui"])])
        parts += [f"## `{config}`, degree {degree}\n", markdown_table(head, rows)]
    return "\n".join(parts)


def _known(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


_COUNT = {1: "one FPGA", 4: "four FPGAs"}
_COLOURS = {1: ORANGE, 4: BLUE}
_MARKERS = {1: "o", 4: "s"}
_LINES = ("-", "--", ":", "-.")


def _reference(axes: "Axes", height: float | None, *, colour: str, label: str, width: float) -> None:
    """Draw an average of the paper over the vertices that it is an average of."""
    if height is not None:
        exponents = [math.log2(TABLE1_VERTICES[0]), math.log2(TABLE1_VERTICES[-1])]
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
    for engines in ENGINES:
        paper = next(point["paper"] for point in points if point["engines"] == engines)
        _reference(axes, paper, colour=_COLOURS[engines], label=f"CyGraph {_COUNT[engines]}, paper", width=1.0)


def throughput_figure(document: dict[str, Any]) -> "Figure":
    """Return the figure; the paper's averages are lines over the vertices that they are averages of.

    Parameters
    ----------
    document : dict
        What `host.studies.throughput.throughput_document` returned.
    """
    groups = grouped(document["points"], "degree")
    sizes = sorted({*TABLE1_VERTICES, *(point["vertices"] for point in document["points"])})
    figure, panels = panel_grid(lettered(f"average degree {degree}" for (degree,) in groups), sharey=True)
    for axes, points in zip(panels, groups.values(), strict=True):
        _panel(axes, points)
        axes.set_xticks([math.log2(size) for size in sizes], [power_text(size) for size in sizes])
        axes.set_xlabel("vertices")
        axes.set_ylabel("throughput (GTEPS)")
        axes.grid(color="0.85")
    panels[0].set_ylim(bottom=0)  # last, and for all: they share it
    add_legend(figure, 3)
    return figure


def throughput_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the figure that options ask for, and return it."""
    document = throughput_document(measurements, Grid.of(arguments))
    return Report(document=document, markdown=throughput_markdown(document), figure=throughput_figure(document))
