"""Table I: throughput of breadth-first search, 16 cells of the paper against the simulation."""

import argparse
import itertools
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from host.measuring.graphs import size_text
from host.measuring.machines import CAUSES
from host.measuring.measurements import Measurements
from host.results.plots import BLACK, BLUE, ORANGE, add_legend, degree_axis, panel_grid
from host.results.table_text import markdown_table
from host.runs.execution import SOURCE_RULE
from host.studies.paper import BETKAOUI_GTEPS, ENGINES, KINDS, TABLE1_DEGREES
from host.studies.points import SUMMED, Point, grouped, measure_points, run_fields
from host.studies.reproduction import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["averages", "errors", "table1_document", "table1_figure", "table1_markdown", "table1_report"]


def averages(found: Sequence[Point]) -> list[Point]:
    """Return the mean over the numbers of vertices of each cell, which is what the paper's table holds."""
    return [_mean(group) for group in grouped(found, "config", "kind", "degree", "engines").values()]


def _mean(group: Sequence[Point]) -> Point:
    same = ("kind", "degree", "engines", "config", "paper", "betkaoui", "preset", "seed")
    mean = {name: group[0][name] for name in same}
    mean["simulated"] = statistics.fmean(cell["simulated"] for cell in group)
    mean["ratio"] = mean["simulated"] / mean["paper"]
    mean |= {name: statistics.fmean(cell[name] for cell in group) for name in SUMMED}
    mean["shares"] = {cause: statistics.fmean(cell["shares"][cause] for cell in group) for cause in CAUSES}
    return mean


def errors(found: Iterable[Point]) -> dict[str, Any]:
    """Return mean and largest difference from the paper, in percent of the paper's figure.

    Parameters
    ----------
    found : iterable of dict
        Cells of one configuration.

    Returns
    -------
    dict
        ``mean_percent`` and ``largest_percent`` of all, and the same under each kind of graph.
    """
    differences = [(cell["kind"], 100 * abs(cell["ratio"] - 1)) for cell in found]

    def summary(values: Sequence[float]) -> dict[str, float]:
        return {"mean_percent": statistics.fmean(values), "largest_percent": max(values)}

    return {
        **summary([value for _, value in differences]),
        **{kind: summary([value for each, value in differences if each == kind]) for kind in KINDS},
    }


