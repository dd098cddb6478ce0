"""Figures 2, 3, 5 and 6 and tables 1 and 2 of Li et al. 2013: recursion depth, and time beside Tarjan's algorithm."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from cyscc.host.baselines.algorithms import AS_PRINTED
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.measurements import Measured, Request
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.sheets import Sheet, sheet_of
from cyscc.host.experiments.studies.charts import Line, Marks, draw_lines, draw_rows
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.run_times import RunTimes, run_time_figure
from cyscc.host.experiments.studies.study import Case, Point, Study, grouped, quotient
from cyscc.host.output.figures import BLACK, BLUE, GREEN, ORANGE, VERMILION, add_legend, new_figure
from cyscc.host.specification.numbers import number_text
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "GENERATED",
    "PARTITION",
    "REAL",
    "SINGLE",
    "TENTH",
    "Degrees",
    "GeneratedTimes",
    "RealTimes",
    "Sources",
    "Times",
    "row_of",
]

VERTICES = 100_000
"""Number of vertices of the graphs in figures 2 and 3."""

MILLION = 1 << 20
"""The paper's million vertices, as reproduced: the size of R-MAT graphs is a power of two."""

GENERATED = {("random", 12): "random", ("rmat", 12): "rmat", ("ssca2", 30): "ssca"}
"""Names of the generated graphs of tables 1 and 2 by kind and average degree; the number of millions follows."""

ROWS: dict[str, Point] = {row["name"]: row for row in printed("li-table2", texts=("name", "components"))}
"""Rows of tables 1 and 2 by name."""

REAL = [row for row in ROWS.values() if row["barnat"] is None]
"""Those of real graphs."""


def row_of(kind: str, degree: int, vertices: int) -> Point | None:
    """Return the row of the paper's graph of about this size; None if there is none."""
    millions, rest = divmod(vertices, MILLION)
    return None if rest else ROWS.get(f"{GENERATED[kind, degree]}{millions}")


SINGLE = "single source"
PARTITION = "single source + Partition"
"""Names of the series, as in figure 2."""
TENTH = "single source + Partition, k = n / 10"
"""Series of Partition with the same number of sources at every degree, which seems to be the paper's setting."""

_DEGREE = 1
"""Average degree of the graphs in figure 3."""

_Asked = tuple[str, int, int | None, int | None]
"""Series, position on the horizontal axis, the paper's depth, and Partition's sources (None for the default)."""

_WORK = ("queries", "edges", "passes")
"""Counters in the tables of figures 2 and 3."""


_AXES = {"degree": "average degree", "sources": "number of sources, k"}
_COLOURS = {SINGLE: BLUE, PARTITION: VERMILION, TENTH: GREEN}


def _depth_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 2 or 3: recursion depths, the measured ones as lines, the paper's as marks."""
    figure = new_figure(width=7, height=4.5)
    axes, axis, lines = figure.subplots(), document["axis"], []
    for (series,), points in grouped(document["points"], "series").items():
        # The paper's depths of both series with Partition are the same.
        known = [point for point in points if point["paper"] is not None and series != TENTH]
        for side, field, own, looks in (
            ("measured", "depth", points, {"marker": "o"}),
            ("paper", "paper", known, {"marker": "x", "linestyle": ":"}),
        ):
            places, heights = [point[axis] for point in own], [point[field] for point in own]
            if own:
                lines.append(Line(f"{series}, {side}", places, heights, {"color": _COLOURS[series], **looks}))
    draw_lines(axes, lines, log="y", xlabel=_AXES[axis], ylabel="recursion depth", axisbelow=True)
    axes.grid(axis="y", color="0.85")
    add_legend(figure, 2)
    return figure


