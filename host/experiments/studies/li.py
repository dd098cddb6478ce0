"""Figures 2 and 3 and table 2 of Li et al. 2013: recursion depth, and time compared with Tarjan's algorithm."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cyscc.host.experiments.measuring.graphs import GraphSpec, size_text
from cyscc.host.experiments.measuring.measurements import Measurements
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.study import AS_ITS_PAPER, Study, grouped
from cyscc.host.output.figures import (
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    VERMILION,
    add_legend,
    log_axis,
    new_figure,
    row_axis,
    row_places,
)
from cyscc.host.output.text import column_table, count_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURE2", "FIGURE3", "PARTITION", "SINGLE", "TENTH", "Degrees", "Sources", "Times"]

VERTICES = 100_000
"""Number of vertices of the graphs in figures 2 and 3."""

FIGURE2 = {
    0: (100_000, 203),
    1: (50_485, 187),
    2: (16_330, 159),
    3: (5_545, 141),
    4: (1_925, 119),
    5: (715, 93),
    6: (233, 69),
}
"""Recursion depths by average degree of random graphs: single sources only, and with Partition."""

FIGURE3 = {100: 7295, 1000: 1195, 5000: 315, 8000: 217, 10_000: 187}
"""Recursion depths by Partition's number of sources, on random graphs of average degree 1."""

MILLION = 1 << 20
"""The paper's million vertices, as reproduced: the size of R-MAT graphs is a power of two."""


class Row(NamedTuple):
    """A row of table 2.

    Parameters
    ----------
    milliseconds, tarjan : float
        Time of the paper's algorithm, and of Tarjan's on a Core i7 2600K.
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
"""Rows for one, two and three million vertices, by kind of graph and average degree."""


def row_of(kind: str, degree: int, vertices: int) -> Row | None:
    """Return the row of the paper's graph of about this size; None if there is none."""
    millions, rest = divmod(vertices, MILLION)
    rows = TABLE2[kind, degree]
    return rows[millions - 1] if not rest and 1 <= millions <= len(rows) else None


SINGLE = "single source"
PARTITION = "single source + Partition"
"""Names of the series, as in figure 2."""
TENTH = "single source + Partition, k = n / 10"
"""Series of Partition with the same number of sources at every degree, which seems to be the paper's setting."""

_DEGREE = 1
"""Average degree of the graphs in figure 3."""

_Asked = tuple[str, int, int | None, int | None]
"""Series, position on the horizontal axis, the paper's depth, and Partition's sources (None for the default)."""


def _quotient(value: float | None, by: float | None) -> float | None:
    return None if value is None or by is None else value / by


_WORK = ("queries", "edges", "passes")
"""Counters in the tables of figures 2 and 3."""


def _depth_markdown(document: dict[str, Any]) -> str:
    """Return figure 2 or 3 as Markdown.

    Parameters
    ----------
    document : dict
        The document of `Degrees.document` or `Sources.document`.
    """
    axis = document["axis"]
    columns = [(axis, f"{{{axis}:,}}"), ("paper", "{paper:,}"), ("measured", "{depth:,}"), ("ratio", "{ratio:.2f}")]
    columns += [(name, f"{{counts[{name}]:,}}") for name in _WORK]
    columns.append(("ms", "{milliseconds:,.1f}"))
    parts = [
        f"# {document['figure'].replace('li-fig', 'Figure ')} of Li et al. 2013: recursion depth\n\n"
        f"Uniform random graphs of {document['vertices']:,} vertices, seed {document['seed']}; one thread. "
        "Partition and single sources are a level each.\n"
    ]
    for (series,), points in grouped(document["points"], "series").items():
        rows = [{**point, "ratio": _quotient(point["depth"], point["paper"])} for point in points]
        parts += [f"## {series}\n", column_table(columns, rows)]
    return "\n".join(parts)


