"""Figures 2 and 3 and table 2 of Li et al. 2013: recursion depth, and time beside Tarjan's algorithm."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from host.measuring.graphs import GraphSpec, size_text
from host.measuring.measurements import Measurements
from host.measuring.setting import cores, processor_name
from host.measuring.software import SoftwareRequest
from host.results.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, add_legend, new_figure
from host.results.table_text import markdown_table
from host.results.version import version
from host.studies.points import grouped
from host.studies.reproduction import Report
from host.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FIGURE2",
    "FIGURE3",
    "PARTITION",
    "SINGLE",
    "TENTH",
    "depth_figure",
    "depth_markdown",
    "depth_report",
    "figure2_document",
    "figure3_document",
    "table2_document",
    "time_figure",
    "time_markdown",
    "time_report",
]

VERTICES = 100_000
"""Of the graphs of figures 2 and 3."""

FIGURE2 = {
    0: (100_000, 203),
    1: (50_485, 187),
    2: (16_330, 159),
    3: (5_545, 141),
    4: (1_925, 119),
    5: (715, 93),
    6: (233, 69),
}
"""Recursion depth by average degree of random graphs: with single sources alone, and with Partition."""

FIGURE3 = {100: 7295, 1000: 1195, 5000: 315, 8000: 217, 10_000: 187}
"""Recursion depth by the number of Partition's sources, random graphs of average degree 1."""

MILLION = 1 << 20
"""Vertices that stand for the text's million: R-MAT graphs have a power of two of them here."""


class Row(NamedTuple):
    """A row of table 2.

    Parameters
    ----------
    milliseconds, tarjan : float
        Time of the text's algorithm, and of Tarjan's on a Core i7 2600K.
    depth : int
        Recursion depth.
    """

    milliseconds: float
    depth: int
    tarjan: float


TABLE2 = {
    ("random", 12): (Row(13, 9, 432), Row(24, 17, 980), Row(38, 23, 1560)),
    ("rmat", 12): (Row(35, 560, 295), Row(66, 1020, 647), Row(102, 1440, 975)),
    ("ssca2", 30): (Row(24, 86, 261), Row(46, 150, 583), Row(74, 215, 890)),
}
"""Rows of one, two and three million vertices, by kind of graph and average degree."""


def row_of(kind: str, degree: int, vertices: int) -> Row | None:
    """Return the row of the nearest graph of the text, None where there is none of about this size."""
    millions, rest = divmod(vertices, MILLION)
    rows = TABLE2[kind, degree]
    return rows[millions - 1] if not rest and 1 <= millions <= len(rows) else None


SINGLE = "single source"
PARTITION = "single source + Partition"
"""The series, as figure 2 calls them."""
TENTH = "single source + Partition, k = n / 10"
"""Partition with as many sources at every degree, by which the text's depths seem to have been measured."""

_DEGREE = 1
"""Of the graphs of figure 3."""

_Point = tuple[str, int, int | None, SoftwareRequest]
"""Series, place on the horizontal axis, the text's depth, what is measured."""


def _request(vertices: int, degree: int, seed: int, *options: tuple[str, int]) -> SoftwareRequest:
    # On one thread, where depths repeat.
    graph = GraphSpec(kind="random", degree=degree, vertices=vertices, seed=seed)
    return SoftwareRequest(graph=graph, algorithm="li", threads=1, seed=seed, options=options)


def _document(
    measurements: Measurements, figure: str, axis: str, points: list[_Point], vertices: int, seed: int
) -> dict[str, Any]:
    results = measurements.measure(request for *_, request in points)
    return {
        "figure": figure,
        "version": version(),
        "seed": seed,
        "vertices": vertices,
        "axis": axis,
        "points": [
            {
                "series": series,
                axis: place,
                "paper": paper,
                "depth": results[request]["counts"]["depth"],
                "counts": results[request]["counts"],
                "milliseconds": 1e3 * results[request]["seconds"],
                "verified": results[request]["verified"],
            }
            for series, place, paper, request in points
        ],
    }