@dataclass(frozen=True, kw_only=True)
class _Depths(Study):
    """A figure of recursion depths.

    The points of its document have ``series``, the place on the horizontal axis, ``paper`` (the paper's depth, if the
    graph has as many vertices), ``depth``, and ``counts`` and ``milliseconds`` of the run.

    Parameters
    ----------
    vertices : int
        Vertices of the graphs.
    """

    vertices: int

    axis: ClassVar[str]
    """Field of the points on the horizontal axis."""

    figure_of = staticmethod(_depth_figure)

    @abstractmethod
    def asked(self) -> Iterator[_Asked]:
        """Yield the points to measure."""

    def cases(self) -> Iterator[Case]:
        """Yield what is to be measured."""
        for series, place, paper, sources in self.asked():
            degree = place if self.axis == "degree" else _DEGREE
            request = SoftwareRequest(
                graph=GraphSpec(kind="random", degree=degree, vertices=self.vertices, seed=self.seed),
                algorithm="li",
                threads=1,  # makes depths reproducible
                seed=self.seed,
                options=((AS_PRINTED, 1),) if sources is None else (("sources", sources), (AS_PRINTED, 1)),
                counters=("depth", *_WORK),
            )
            # The paper has no depths of graphs of other sizes.
            known = {"series": series, self.axis: place, "paper": paper if self.vertices == VERTICES else None}
            yield Case(known, {"li": request})

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the point of a case."""
        result = found["li"]
        told = {name: result[name] for name in ("counts", "verified")}
        yield {**told, "depth": result["counts"]["depth"], "milliseconds": 1e3 * result["seconds"]}

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), "vertices": self.vertices, "axis": self.axis}

    def sheet(self) -> Sheet:
        """Return how the answer is told."""
        return sheet_of("li-depths")

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        return {"points": [{**each, "ratio": quotient(each["depth"], each["paper"])} for each in document["points"]]}


class Degrees(_Depths):
    """Figure 2: recursion depth by average degree, of the series `SINGLE`, `PARTITION` and `TENTH`."""

    axis = "degree"

    def asked(self) -> Iterator[_Asked]:
        """Yield the points to measure."""
        for row in printed("li-fig2"):
            yield SINGLE, row["degree"], row["single"], 0
            yield PARTITION, row["degree"], row["partition"], None
            yield TENTH, row["degree"], row["partition"], self.vertices // 10


class Sources(_Depths):
    """Figure 3: recursion depth by Partition's number of sources.

    On graphs of other sizes, the sources are the same share of the vertices as in the paper.
    """

    axis = "sources"

    def asked(self) -> Iterator[_Asked]:
        """Yield the points to measure."""
        for row in printed("li-fig3"):
            scaled = max(1, row["sources"] * self.vertices // VERTICES)
            yield PARTITION, scaled, row["depth"], scaled


def _paper_speed_up(row: Point) -> float | None:
    """Return the paper's speed-up over Tarjan's algorithm; None if it has no such graph."""
    return row["paper"] and row["paper"]["tarjan"] / row["paper"]["milliseconds"]


def _speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return table 2 as marks: speed-up over Tarjan's algorithm, measured and in the paper."""
    rows = document["rows"]
    figure = new_figure(width=7, height=1.4 + 0.4 * len(rows))
    marks = [
        Marks(BLUE, "here, as printed", [row["speed_up"] for row in rows]),
        Marks(GREEN, "here, with additions", [row["tarjan"] / row["additions"] for row in rows]),
        Marks(ORANGE, "paper, GTX 480", [_paper_speed_up(row) for row in rows]),
    ]
    panel = figure.subplots(), [row["graph"] for row in rows], marks
    return draw_rows(figure, [panel], "speed-up over Tarjan's algorithm")


def _run_time_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 5 or 6, given the document."""
    series = (
        ("milliseconds", "li, as printed", "milliseconds", "li", BLUE),
        ("tarjan", "Tarjan", "tarjan", "Tarjan", BLACK),
        ("fbt", "fbt, as printed", "barnat", "Barnat's", VERMILION),
        ("additions", "li with additions", "", "", GREEN),
    )
    return run_time_figure(document["rows"], series)


@dataclass(frozen=True, kw_only=True)
class Times(RunTimes):
    """Tables 1 and 2, for generated graphs and for graphs of the user's; see `RunTimes`.

    The contenders are ``milliseconds``, which is ``li`` as printed, ``additions``, which is ``li`` with its additions,
    ``fbt`` as printed, and ``tarjan``. Rows also have ``kind`` and ``degree`` of generated graphs.

    Parameters
    ----------
    vertices : tuple of int
        Vertices of the generated graphs.
    """

    vertices: tuple[int, ...] = ()

    main = "milliseconds"
    ratio = "speed_up"
    told = (*RunTimes.told, "verified")
    files: ClassVar[Mapping[str, Point]] = {row["name"].lower(): row for row in REAL}

    figure_of = staticmethod(_speed_up_figure)

    def sheet(self) -> Sheet:
        """Return how the answer is told."""
        return sheet_of("li")

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        rows = [{**row, "paper_speed_up": _paper_speed_up(row)} for row in document["rows"]]
        return {"rows": rows, "graphs": document["rows"]}

    def case(
        self, name: str, graph: GraphSpec | GraphFile, paper: Point | None, *, stands_for: str | None = None
    ) -> Case:
        """Return the case of a graph, of which the paper may have a row."""
        known, requests, _ = super().case(name, graph, paper, stands_for=stands_for)
        return Case({**known, **{field: getattr(graph, field, None) for field in ("kind", "degree")}}, requests)

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        for (kind, degree), size in product(GENERATED, self.vertices):
            graph = GraphSpec(kind=kind, degree=degree, vertices=size, seed=self.seed)
            yield self.case(f"{kind}, {number_text(size)} vertices", graph, row_of(kind, degree, size))
        yield from self.given()

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), "cores": available_cores()}


class GeneratedTimes(Times):
    """Figure 5: the run times of table 2 for generated graphs, as marks."""

    figure_of = staticmethod(_run_time_figure)


@dataclass(frozen=True, kw_only=True)
class RealTimes(Times):
    """Figure 6: the run times of table 2 for real graphs, as marks; G(n, m) graphs stand for those that are not given.

    Parameters
    ----------
    quick : bool
        Whether graphs that stand for others have a hundredth of their size.
    """

    quick: bool = False

    figure_of = staticmethod(_run_time_figure)

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        return self.beside(REAL, unit=10**4 if self.quick else 10**6, known=not self.quick)