_TIMES = (
    ("graph", "{kind}"),
    ("vertices", "{size}"),
    ("degree", "{degree}"),
    ("li (ms)", "{milliseconds:,.1f}"),
    ("Tarjan (ms)", "{tarjan:,.1f}"),
    ("speed-up", "{speed_up:.2f}"),
    ("depth", "{counts[depth]:,}"),
    ("edges", "{counts[edges]:,}"),
    ("paper (ms)", "{paper[milliseconds]:,}"),
    ("its Tarjan (ms)", "{paper[tarjan]:,}"),
    ("its speed-up", "{ratio:.2f}"),
    ("its depth", "{paper[depth]:,}"),
)


def _time_markdown(document: dict[str, Any]) -> str:
    """Return table 2 as Markdown.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
    """
    rows = []
    for row in document["rows"]:
        paper = row["paper"] or dict.fromkeys(Row._fields)
        ratio = _quotient(paper["tarjan"], paper["milliseconds"])
        rows.append({**row, "size": size_text(row["vertices"]), "paper": paper, "ratio": ratio})
    return (
        "# Table 2 of Li et al. 2013: time beside Tarjan's algorithm\n\n"
        f"Generated graphs, seed {document['seed']}. "
        f"Software: {document['processor']}, {count_text(document['cores'], 'core')}; "
        "the paper's was a GeForce GTX 480, and one core of a Core i7 2600K for Tarjan's.\n\n"
        f"{column_table(_TIMES, rows)}"
    )


_AXES = {"degree": "average degree", "sources": "number of sources, k"}
_COLOURS = {SINGLE: BLUE, PARTITION: VERMILION, TENTH: GREEN}


