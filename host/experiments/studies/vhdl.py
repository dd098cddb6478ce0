"""Cycles of the published hardware beside those of the simulation, level by level."""

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cyscc.host.answer import charts
from cyscc.host.answer.charts import Figure, Panel, Trace, look
from cyscc.host.answer.colours import BLUE, GREEN, ORANGE, PURPLE, SKY
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.runs import BfsRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.studies.rows import read_table
from cyscc.host.experiments.studies.study import Case, Point, Study, grouped
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.sim.notices import shortened

if TYPE_CHECKING:
    import pandas as pd


REFERENCE = Path(__file__).with_name("published") / "cycles.csv"
"""The project's table; its graphs are beside it."""


class PublishedLevel(NamedTuple):
    """A level of a search."""

    level: int
    """Its number, from 1."""
    cycles: int
    """Cycles from its enable to its done, both counted."""
    frontier: int
    """Entries that it read from its queue."""
    pushed: int
    """Entries that it pushed."""
    duplicates: int
    """Those of them whose vertex had been visited."""
    edges: int
    """Edges that it read."""


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """A search of a graph from vertex 0, with a memory of fixed latency.

    Parameters
    ----------
    graph : str
        Name of the graph.
    latency : int
        Latency of the memory in cycles.
    levels : tuple of PublishedLevel
        The levels.
    """

    graph: str
    latency: int
    levels: tuple[PublishedLevel, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all levels."""
        return sum(level.cycles for level in self.levels)

    @property
    def edges(self) -> int:
        """Edges that all levels read."""
        return sum(level.edges for level in self.levels)

    @property
    def repeated(self) -> list[int]:
        """Entries of each level's frontier that had been visited when they were pushed."""
        return [0, *(level.duplicates for level in self.levels)][: len(self.levels)]

    @property
    def vertices(self) -> list[int]:
        """Entries of each level's frontier without the repeated ones."""
        return [level.frontier - repeated for level, repeated in zip(self.levels, self.repeated, strict=True)]


_NAME = re.compile(r"\w[\w.+-]{0,99}", re.ASCII)
_LEAST = {"latency": 1, "level": 1, "cycles": 1, "frontier": 1}
_MOST = {"latency": 100_000}
_LARGEST = 10**12
_SHOWN = 40
"""Characters of a wrong value in a message."""

_SUFFIXES = (".txt", ".gr", ".mtx", ".npz")


def _number(column: str, text: str) -> int:
    least, most = _LEAST.get(column, 0), _MOST.get(column, _LARGEST)
    if not re.fullmatch(r"[0-9]{1,13}", text) or not least <= int(text) <= most:
        raise InputError(f"{column} must be an integer from {least} to {most:,}, not {shortened(text, _SHOWN)!r}")
    return int(text)


def read_runs(path: Path) -> list[PublishedRun]:
    """Return the runs of a table, in its order.

    Parameters
    ----------
    path : Path
        A CSV file whose columns are ``graph``, ``latency`` and the fields of `PublishedLevel`, in this order; the rows
        of a run follow each other, by level.

    Raises
    ------
    InputError
        The file cannot be read, or is no such table; the message has the line.
    """
    runs: dict[tuple[str, int], list[PublishedLevel]] = {}

    def add(cells: dict[str, str]) -> None:
        graph = cells["graph"]
        if not _NAME.fullmatch(graph):
            name = shortened(graph, _SHOWN)
            raise InputError(f"graph must be a name of letters, digits and any of _.+-, not {name!r}")
        level = PublishedLevel(*(_number(column, cells[column]) for column in PublishedLevel._fields))
        if level.duplicates > level.pushed:
            raise InputError(f"duplicates are more than what was pushed: {level.duplicates} of {level.pushed}")
        run = graph, _number("latency", cells["latency"])
        if run in runs and run != next(reversed(runs)):
            raise InputError(f"the rows of {run[0]} at latency {run[1]} do not follow each other")
        levels = runs.setdefault(run, [])
        if level.level != len(levels) + 1:
            raise InputError(f"level must be {len(levels) + 1}, the next of its run, not {level.level}")
        levels.append(level)

    read_table(path, add, columns=("graph", "latency", *PublishedLevel._fields))
    return [PublishedRun(graph=graph, latency=latency, levels=tuple(own)) for (graph, latency), own in runs.items()]


def find_graph(name: str, folder: Path) -> GraphFile:
    """Return the graph of a name in a folder: the first of ``NAME.txt``, ``.gr``, ``.mtx``, ``.npz``, also gzipped.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    """
    paths = (folder / f"{name}{suffix}{packed}" for suffix in _SUFFIXES for packed in ("", ".gz"))
    found = next((path for path in paths if path.exists()), None)
    if found is None:
        raise InputError(f"no graph {name}: there is no {name}.txt, .gr, .mtx or .npz, nor one gzipped", path=folder)
    return GraphFile.of(found)


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


def _summary(points: Sequence[Point]) -> Point:
    """Return number, means, ranges and mean ratio of the cycles of both sides."""
    ranges = {side: [min(point[side] for point in points), max(point[side] for point in points)] for side in _SIDES}
    ratio = statistics.fmean(point["simulated"] / point["published"] for point in points)
    return {"runs": len(points), **_means(points), "range": ranges, "ratio": ratio}


def _scatter(points: Sequence[Point], side: str) -> float | None:
    """Return the standard deviation of cycles from a straight line over the latencies, as a part of their mean."""
    if len(points) <= 2:
        return None
    latencies, cycles = (np.array([point[name] for point in points], float) for name in ("latency", side))
    return float(np.std(cycles - np.polyval(np.polyfit(latencies, cycles, 1), latencies)) / cycles.mean())


def _compared(config: str, published: PublishedRun, result: Measured) -> Point:
    """Return both sides of a run, without its names."""
    counted, vertices, edges = (list(column) for column in zip(*result["levels"], strict=True))
    cycles = [level - _COUNTED_BEFORE.get(config, 0) for level in counted]
    pairs = zip(vertices, published.vertices, strict=False)
    equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    lossless = equal == len(published.levels) == len(vertices)
    # In the level before the first that differs, the published hardware has lost a vertex. Vertices that were pushed
    # twice are expanded twice; they are others on each side.
    alike = [level for level in range(equal if lossless else equal - 1) if not published.repeated[level]]
    return {
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
    return {
        "graph": graph,
        **_summary(runs),
        "least": min(run["ratio"] for run in runs),
        "most": max(run["ratio"] for run in runs),
        "scatter": {side: _scatter(runs, side) for side in _SIDES},
        "lossless": sum(run["lossless"] for run in runs),
    }


def _level_summaries(graph: str, runs: Sequence[Point]) -> list[Point]:
    """Return what is told of each level of a graph, over the latencies at which both sides have it."""
    cycles = [
        {"level": level, **dict(zip(_SIDES, both, strict=True))}
        for run in runs
        for level, both in enumerate(zip(*(run["levels"][side] for side in _SIDES), strict=False), start=1)
    ]
    return [
        {
            "graph": graph,
            "level": level,
            **_summary(own),
            "equal": sum(each["simulated"] == each["published"] for each in own),
        }
        for (level,), own in grouped(cycles, "level").items()
    ]


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


_COLOURS = (BLUE, GREEN, PURPLE, SKY)


def _levels_shown(name: str, side: str, looks: Trace, levels: "pd.DataFrame", shift: float) -> Trace:
    """Return cycles by level: means, and ranges over the latencies."""
    mean = levels[side]
    low, high = (np.array([ends[end] for ends in levels[f"range.{side}"]]) for end in (0, 1))
    many = len(levels) > _MANY
    ranges = {"type": "data", "array": (high - mean).tolist(), "arrayminus": (mean - low).tolist(), "width": 0}
    if many:
        red, green, blue = bytes.fromhex(looks["line"]["color"][1:])
        ranges |= {"color": f"rgba({red}, {green}, {blue}, 0.2)"}
    places = (levels["level"] + (0 if many else shift)).tolist()
    return {
        **looks,
        "mode": "lines" if many else "markers",
        "name": name,
        "x": places,
        "y": mean.tolist(),
        "error_y": ranges,
    }


def _runs_shown(name: str, side: str, looks: Trace, runs: "pd.DataFrame", published: "pd.DataFrame") -> Trace:
    """Return the cycles of runs by latency, relative to a straight line through those of the published hardware."""
    line = np.polyfit(published["latency"], published["published"], min(1, len(published) - 1))
    parts = runs[side] / np.polyval(line, runs["latency"])
    return {**looks, "name": name, "x": runs["latency"].tolist(), "y": parts.tolist()}


def _all_of(document: dict[str, Any], name: str) -> list[Point]:
    """Return a list of all machines as one, whose points have the ``config``."""
    return [{"config": machine["config"], **each} for machine in document["machines"] for each in machine[name]]


def _figure(document: dict[str, Any]) -> Figure:
    """Return two panels for each graph: cycles by level, and cycles by latency with the scatter of both sides."""
    configs = [machine["config"] for machine in document["machines"]]
    sides = [("published hardware", "published", ORANGE, configs[0])]
    for place, config in enumerate(configs):
        sides.append((f"simulated, {config}", "simulated", _COLOURS[place % len(_COLOURS)], config))
    levels, runs = (
        {key: own.reset_index() for key, own in charts.frame_of(points).groupby(["config", "graph"], sort=False)}
        for points in (_all_of(document, "levels"), document["runs"])
    )
    parts = []
    for graph in [graph for config, graph in runs if config == configs[0]]:
        shown: tuple[list[Trace], list[Trace]] = ([], [])
        for place, (name, side, colour, config) in enumerate(sides):
            # Equal ones show behind.
            marker = {"symbol": charts.SYMBOLS[place], "size": 6 if place else 9}
            looks = look("joined", colour, line={"width": 1}, marker=marker)
            shift = 0.16 * (place - (len(sides) - 1) / 2)
            shown[0].append(_levels_shown(name, side, looks, levels[config, graph], shift))
            shown[1].append(_runs_shown(name, side, looks, runs[config, graph], runs[configs[0], graph]))
        ratio = {"title": "cycles / straight line"}
        level = {"title": "level"} if len(shown[0][0]["x"]) > _MANY else {"title": "level", "dtick": 1}
        parts += [
            Panel(f"{graph}: levels", shown[0], level, {"title": "cycles"}, log="y"),
            Panel(f"{graph}: searches", shown[1], {"title": "latency (cycles)"}, ratio, one="y"),
        ]
    return charts.panels(parts)


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

    points_name = "runs"
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

    def cases(self) -> Iterator[Case]:
        """Yield the runs."""
        published = self.chosen()
        folder = Path(self.folder) if self.folder else (Path(self.reference) if self.reference else REFERENCE).parent
        graphs = {name: find_graph(name, folder) for name in dict.fromkeys(run.graph for run in published)}
        for config, run in product(self.configs, published):
            request = BfsRequest.of(graphs[run.graph], config, f"fixed:{run.latency}", source=0)
            yield Case({"config": config, "graph": run.graph, "latency": run.latency}, {"search": request}, run)

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield a run of both sides."""
        yield _compared(case.known["config"], case.beside, found["search"])

    def document(self, measurements: Plan) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        document = super().document(measurements)
        del document["seed"]  # no graph is generated
        document["reference"] = REFERENCE.name if self.reference is None else self.reference
        groups = grouped(document["runs"], "config")
        return {**document, "machines": [_machine(config, group) for (config,), group in groups.items()]}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document: bars, graphs, levels, ratios by latency."""
        levels = [
            row
            for group in grouped(_all_of(document, "levels"), "config", "graph").values()
            for row in _together(group)
        ]
        ratios = [
            {"config": config, "latency": latency, **{run["graph"]: run["ratio"] for run in group}}
            for (config, latency), group in sorted(grouped(document["runs"], "config", "latency").items())
        ]
        return {
            "bars": [{**bar, "met": "yes" if bar["met"] else "no"} for bar in _all_of(document, "bars")],
            "graphs": _all_of(document, "graphs"),
            "levels": levels,
            "ratios": ratios,
        }

    def said(self, document: dict[str, Any]) -> list[str]:
        """Return what is said of each machine, given the document."""
        runs = grouped(document["runs"], "config")
        return [line for each in document["machines"] for line in _said(each, len(runs[each["config"],]))]
