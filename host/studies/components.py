"""Figures 12 and 13: time for the strongly connected components, and speed-up over sequential software."""

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from host.measuring.graphs import GraphSpec, size_text
from host.measuring.machines import SccRequest
from host.measuring.measurements import Measurements
from host.measuring.requests import Measured, Request
from host.measuring.setting import cores, processor_name
from host.measuring.software import SoftwareRequest
from host.results.plots import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    add_legend,
    degree_axis,
    lettered,
    panel_grid,
    power_text,
    time_text,
)
from host.results.table_text import markdown_table
from host.studies.points import Grid, Point, grouped, left_out_text
from host.studies.reproduction import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "component_document",
    "component_report",
    "speed_up_figure",
    "speed_up_markdown",
    "time_figure",
    "time_markdown",
]

PHASES = {"searches": "BFS", "intersections": "intersection", "starts": "search for a start"}
"""Parts of a time, from the bottom of a bar to its top, and what people call them."""

SOFTWARE = "kosaraju"
"""Name of the series that the others are compared with."""

Series = dict[str, Measured]
"""Measurements of a graph: by name, of the software (`SOFTWARE`, and ``hong``) and of each configuration."""


def component_document(measurements: Measurements, grid: Grid) -> dict[str, Any]:
    """Measure a figure, on uniform random graphs, and return it as a JSON document.

    The ``points`` of figure 12 are a bar each: ``degree``, ``vertices``, ``series`` (``kosaraju`` or a configuration),
    ``milliseconds`` by phase and ``total``. Trimming is in none of them. Those of figure 13 are ``degree``,
    ``vertices``, ``series`` (a configuration or ``hong``), ``milliseconds``, those of sequential Kosaraju as
    ``kosaraju``, and ``speed_up``. Trimming is only in Hong's time, whose algorithm it is a part of.

    Raises
    ------
    InputError, SimulationError
        No graph is small enough, or a measurement failed.
    """
    speed_up = grid.figure == "fig13"
    requests: dict[tuple[GraphSpec, str], Request] = {}
    for degree, vertices in grid.graphs():
        graph = GraphSpec(kind="random", degree=degree, vertices=vertices, seed=grid.seed)
        requests[graph, SOFTWARE] = SoftwareRequest(graph=graph, algorithm=SOFTWARE, threads=1)
        for config in grid.configs:
            requests[graph, config] = SccRequest(graph=graph, preset=config, memory=grid.memory)
        if speed_up:
            requests[graph, "hong"] = SoftwareRequest(graph=graph, algorithm="hong", threads=cores())
    results = measurements.measure(requests.values())
    found: dict[GraphSpec, Series] = {}
    for (graph, name), request in requests.items():
        found.setdefault(graph, {})[name] = results[request]
    points = _speed_ups if speed_up else _times
    return {
        **grid.document(results, kind="random"),
        "processor": processor_name(),
        "cores": cores(),
        "points": [
            {"degree": graph.degree, "vertices": graph.vertices, **point}
            for graph, series in found.items()
            for point in points(series)
        ],
    }


