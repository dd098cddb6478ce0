"""Cycles of the published hardware beside those of the simulation, level by level."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.measuring.machines import LevelsRequest
from cyscc.host.experiments.measuring.measurements import Measured, Measurements
from cyscc.host.experiments.studies.published_runs import REFERENCE, PublishedRun, find_graph, read_runs
from cyscc.host.experiments.studies.study import Columns, Point, Study, grouped, table
from cyscc.host.output.errors import InputError
from cyscc.host.output.figures import BLUE, GREEN, MARKERS, ORANGE, PURPLE, SKY, add_legend, log_axis, new_figure
from cyscc.host.output.files import version
from cyscc.host.output.text import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ALL_LIMIT", "GRAPH_LIMIT", "LEVEL_LIMIT", "LONG_LEVEL", "PublishedHardware"]

GRAPH_LIMIT = 0.008
"""Most difference of a graph's cycles, in the mean over the latencies."""

ALL_LIMIT = 0.002
"""Most difference of the mean over all graphs."""

LEVEL_LIMIT = 0.015
"""Most difference of a long level's cycles, in the mean over the latencies."""

LONG_LEVEL = 1000
"""Cycles of a long level, in the mean over the latencies."""

_COUNTED_BEFORE = {"published-vhdl-1ae": 8}
"""By preset, cycles of each level that only the simulation counts, and that are subtracted.

The simulation counts a level from the instruction on, which also sends the kernels their parameters; the published
hardware was counted from its enable, with all parameters in place. The pipelines of the other presets are shorter by
other cycles, so that nothing is subtracted from theirs.
"""

_QUICK = 3
"""A quick comparison has every third latency: steps of 15 cycles, which meet the turn of the ring in all its phases."""

_MANY = 16
"""Levels above which a graph's levels are shown together."""


_SIDES = ("published", "simulated")


def _means(points: Sequence[Point]) -> dict[str, float]:
    return {side: statistics.fmean(point[side] for point in points) for side in _SIDES}


def _ranges(points: Sequence[Point]) -> dict[str, list[int]]:
    return {side: [min(point[side] for point in points), max(point[side] for point in points)] for side in _SIDES}


def _scatter(points: Sequence[Point], side: str) -> float | None:
    """Return the standard deviation of cycles from a straight line over the latencies, as a part of their mean."""
    if len(points) <= 2:
        return None
    latencies, cycles = (np.array([point[name] for point in points], float) for name in ("latency", side))
    return float(np.std(cycles - np.polyval(np.polyfit(latencies, cycles, 1), latencies)) / cycles.mean())


def _compared(config: str, published: PublishedRun, result: Measured) -> Point:
    """Return a run of both sides."""
    counted, vertices, edges = (list(column) for column in zip(*result["levels"], strict=True))
    cycles = [level - _COUNTED_BEFORE.get(config, 0) for level in counted]
    equal = 0
    for ours, theirs in zip(vertices, published.vertices, strict=False):
        if ours != theirs:
            break
        equal += 1
    lossless = equal == len(published.levels) == len(vertices)
    # In the level before the first that differs, the published hardware has lost a vertex. Vertices that were pushed
    # twice are expanded twice; they are others on each side.
    alike = [level for level in range(equal if lossless else equal - 1) if not published.repeated[level]]
    return {
        "config": config,
        "graph": published.graph,
        "latency": published.latency,
        "published": published.cycles,
        "simulated": sum(cycles),
        "ratio": sum(cycles) / published.cycles,
        "vertices": {"published": sum(published.vertices), "simulated": sum(vertices)},
        "edges_read": {"published": published.edges, "simulated": result["edges_read"]},
        "lossless": lossless,
        "edges_compared_in": [level + 1 for level in alike],
        "edges_differ_in": [level + 1 for level in alike if edges[level] != published.levels[level].edges],
        "levels": {"published": [level.cycles for level in published.levels], "simulated": cycles},
    }