def table1_document(
    measurements: Measurements, configs: Sequence[str], vertices: Sequence[int], *, memory: str, seed: int
) -> dict[str, Any]:
    """Measure the table, and return it as a JSON document.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    configs : sequence of str
        Names of `host.studies.reproduction.SEARCH_MACHINES`.
    vertices : sequence of int
        Numbers of vertices.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.

    Returns
    -------
    dict
        ``cells``; ``averages`` over the numbers of vertices when there are several; ``errors`` by configuration, of
        the averages where there are some; and what was run.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    keys = itertools.product(configs, vertices, KINDS, TABLE1_DEGREES, ENGINES)
    cells, results = measure_points(measurements, keys, memory=memory, seed=seed)
    mean = averages(cells) if len(vertices) > 1 else []
    judged = mean or cells
    return {
        "table": "table1",
        **run_fields(results, memory=memory, seed=seed),
        "cells": cells,
        **({"averages": mean} if mean else {}),
        "errors": {config: errors(cell for cell in judged if cell["config"] == config) for config in configs},
    }


_KIND_TEXT = {"random": "random", "rmat": "R-MAT"}


def _throughput(group: Sequence[Point]) -> str:
    head = ["degree"]
    for kind in KINDS:
        for engines in ENGINES:
            name = f"{_KIND_TEXT[kind]} {engines} AE{'s' if engines > 1 else ''}"
            head += [f"{name}: paper", "simulated", "ratio"]
    head += [f"{_KIND_TEXT[kind]}: Betkaoui" for kind in KINDS]
    rows = []
    for (degree,), cells in grouped(group, "degree").items():
        row = [str(degree)]
        for cell in cells:
            row += [f"{cell['paper']:.3f}", f"{cell['simulated']:.3f}", f"{cell['ratio']:.3f}"]
        row += [f"{cell['betkaoui']:.3f}" for cell in cells if cell["engines"] == ENGINES[0]]
        rows.append(row)
    return markdown_table(head, rows)


def _causes(group: Sequence[Point]) -> str:
    head = ["graph", "degree", "AEs", *CAUSES]
    rows = [
        [
            _KIND_TEXT[cell["kind"]],
            str(cell["degree"]),
            str(cell["engines"]),
            *(f"{cell['shares'][cause]:.1%}" for cause in CAUSES),
        ]
        for cell in group
    ]
    return markdown_table(head, rows)


def _errors(group: Sequence[Point]) -> str:
    found = errors(group)
    rows = [
        [name, f"{each['mean_percent']:.2f} %", f"{each['largest_percent']:.2f} %"]
        for name, each in (("all", found), *((_KIND_TEXT[kind], found[kind]) for kind in KINDS))
    ]
    return markdown_table(["difference from the paper", "mean", "largest"], rows)


def _presets(group: Sequence[Point]) -> str:
    return ", ".join(f"`{preset}`" for preset in dict.fromkeys(cell["preset"] for cell in group))


def table1_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown.

    For each configuration and number of vertices, the means over several of them first: throughput of paper and
    simulation, shares of the kernels' cycles by cause, and the difference from the paper.

    Parameters
    ----------
    document : dict
        What `host.studies.table1.table1_document` returned.
    """
    found = document["cells"]
    sizes = list(dict.fromkeys(cell["vertices"] for cell in found))
    parts = [
        "# Table I: breadth-first search\n\n"
        "GTEPS: 10⁹ traversed edges a simulated second. The paper's figures, also those of Betkaoui et al. (four\n"
        "FPGAs), are averages over 2^20 to 2^23 vertices.\n"
        f"Memory `{document['memory']}`, clock {document['clock_hz'] / 1e6:g} MHz, seed {document['seed']}; "
        f"searches start at the {SOURCE_RULE}.\n"
    ]
    for config in document["errors"]:
        groups = [(f"mean of {', '.join(map(size_text, sizes))} vertices", document.get("averages", []))]
        groups += [
            (f"{size_text(size)} vertices", [cell for cell in found if cell["vertices"] == size]) for size in sizes
        ]
        for name, cells in groups:
            group = [cell for cell in cells if cell["config"] == config]
            if group:
                parts += [f"## `{config}`, {name}\n", f"Presets: {_presets(group)}.\n", _throughput(group)]
                parts += ["Share of the BFS kernels' cycles by cause:\n", _causes(group), _errors(group)]
    return "\n".join(parts)


_WIDTH = 0.18
_HATCH = {1: "////", 4: ""}
_SIDES = {"paper": ORANGE, "simulated": BLUE}


def _panel(axes: "Axes", group: list[Point]) -> None:
    """Draw the cells of one configuration and kind."""
    for place, (engines, (side, colour)) in enumerate(itertools.product(ENGINES, _SIDES.items())):
        axes.bar(
            [number + (place - 1.5) * _WIDTH for number in range(len(TABLE1_DEGREES))],
            [cell[side] for cell in group if cell["engines"] == engines],
            _WIDTH,
            color=colour,
            edgecolor="white",
            hatch=_HATCH[engines],
            label=f"{side}, {engines} AE{'s' if engines > 1 else ''}",
        )
    degree_axis(axes, TABLE1_DEGREES)
    axes.set_ylabel("throughput (GTEPS)")


def table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel for each configuration and kind of graph; of several numbers of vertices, their mean.

    Parameters
    ----------
    document : dict
        What `host.studies.table1.table1_document` returned.
    """
    groups = grouped(document.get("averages", document["cells"]), "config", "kind")
    titles = [f"{config}: {'uniform ' * (kind == 'random')}{_KIND_TEXT[kind]}" for config, kind in groups]
    figure, panels = panel_grid(titles, row=3.6, rest=0.5, sharey=True)
    for axes, ((_, kind), cells) in zip(panels, groups.items(), strict=True):
        _panel(axes, cells)
        axes.plot(
            [number + 2.5 * _WIDTH for number in range(len(TABLE1_DEGREES))],
            BETKAOUI_GTEPS[kind],
            linestyle="",
            marker="D",
            markersize=5,
            color=BLACK,
            label="Betkaoui et al., 4 FPGAs",
        )
    panels[0].set_ylim(bottom=0)  # last, and for all: they share it
    add_legend(figure, 5)
    return figure


def table1_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the table that options ask for, and return it."""
    document = table1_document(
        measurements, arguments.configs, arguments.vertices, memory=arguments.memory, seed=arguments.seed
    )
    return Report(document=document, markdown=table1_markdown(document), figure=table1_figure(document))