def figure2_document(measurements: Measurements, vertices: int, *, seed: int) -> dict[str, Any]:
    """Measure figure 2 and return it as a JSON document.

    Its ``points`` are ``series`` (`SINGLE`, `PARTITION` or `TENTH`), ``degree``, ``paper`` (the text's depth, where the
    graph has as many vertices), ``depth``, and ``counts`` and ``milliseconds`` of the run.
    """
    points: list[_Point] = []
    for degree, (single, both) in FIGURE2.items():
        for series, paper, options in (
            (SINGLE, single, (("sources", 0),)),
            (PARTITION, both, ()),
            (TENTH, both, (("sources", vertices // 10),)),
        ):
            known = paper if vertices == VERTICES else None
            points.append((series, degree, known, _request(vertices, degree, seed, *options)))
    return _document(measurements, "li-fig2", "degree", points, vertices, seed)


def figure3_document(measurements: Measurements, vertices: int, *, seed: int) -> dict[str, Any]:
    """Measure figure 3 and return it as a JSON document, whose ``points`` have ``sources`` in place of ``degree``.

    On graphs of other sizes the sources are as large a part of the vertices as the text's.
    """
    points: list[_Point] = []
    for sources, paper in FIGURE3.items():
        scaled = max(1, sources * vertices // VERTICES)
        known = paper if vertices == VERTICES else None
        points.append((PARTITION, scaled, known, _request(vertices, _DEGREE, seed, ("sources", scaled))))
    return _document(measurements, "li-fig3", "sources", points, vertices, seed)


def table2_document(measurements: Measurements, sizes: Sequence[int], *, seed: int) -> dict[str, Any]:
    """Measure the generated graphs of table 2 and return them as a JSON document.

    Its ``rows`` are ``kind``, ``degree`` and ``vertices`` of the graph; ``milliseconds`` and ``counts`` of ``li``,
    ``tarjan`` (milliseconds) and ``speed_up``; ``paper`` with the text's ``milliseconds``, ``depth`` and ``tarjan``.
    """
    graphs = [
        GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed)
        for kind, degree in TABLE2
        for vertices in sizes
    ]
    runs = {
        (graph, name): SoftwareRequest(graph=graph, algorithm=name, threads=threads)
        for graph in graphs
        for name, threads in (("li", cores()), ("tarjan", 1))
    }
    results = measurements.measure(runs.values())
    rows = []
    for graph in graphs:
        own, tarjan = (results[runs[graph, name]] for name in ("li", "tarjan"))
        paper = row_of(graph.kind, graph.degree, graph.vertices)
        rows.append(
            {
                "kind": graph.kind,
                "degree": graph.degree,
                "vertices": graph.vertices,
                "milliseconds": 1e3 * own["seconds"],
                "counts": own["counts"],
                "tarjan": 1e3 * tarjan["seconds"],
                "speed_up": tarjan["seconds"] / own["seconds"],
                "paper": None if paper is None else paper._asdict(),
                "verified": own["verified"],
            }
        )
    return {
        "figure": "li-table2",
        "version": version(),
        "seed": seed,
        "processor": processor_name(),
        "cores": cores(),
        "rows": rows,
    }


_NOTHING = "–"


def _number(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:,.0f}"


def _ratio(measured: float, paper: float | None) -> str:
    return _NOTHING if paper is None else f"{measured / paper:.2f}"


def depth_markdown(document: dict[str, Any]) -> str:
    """Return figure 2 or 3 as Markdown.

    Parameters
    ----------
    document : dict
        What `figure2_document` or `figure3_document` returned.
    """
    axis = document["axis"]
    head = [axis, "paper", "measured", "ratio", "queries", "edges", "passes", "ms"]
    parts = [
        f"# {document['figure'].replace('li-fig', 'Figure ')} of Li et al. 2013: recursion depth\n\n"
        f"Uniform random graphs of {document['vertices']:,} vertices, seed {document['seed']}; one thread. "
        "Partition and single sources are a level each.\n"
    ]
    for (series,), points in grouped(document["points"], "series").items():
        rows = [
            [
                f"{point[axis]:,}",
                _number(point["paper"]),
                _number(point["depth"]),
                _ratio(point["depth"], point["paper"]),
                *(_number(point["counts"][name]) for name in ("queries", "edges", "passes")),
                f"{point['milliseconds']:,.1f}",
            ]
            for point in points
        ]
        parts += [f"## {series}\n", markdown_table(head, rows)]
    return "\n".join(parts)


def time_markdown(document: dict[str, Any]) -> str:
    """Return table 2 as Markdown.

    Parameters
    ----------
    document : dict
        What `table2_document` returned.
    """
    head = ["graph", "vertices", "degree", "li (ms)", "Tarjan (ms)", "speed-up", "depth", "edges"]
    head += ["paper (ms)", "its Tarjan (ms)", "its speed-up", "its depth"]
    rows = []
    for row in document["rows"]:
        paper = row["paper"] or {"milliseconds": None, "tarjan": None, "depth": None}
        rows.append(
            [
                row["kind"],
                size_text(row["vertices"]),
                str(row["degree"]),
                f"{row['milliseconds']:,.1f}",
                f"{row['tarjan']:,.1f}",
                f"{row['speed_up']:.2f}",
                _number(row["counts"]["depth"]),
                _number(row["counts"]["edges"]),
                _number(paper["milliseconds"]),
                _number(paper["tarjan"]),
                _ratio(paper["tarjan"], paper["milliseconds"]) if row["paper"] else _NOTHING,
                _number(paper["depth"]),
            ]
        )
    return (
        "# Table 2 of Li et al. 2013: time beside Tarjan's algorithm\n\n"
        f"Generated graphs, seed {document['seed']}. "
        f"Software: {document['processor']}, {counted(document['cores'], 'core')}; "
        "the paper's was a GeForce GTX 480, and one core of a Core i7 2600K for Tarjan's.\n\n"
        f"{markdown_table(head, rows)}"
    )


_AXES = {"degree": "average degree", "sources": "number of sources, k"}
_COLOURS = {SINGLE: BLUE, PARTITION: VERMILION, TENTH: GREEN}
_WIDTH = 0.4


def depth_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 2 or 3: recursion depth, what was measured as lines, the text's as marks.

    Parameters
    ----------
    document : dict
        What `figure2_document` or `figure3_document` returned.
    """
    figure = new_figure(width=7, height=4.5)
    axes = figure.subplots()
    axis = document["axis"]
    for (series,), points in grouped(document["points"], "series").items():
        places = [point[axis] for point in points]
        heights = [point["depth"] for point in points]
        axes.plot(places, heights, color=_COLOURS[series], marker="o", label=f"{series}, measured")
        # Those of both series with Partition are the same.
        known = [point for point in points if point["paper"] is not None and series != TENTH]
        if known:
            heights = [point["paper"] for point in known]
            where = [point[axis] for point in known]
            axes.plot(where, heights, color=BLACK, marker="x", linestyle=":", label=f"{series}, paper")
    axes.set_yscale("log")
    axes.set_xlabel(_AXES[axis])
    axes.set_ylabel("recursion depth")
    axes.grid(axis="y", color="0.85")
    axes.set_axisbelow(True)
    add_legend(figure, 2)
    return figure


def time_figure(document: dict[str, Any]) -> "Figure":
    """Return table 2 as bars: speed-up over Tarjan's algorithm, here and in the text.

    Parameters
    ----------
    document : dict
        What `table2_document` returned.
    """
    rows = document["rows"]
    figure = new_figure(width=max(6, 1.2 * len(rows)), height=4)
    axes = figure.subplots()
    papers = [row["paper"]["tarjan"] / row["paper"]["milliseconds"] if row["paper"] else 0.0 for row in rows]
    places = range(len(rows))
    here = [row["speed_up"] for row in rows]
    axes.bar([place - _WIDTH / 2 for place in places], here, _WIDTH, color=BLUE, label="here")
    axes.bar([place + _WIDTH / 2 for place in places], papers, _WIDTH, color=ORANGE, label="paper, GTX 480")
    axes.axhline(1, color="0.5", linewidth=1)
    axes.set_xticks(list(places), [f"{row['kind']}\n{size_text(row['vertices'])}" for row in rows])
    axes.set_yscale("log")
    axes.set_ylabel("speed-up over Tarjan's algorithm")
    add_legend(figure, 2)
    return figure


def depth_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the figure that options ask for, and return it."""
    make = figure2_document if arguments.figure == "li-fig2" else figure3_document
    document = make(measurements, arguments.vertices, seed=arguments.seed)
    return Report(document=document, markdown=depth_markdown(document), figure=depth_figure(document))


def time_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the table that options ask for, and return it."""
    document = table2_document(measurements, arguments.vertices, seed=arguments.seed)
    return Report(document=document, markdown=time_markdown(document), figure=time_figure(document))