def _graph_summary(graph: str, runs: Sequence[Point]) -> Point:
    """Return what is told of a graph, over its latencies."""
    ratios = [run["ratio"] for run in runs]
    return {
        "graph": graph,
        "runs": len(runs),
        **_means(runs),
        "range": _ranges(runs),
        "ratio": statistics.fmean(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "scatter": {side: _scatter(runs, side) for side in _SIDES},
        "lossless": sum(run["lossless"] for run in runs),
    }


def _level_summaries(graph: str, runs: Sequence[Point]) -> list[Point]:
    """Return what is told of each level of a graph, over the latencies at which both sides have it."""
    found = []
    for level in range(max(min(len(run["levels"][side]) for side in _SIDES) for run in runs)):
        pairs = [
            {side: run["levels"][side][level] for side in _SIDES}
            for run in runs
            if level < min(len(run["levels"][side]) for side in _SIDES)
        ]
        found.append(
            {
                "graph": graph,
                "level": level + 1,
                "runs": len(pairs),
                **_means(pairs),
                "range": _ranges(pairs),
                "equal": sum(pair["simulated"] == pair["published"] for pair in pairs),
                "ratio": statistics.fmean(pair["simulated"] / pair["published"] for pair in pairs),
            }
        )
    return found


def _bar(text: str, limit: float, ratios: Mapping[str, float]) -> Point:
    """Return a bar with the ratio that differs most, of those named."""
    where = max(ratios, key=lambda name: abs(ratios[name] - 1), default=None)
    worst = None if where is None else ratios[where] - 1
    return {"text": text, "limit": limit, "worst": worst, "where": where, "met": worst is None or abs(worst) <= limit}


def _machine(config: str, runs: Sequence[Point]) -> Point:
    """Return what is told of a machine: means over the latencies, and which bars they meet."""
    groups = grouped(runs, "graph")
    graphs = [_graph_summary(graph, group) for (graph,), group in groups.items()]
    levels = [level for (graph,), group in groups.items() for level in _level_summaries(graph, group)]
    mean = statistics.fmean(graph["ratio"] for graph in graphs)
    long = {
        f"{each['graph']}, level {each['level']}": each["ratio"] for each in levels if each["published"] >= LONG_LEVEL
    }
    differing = [run for run in runs if run["edges_differ_in"]]
    return {
        "config": config,
        "counted_before": _COUNTED_BEFORE.get(config, 0),
        "ratio": mean,
        "graphs": graphs,
        "levels": levels,
        "bars": [
            _bar("each graph, mean over latencies", GRAPH_LIMIT, {each["graph"]: each["ratio"] for each in graphs}),
            _bar("mean over all graphs", ALL_LIMIT, {"all": mean}),
            _bar(f"each level of {LONG_LEVEL:,} cycles and more, mean over latencies", LEVEL_LIMIT, long),
        ],
        "vertices_and_edges": {
            "lossless": sum(run["lossless"] for run in runs),
            "compared_in": sum(len(run["edges_compared_in"]) for run in runs),
            "differ_in": [f"{run['graph']}, latency {run['latency']}" for run in differing],
            "met": not differing,
        },
    }


_ENDS = "{0[0]:,} to {0[1]:,}"
_BOTH: Columns = {
    "published": "{:,.0f}",
    "range.published": Column("from, to", _ENDS),
    "simulated": "{:,.0f}",
    "range.simulated": Column("from, to", _ENDS),
}
_BARS: Columns = {
    "config": "{}",
    "text": Column("bar"),
    "limit": "{:.1%}",
    "worst": Column("largest difference", "{:+.2%}"),
    "where": Column("of"),
    "met": "{}",
}
_GRAPHS: Columns = {
    "config": "{}",
    "graph": "{}",
    "runs": "{}",
    **_BOTH,
    "ratio": "{:.4f}",
    "least": "{:.3f}",
    "most": "{:.3f}",
    "scatter.published": Column("scatter: published", "{:.2%}"),
    "scatter.simulated": Column("simulated", "{:.2%}"),
    "lossless": Column("published finds all in"),
}
_LEVELS: Columns = {
    "config": "{}",
    "graph": "{}",
    "level": Column(left=False),
    **_BOTH,
    "ratio": "{:.3f}",
    "equal": "{}",
    "runs": Column("of runs"),
}


def _together(levels: Sequence[Point]) -> list[Point]:
    """Return the rows of a graph's levels: all of them, or one for all if there are many."""
    if len(levels) <= _MANY:
        return list(levels)
    ends = {
        side: [min(level["range"][side][0] for level in levels), max(level["range"][side][1] for level in levels)]
        for side in _SIDES
    }
    return [
        {
            **{name: levels[0][name] for name in ("config", "graph")},
            "level": f"1 to {len(levels)}",
            **_means(levels),
            "range": ends,
            "ratio": statistics.fmean(level["ratio"] for level in levels),
            **{name: sum(level[name] for level in levels) for name in ("equal", "runs")},
        }
    ]


def _said(machine: Point, runs: int) -> list[str]:
    """Return the sentences on a machine, of which some runs were compared."""
    exact, name = machine["vertices_and_edges"], machine["config"]
    same = f"differ in {', '.join(exact['differ_in'])}" if exact["differ_in"] else "are equal"
    met = [*(bar["met"] for bar in machine["bars"]), exact["met"]]
    counted = f"{name}: of each level {machine['counted_before']} cycles are subtracted, which the published hardware "
    return [
        *([f"{counted}does not count."] if machine["counted_before"] else []),
        f"{name}: vertices and edges {same} in the {count_text(exact['compared_in'], 'level')} in which the published "
        "hardware loses nothing and expands no vertex twice. It finds every vertex in its level in "
        f"{exact['lossless']} of {count_text(runs, 'run')}, the simulation in all.",
        f"{name}: {sum(met)} of {len(met)} bars are met.",
    ]


def _answer(document: dict[str, Any]) -> Answer:
    """Return the comparison: bars, graphs, levels, and the ratio of cycles by latency.

    Parameters
    ----------
    document : dict
        The document of `PublishedHardware.document`.
    """
    machines = document["machines"]

    def all_of(name: str) -> list[Point]:
        return [{"config": machine["config"], **each} for machine in machines for each in machine[name]]

    bars = [{**bar, "met": "yes" if bar["met"] else "no"} for bar in all_of("bars")]
    levels = [row for group in grouped(all_of("levels"), "config", "graph").values() for row in _together(group)]
    runs = grouped(document["runs"], "config")
    ratios = [
        {"config": config, "latency": latency, **{run["graph"]: run["ratio"] for run in group}}
        for (config, latency), group in sorted(grouped(document["runs"], "config", "latency").items())
    ]
    by_graph = dict.fromkeys([run["graph"] for run in document["runs"]], "{:.3f}")
    return Answer(
        title="The published hardware and the simulation",
        facts={"published hardware": document["reference"]},
        said=[
            "Cycles of breadth-first searches from vertex 0, with memories of fixed latency. The scatter is the "
            "standard deviation from a straight line over the latencies.",
            *(line for each in machines for line in _said(each, len(runs[each["config"],]))),
        ],
        tables={
            "bars": table("what is demanded", bars, _BARS),
            "graphs": table("cycles of whole searches, means over the latencies", all_of("graphs"), _GRAPHS),
            "levels": table("cycles of levels, means and ranges over the latencies", levels, _LEVELS),
            "ratios": table(
                "simulated cycles over published ones, by latency",
                ratios,
                {"config": "{}", "latency": "{}", **by_graph},
            ),
        },
    )


_COLOURS = (BLUE, GREEN, PURPLE, SKY)


def _draw_levels(axes: "Axes", series: Sequence[tuple[str, str, str, Sequence[Point]]]) -> None:
    """Draw cycles by level: means, and ranges over the latencies."""
    for place, (label, side, colour, levels) in enumerate(series):
        many = len(levels) > _MANY
        shift = 0 if many else 0.16 * (place - (len(series) - 1) / 2)
        at = [level["level"] + shift for level in levels]
        low, high = ([level["range"][side][end] for level in levels] for end in (0, 1))
        if many:
            axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(at, [level[side] for level in levels], color=colour, label=label, linewidth=1.5)
            continue
        axes.vlines(at, low, high, color=colour, linewidth=2)
        axes.plot(
            at,
            [level[side] for level in levels],
            color=colour,
            label=label,
            linestyle="",
            marker=MARKERS[place],
            markersize=5,
        )
    axes.locator_params(axis="x", integer=True)
    axes.set(xlabel="level", ylabel="cycles")
    log_axis(axes, "y")


def _draw_runs(axes: "Axes", series: Sequence[tuple[str, str, str, Sequence[Point]]]) -> None:
    """Draw the cycles of runs by latency, relative to a straight line through those of the published hardware."""
    published = series[0][3]
    latencies = [run["latency"] for run in published]
    line = np.polyfit(latencies, [run["published"] for run in published], min(1, len(latencies) - 1))
    for place, (label, side, colour, runs) in enumerate(series):
        at = np.array([run["latency"] for run in runs])
        axes.plot(
            at,
            np.array([run[side] for run in runs]) / np.polyval(line, at),
            color=colour,
            label=label,
            linewidth=0.8,
            marker=MARKERS[place],
            markersize=5 if place else 8,  # equal ones show behind
        )
    axes.axhline(1, color="0.5", linewidth=1)
    axes.set(xlabel="latency (cycles)", ylabel="cycles / straight line")


def _figure(document: dict[str, Any]) -> "Figure":
    """Return two panels for each graph: cycles by level, and cycles by latency with the scatter of both sides.

    Parameters
    ----------
    document : dict
        The document of `PublishedHardware.document`.
    """
    machines = document["machines"]
    graphs = [graph["graph"] for graph in machines[0]["graphs"]]
    figure = new_figure(width=10, height=2.6 * len(graphs) + 0.5)
    panels = figure.subplots(len(graphs), 2, squeeze=False)
    sides = [("published hardware", "published", ORANGE, machines[0]["config"])]
    sides += [
        (f"simulated, {machine['config']}", "simulated", _COLOURS[place % len(_COLOURS)], machine["config"])
        for place, machine in enumerate(machines)
    ]
    levels = {
        key: group
        for machine in machines
        for key, group in grouped(
            ({"config": machine["config"], **level} for level in machine["levels"]), "config", "graph"
        ).items()
    }
    runs = grouped(document["runs"], "config", "graph")
    for (left, right), graph in zip(panels, graphs, strict=True):
        left.set_title(f"{graph}: levels")
        right.set_title(f"{graph}: searches")
        _draw_levels(left, [(label, side, colour, levels[config, graph]) for label, side, colour, config in sides])
        _draw_runs(right, [(label, side, colour, runs[config, graph]) for label, side, colour, config in sides])
        for axes in (left, right):
            axes.set_axisbelow(True)
            axes.grid(color="0.9")
    add_legend(figure, 3)
    return figure


@dataclass(frozen=True, kw_only=True)
class PublishedHardware(Study):
    """Cycles of the published hardware, and of simulated machines with the same memory.

    Its document has ``runs``, and for each of ``machines`` the means over the latencies of ``graphs`` and ``levels``,
    and the ``bars``.

    Parameters
    ----------
    configs : tuple of str
        Presets.
    reference : str or None
        Table of the published hardware's cycles; None for the project's.
    folder : str or None
        Folder of the graphs; None for that of the table.
    graphs : tuple of str
        Names of the graphs to compare, several in a text separated by commas; none for all of the table.
    latencies : tuple of int or None
        Latencies to compare; None for all of the table.
    quick : bool
        Whether to compare every third latency only.
    """

    configs: tuple[str, ...]
    reference: str | None
    folder: str | None
    graphs: tuple[str, ...]
    latencies: tuple[int, ...] | None
    quick: bool = False

    answer_of = staticmethod(_answer)
    figure_of = staticmethod(_figure)

    def chosen(self) -> list[PublishedRun]:
        """Return the runs to compare.

        Raises
        ------
        InputError
            The table cannot be used, or lacks a graph or latency that was asked for.
        """
        path = REFERENCE if self.reference is None else Path(self.reference)
        runs = read_runs(path)
        graphs = list(dict.fromkeys(run.graph for run in runs))
        latencies = sorted({run.latency for run in runs})
        named = [name for text in self.graphs for name in text.split(",")]
        for asked, known, what in ((named, graphs, "graph"), (self.latencies, latencies, "latency")):
            for each in asked or ():
                if each not in known:
                    raise InputError(f"has no {what} {each}: there are {', '.join(map(str, known))}", path=path)
        kept = self.latencies or latencies[:: _QUICK if self.quick else 1]
        found = [run for run in runs if run.graph in (named or graphs) and run.latency in kept]
        if not found:
            raise InputError("has no run of these graphs at these latencies", path=path)
        return found

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        published = self.chosen()
        folder = Path(self.folder) if self.folder else (Path(self.reference) if self.reference else REFERENCE).parent
        graphs = {name: find_graph(name, folder) for name in dict.fromkeys(run.graph for run in published)}
        requests = {
            (config, run.graph, run.latency): LevelsRequest(
                graph=graphs[run.graph], preset=config, memory=f"fixed:{run.latency}"
            )
            for config in self.configs
            for run in published
        }
        results = measurements.measure(requests.values())
        runs = [
            _compared(config, run, results[requests[config, run.graph, run.latency]])
            for config in self.configs
            for run in published
        ]
        return {
            "figure": "vhdl",
            "version": version(),
            "reference": REFERENCE.name if self.reference is None else self.reference,
            "machines": [_machine(config, group) for (config,), group in grouped(runs, "config").items()],
            "runs": runs,
        }