def _depth_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 2 or 3: recursion depths, the measured ones as lines, the paper's as marks.

    Parameters
    ----------
    document : dict
        The document of `Degrees.document` or `Sources.document`.
    """
    figure = new_figure(width=7, height=4.5)
    axes = figure.subplots()
    axis = document["axis"]
    for (series,), points in grouped(document["points"], "series").items():
        places = [point[axis] for point in points]
        heights = [point["depth"] for point in points]
        axes.plot(places, heights, color=_COLOURS[series], marker="o", label=f"{series}, measured")
        # The paper's depths of both series with Partition are the same.
        known = [point for point in points if point["paper"] is not None and series != TENTH]
        if known:
            heights = [point["paper"] for point in known]
            where = [point[axis] for point in known]
            axes.plot(where, heights, color=_COLOURS[series], marker="x", linestyle=":", label=f"{series}, paper")
    axes.set(xlabel=_AXES[axis], ylabel="recursion depth", axisbelow=True)
    log_axis(axes, "y")
    axes.grid(axis="y", color="0.85")
    add_legend(figure, 2)
    return figure


def _time_figure(document: dict[str, Any]) -> "Figure":
    """Return table 2 as points: speed-up over Tarjan's algorithm, measured and in the paper.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
    """
    rows = document["rows"]
    figure = new_figure(width=7, height=1.4 + 0.4 * len(rows))
    axes = figure.subplots()
    here = {place: row["speed_up"] for place, row in enumerate(rows)}
    papers = {
        place: row["paper"]["tarjan"] / row["paper"]["milliseconds"] for place, row in enumerate(rows) if row["paper"]
    }
    for number, (found, colour, label) in enumerate(((here, BLUE, "here"), (papers, ORANGE, "paper, GTX 480"))):
        places = row_places(len(rows), number, 2)
        where = [places[place] for place in found]
        axes.plot(list(found.values()), where, color=colour, marker=MARKERS[number], linestyle="none", label=label)
    row_axis(axes, [f"{row['kind']}, {size_text(row['vertices'])} vertices" for row in rows])
    axes.axvline(1, color="0.5", linewidth=1)
    axes.set_xlabel("speed-up over Tarjan's algorithm")
    log_axis(axes, "x")
    add_legend(figure, 2)
    return figure


@dataclass(frozen=True, kw_only=True)
class _Depths(Study):
    """A figure of recursion depths.

    Parameters
    ----------
    figure : str
        Name of the figure.
    vertices : int
        Vertices of the graphs.
    seed : int
        Seed of the graphs.
    """

    figure: str
    vertices: int

    axis: ClassVar[str]
    """Field of the points on the horizontal axis."""

    markdown = staticmethod(_depth_markdown)
    figure_of = staticmethod(_depth_figure)

    @abstractmethod
    def asked(self) -> Iterator[_Asked]:
        """Yield the points to measure."""

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        asked = list(self.asked())
        requests = [
            SoftwareRequest(
                graph=GraphSpec(
                    kind="random",
                    degree=place if self.axis == "degree" else _DEGREE,
                    vertices=self.vertices,
                    seed=self.seed,
                ),
                algorithm="li",
                threads=1,  # makes depths reproducible
                seed=self.seed,
                options=AS_ITS_PAPER if sources is None else (("sources", sources), *AS_ITS_PAPER),
                counters=("depth", *_WORK),
            )
            for _, place, _, sources in asked
        ]
        results = measurements.measure(requests)
        return {
            **self.head(self.figure),
            "vertices": self.vertices,
            "axis": self.axis,
            "points": [
                {
                    "series": series,
                    self.axis: place,
                    # The paper has no depths of graphs of other sizes.
                    "paper": paper if self.vertices == VERTICES else None,
                    "depth": results[request]["counts"]["depth"],
                    "counts": results[request]["counts"],
                    "milliseconds": 1e3 * results[request]["seconds"],
                    "verified": results[request]["verified"],
                }
                for (series, place, paper, _), request in zip(asked, requests, strict=True)
            ],
        }


class Degrees(_Depths):
    """Figure 2: recursion depth by average degree.

    The ``points`` of its document have ``series`` (`SINGLE`, `PARTITION` or `TENTH`), ``degree``, ``paper`` (the
    paper's depth, if the graph has as many vertices), ``depth``, and ``counts`` and ``milliseconds`` of the run.
    """

    axis = "degree"

    def asked(self) -> Iterator[_Asked]:
        """Yield the points to measure."""
        for degree, (single, both) in FIGURE2.items():
            yield SINGLE, degree, single, 0
            yield PARTITION, degree, both, None
            yield TENTH, degree, both, self.vertices // 10


class Sources(_Depths):
    """Figure 3: recursion depth by Partition's number of sources; ``points`` have ``sources`` in place of ``degree``.

    On graphs of other sizes, the sources are the same share of the vertices as in the paper.
    """

    axis = "sources"

    def asked(self) -> Iterator[_Asked]:
        """Yield the points to measure."""
        for sources, paper in FIGURE3.items():
            scaled = max(1, sources * self.vertices // VERTICES)
            yield PARTITION, scaled, paper, scaled


@dataclass(frozen=True, kw_only=True)
class Times(Study):
    """Table 2, for its generated graphs.

    The ``rows`` of its document have ``kind``, ``degree`` and ``vertices`` of the graph; ``milliseconds`` and
    ``counts`` of ``li``; ``tarjan`` (milliseconds) and ``speed_up``; and in ``paper`` the published ``milliseconds``,
    ``depth`` and ``tarjan``.

    Parameters
    ----------
    vertices : tuple of int
        Vertices of the graphs.
    seed : int
        Seed of the graphs.
    """

    vertices: tuple[int, ...]

    markdown = staticmethod(_time_markdown)
    figure_of = staticmethod(_time_figure)

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        runs = {}
        for (kind, degree), vertices in product(TABLE2, self.vertices):
            graph = GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=self.seed)
            runs[graph] = [
                SoftwareRequest(
                    graph=graph,
                    algorithm="li",
                    threads=available_cores(),
                    options=AS_ITS_PAPER,
                    counters=("depth", "edges"),
                ),
                SoftwareRequest(graph=graph, algorithm="tarjan", threads=1),
            ]
        results = measurements.measure(request for pair in runs.values() for request in pair)
        rows = []
        for graph, pair in runs.items():
            own, tarjan = (results[request] for request in pair)
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
            **self.head("li-table2"),
            "processor": processor_name(),
            "cores": available_cores(),
            "rows": rows,
        }