def _machine_phases(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the milliseconds of the machine by phase, and of the host's search for a start, which is real time."""
    cycles = {phase: 1e3 * count / result["clock_hz"] for phase, count in result["cycles"].items()}
    return {**cycles, "starts": 1e3 * result["start_seconds"]}


def _times(series: Series) -> Iterator[dict[str, Any]]:
    """Yield the points of figure 12 that a graph has."""
    for name, result in series.items():
        if name == SOFTWARE:
            phases, further = {phase: 1e3 * result[phase] for phase in PHASES}, ["runs"]
        else:
            phases, further = _machine_phases(result), ["cycles", "components", "trimmed", "iterations", "wall"]
        kept = {field: result[field] for field in further}
        yield {"series": name, "milliseconds": phases, "total": sum(phases.values()), **kept}


def _speed_ups(series: Series) -> Iterator[dict[str, Any]]:
    """Yield the points of figure 13 that a graph has."""
    base = 1e3 * series[SOFTWARE]["seconds"]
    for name, result in series.items():
        if name != SOFTWARE:
            time = 1e3 * result["seconds"] if name == "hong" else sum(_machine_phases(result).values())
            yield {"series": name, "milliseconds": time, "kosaraju": base, "speed_up": base / time}


def _head(document: dict[str, Any], title: str) -> str:
    cores = document["cores"]
    return (
        f"# {document['figure'].replace('fig', 'Figure ')}: {title}\n\n"
        f"Uniform random graphs, seed {document['seed']}. Simulated: four AEs at {document['clock_hz'] / 1e6:g} MHz, "
        f"memory `{document['memory']}`.\n"
        f"Software: {document['processor']}, {cores} core{'s' if cores > 1 else ''}; the paper's was a Xeon X5670 with "
        "12 threads.\n"
        "The host's search for a start is real time on this processor, also beside the simulated machine.\n"
    )


def time_markdown(document: dict[str, Any]) -> str:
    """Return figure 12 as Markdown.

    Parameters
    ----------
    document : dict
        What `host.studies.components.component_document` returned.
    """
    head = ["degree", "series", *PHASES.values(), "total", "speed-up"]
    parts = [
        _head(document, "time for strongly connected components")
        + f"Times in milliseconds, without trimming.\n{left_out_text(document)}"
    ]
    for (vertices,), group in grouped(document["points"], "vertices").items():
        base = {point["degree"]: point["total"] for point in group if point["series"] == SOFTWARE}
        rows = [
            [
                str(point["degree"]),
                point["series"],
                *(f"{point['milliseconds'][phase]:.3f}" for phase in PHASES),
                f"{point['total']:.3f}",
                f"{base[point['degree']] / point['total']:.2f}",
            ]
            for point in group
        ]
        parts += [f"## {size_text(vertices)} vertices\n", markdown_table(head, rows)]
    return "\n".join(parts)


def speed_up_markdown(document: dict[str, Any]) -> str:
    """Return figure 13 as Markdown.

    Parameters
    ----------
    document : dict
        What `host.studies.components.component_document` returned.
    """
    points = document["points"]
    head = ["degree", "Kosaraju (ms)"]
    for (name,) in grouped(points, "series"):
        head += [f"{name} (ms)", "speed-up"]
    parts = [
        _head(document, "speed-up over sequential software")
        + f"`hong` ran on all cores. Trimming is in its time only, a part of its algorithm.\n{left_out_text(document)}"
    ]
    for (vertices,), panel in grouped(points, "vertices").items():
        rows = []
        for (degree,), group in grouped(panel, "degree").items():
            row = [str(degree), f"{group[0]['kosaraju']:.3f}"]
            for point in group:
                row += [f"{point['milliseconds']:.3f}", f"{point['speed_up']:.2f}"]
            rows.append(row)
        parts += [f"## {size_text(vertices)} vertices\n", markdown_table(head, rows)]
    return "\n".join(parts)


_COLOURS = {"searches": BLUE, "intersections": ORANGE, "starts": GREEN}
_HATCHES = ("", "////", "....", "xxxx")
_WIDTH = 0.8


def _panels(document: dict[str, Any]) -> "tuple[Figure, list[int], list[tuple[Axes, dict[str, list[Point]]]]]":
    """Return a figure, the degrees of its axes, and for each number of vertices its panel and its points by series."""
    groups = grouped(document["points"], "vertices")
    degrees = sorted({point["degree"] for point in document["points"]})
    figure, panels = panel_grid(lettered(f"{power_text(vertices)} vertices" for (vertices,) in groups))
    for axes in panels:
        degree_axis(axes, degrees)
        axes.set_xlim(-0.6, len(degrees) - 0.4)
    series = ({name: own for (name,), own in grouped(group, "series").items()} for group in groups.values())
    return figure, degrees, list(zip(panels, series, strict=True))


def time_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 12: for each degree a bar of sequential Kosaraju and one of each machine, by phase.

    Parameters
    ----------
    document : dict
        What `host.studies.components.component_document` returned.
    """
    figure, degrees, panels = _panels(document)
    for axes, series in panels:
        width = _WIDTH / len(series)
        for place, (name, points) in enumerate(series.items()):
            centres = [degrees.index(point["degree"]) + (place - (len(series) - 1) / 2) * width for point in points]
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
            axes.bar_label(bars, [time_text(total) for total in floor], padding=2, fontsize=7)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("time (ms)")
    add_legend(figure, len(PHASES))
    return figure


def speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 13: speed-up over sequential Kosaraju against degree.

    Parameters
    ----------
    document : dict
        What `host.studies.components.component_document` returned.
    """
    figure, degrees, panels = _panels(document)
    threads = document["cores"]
    colours = (BLUE, SKY, PURPLE, VERMILION)
    for axes, series in panels:
        for place, (name, points) in enumerate(series.items()):
            hong = name == "hong"
            axes.plot(
                [degrees.index(point["degree"]) for point in points],
                [point["speed_up"] for point in points],
                color=ORANGE if hong else colours[place % len(colours)],
                marker="o" if hong else "s",
                linestyle="--" if hong else "-",
                label=f"Hong et al., {threads} thread{'s' if threads > 1 else ''}" if hong else f"four FPGAs, {name}",
            )
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("speed-up over sequential Kosaraju")
    add_legend(figure, 4)
    return figure


def component_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the figure that options ask for, and return it."""
    document = component_document(measurements, Grid.of(arguments))
    if arguments.figure == "fig13":
        return Report(document=document, markdown=speed_up_markdown(document), figure=speed_up_figure(document))
    return Report(document=document, markdown=time_markdown(document), figure=time_figure(document))
