"""Figures 12 and 13: time to find the strongly connected components, and speed-up over sequential software."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cyscc.host.answer.answer import Answer, Column, Table
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import SccRequest
from cyscc.host.experiments.measuring.measurements import Measured, Measurements, Request
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.study import Columns, Grid, Point, grouped, left_out_text, table
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

Series = dict[str, Measured]
"""Measurements on a graph by name: software (`SOFTWARE` and ``hong``) and configurations."""


def _machine_phases(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the milliseconds of a machine by phase; ``starts``, the host's search for a start, is processor time."""
    cycles = {phase: 1e3 * count / result["clock_hz"] for phase, count in result["cycles"].items()}
    return {**cycles, "starts": 1e3 * result["start_seconds"]}


def _answer(document: dict[str, Any], title: str, said: str, points: Table) -> Answer:
    return Answer(
        title=f"{document['figure'].replace('fig', 'Figure ')}: {title}",
        facts={
            "graphs": f"uniform random, seed {document['seed']}",
            "simulated": f"four AEs at {document['clock_hz'] / 1e6:g} MHz, memory {document['memory']}",
            "software": f"{document['processor']}, {count_text(document['cores'], 'core')}; the paper's was a Xeon "
            "X5670 with 12 threads",
        },
        said=[
            f"{said} The host's search for a start is real time on this processor, also beside the simulated machine.",
            *left_out_text(document),
        ],
        tables={"points": points},
    )


def _time_answer(document: dict[str, Any]) -> Answer:
    """Return the bars of figure 12.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
    """
    base = {
        (point["vertices"], point["degree"]): point["total"]
        for point in document["points"]
        if point["series"] == SOFTWARE
    }
    rows = [
        {**point, "speed_up": base[point["vertices"], point["degree"]] / point["total"]} for point in document["points"]
    ]
    columns: Columns = {
        "vertices": "{:,}",
        "degree": "{}",
        "series": "{}",
        **{f"milliseconds.{phase}": Column(text, "{:.3f}") for phase, text in PHASES.items()},
        "total": "{:.3f}",
        "speed_up": Column("speed-up", "{:.2f}"),
    }
    points = table("milliseconds", rows, columns)
    return _answer(document, "time for strongly connected components", "Times are without trimming.", points)


def _speed_up_answer(document: dict[str, Any]) -> Answer:
    """Return the points of figure 13.

    Parameters
    ----------
    document : dict
        The document of `SpeedUps.document`.
    """
    columns: Columns = {
        "vertices": "{:,}",
        "degree": "{}",
        "series": "{}",
        "kosaraju": Column("Kosaraju (ms)", "{:.3f}"),
        "milliseconds": Column("ms", "{:.3f}"),
        "speed_up": Column("speed-up", "{:.2f}"),
    }
    points = table("speed-ups", document["points"], columns)
    said = "hong ran on all cores. Trimming is in its time only, a part of its algorithm."
    return _answer(document, "speed-up over sequential software", said, points)


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
    """Return figure 12: for each degree a bar of sequential Kosaraju and one of each machine, by phase.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
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
            axes.bar_label(bars, [figures.time_text(total) for total in floor], padding=2, fontsize=7)
        axes.margins(y=0.08)  # room for the numbers above the bars
        axes.set(ylim=(0, None), ylabel="time (ms)")
    figures.add_legend(figure, len(PHASES))
    return figure


def _speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 13: speed-up over sequential Kosaraju against degree.

    Parameters
    ----------
    document : dict
        The document of `SpeedUps.document`.
    """
    figure, degrees, panels = _panels(document)
    colours = (figures.BLUE, figures.SKY, figures.PURPLE, figures.VERMILION)
    for axes, series in panels:
        for place, (name, points) in enumerate(series.items()):
            hong = name == "hong"
            axes.plot(
                [degrees.index(point["degree"]) for point in points],
                [point["speed_up"] for point in points],
                color=figures.ORANGE if hong else colours[place % len(colours)],
                marker="o" if hong else "s",
                linestyle="--" if hong else "-",
                label=f"Hong et al., {count_text(document['cores'], 'thread')}" if hong else f"four FPGAs, {name}",
            )
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set(ylim=(0, None), ylabel="speed-up over sequential Kosaraju")
    figures.add_legend(figure, 4)
    return figure


class _Components(Grid):
    """A figure over uniform random graphs: sequential Kosaraju and each machine."""

    hong: ClassVar[bool] = False
    """Whether Hong's algorithm is measured too."""

    @abstractmethod
    def points(self, series: Series) -> Iterator[Point]:
        """Yield the points of a graph."""

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        requests: dict[tuple[GraphSpec, str], Request] = {}
        for degree, vertices in self.graphs():
            graph = GraphSpec(kind="random", degree=degree, vertices=vertices, seed=self.seed)
            requests[graph, SOFTWARE] = SoftwareRequest(graph=graph, algorithm=SOFTWARE, threads=1)
            for config in self.configs:
                requests[graph, config] = SccRequest(graph=graph, preset=config, memory=self.memory)
            if self.hong:
                requests[graph, "hong"] = SoftwareRequest(graph=graph, algorithm="hong", threads=available_cores())
        results = measurements.measure(requests.values())
        found: dict[GraphSpec, Series] = {}
        for (graph, name), request in requests.items():
            found.setdefault(graph, {})[name] = results[request]
        return {
            **self.described(results, kind="random"),
            "processor": processor_name(),
            "cores": available_cores(),
            "points": [
                {"degree": graph.degree, "vertices": graph.vertices, **point}
                for graph, series in found.items()
                for point in self.points(series)
            ],
        }


class Times(_Components):
    """Figure 12: time of sequential Kosaraju and of each machine.

    Each of the ``points`` of its document is a bar: ``degree``, ``vertices``, ``series`` (``kosaraju`` or a
    configuration), ``milliseconds`` by phase, and ``total``. No time includes trimming. The parameters are those of
    `Grid`.
    """

    answer_of = staticmethod(_time_answer)
    figure_of = staticmethod(_time_figure)

    def points(self, series: Series) -> Iterator[Point]:
        """Yield the points of a graph."""
        for name, result in series.items():
            if name == SOFTWARE:
                phases, further = {phase: 1e3 * result[phase] for phase in PHASES}, ["runs"]
            else:
                phases, further = _machine_phases(result), ["cycles", "components", "trimmed", "iterations", "wall"]
            kept = {field: result[field] for field in further}
            yield {"series": name, "milliseconds": phases, "total": sum(phases.values()), **kept}


class SpeedUps(_Components):
    """Figure 13: speed-up of each machine, and of Hong's algorithm, over sequential Kosaraju.

    The ``points`` of its document have ``degree``, ``vertices``, ``series`` (a configuration or ``hong``),
    ``milliseconds``, ``kosaraju`` (its milliseconds), and ``speed_up``. Only Hong's time includes trimming, which is
    a part of that algorithm. The parameters are those of `Grid`.
    """

    hong = True
    answer_of = staticmethod(_speed_up_answer)
    figure_of = staticmethod(_speed_up_figure)

    def points(self, series: Series) -> Iterator[Point]:
        """Yield the points of a graph."""
        base = 1e3 * series[SOFTWARE]["seconds"]
        for name, result in series.items():
            if name != SOFTWARE:
                time = 1e3 * result["seconds"] if name == "hong" else sum(_machine_phases(result).values())
                yield {"series": name, "milliseconds": time, "kosaraju": base, "speed_up": base / time}
