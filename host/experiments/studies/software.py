"""Software beside its papers, Li et al. 2013 and Quach, Abuzaid and Chen 2012: run times and recursion depths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

from cyscc.host.answer import charts, colours
from cyscc.host.answer.charts import Figure, Panel, look
from cyscc.host.answer.colours import BLACK, BLUE, GREEN, ORANGE, VERMILION
from cyscc.host.baselines.algorithms import AS_PRINTED
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.sheets import Sheet, sheet_of
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.study import Case, Point, SoftwareStudy, Study, quotient
from cyscc.host.output.text import count_text
from cyscc.host.specification.numbers import number_text

_REPLACED = (
    "A G(n, m) graph stands for each of the paper's graphs that was not given (--graphs). It has as many vertices and "
    "edges, but another structure."
)


def _run_time_figure(document: dict[str, Any]) -> Figure:
    """Return the run times by graph as marks, measured ones filled, published ones hollow."""
    rows = charts.frame_of(document["rows"]).set_index("graph")
    shown, looks = {}, {}
    sheet = sheet_of(document["figure"].partition("-")[0])
    for (field, name, its_field, its_name, colour), symbol in zip(sheet.series, charts.SYMBOLS, strict=False):
        for title, column, hollow in (
            (f"{name}: here", field, ""),
            (f"{its_name}: paper", f"paper.{its_field}", "-open"),
        ):
            if column in rows:
                shown[title] = rows[column].astype(float)
                marker = {"symbol": symbol + hollow, "line": {"width": 1.5}}
                looks[title] = look("points", getattr(colours, colour), marker=marker, legendgroup=name)
    return charts.panels([charts.rows_panel("", rows.assign(**shown)[list(shown)], looks, "time (ms)")])


@dataclass(frozen=True, kw_only=True)
class RunTimes(SoftwareStudy):
    """A table of run times on several graphs; its figure has them as marks.

    The rows of its document have ``graph``, its name; ``stands_for``, the paper's graph that it replaces; the
    milliseconds of each contender; the time of ``tarjan`` over that of `main`, in `ratio`; the fields of `told`; and in
    ``paper`` the published row.

    Parameters
    ----------
    graphs : sequence of Path
        Files of graphs; those whose names are in the paper are compared with it.
    """

    graphs: Sequence[Path] = ()

    figure_of = staticmethod(_run_time_figure)
    main: ClassVar[str]
    """The contender of the paper."""
    ratio: ClassVar[str]
    told: ClassVar[tuple[str, ...]] = ("vertices", "edges", "components", "counts")
    """Fields that rows have of the result of the paper's contender."""
    files: ClassVar[Mapping[str, Point]]
    """The paper's rows of graphs by names of files in lower case."""
    paper_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that ``paper`` has of the published row; none for all."""
    graph_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that rows have of a generated graph."""

    @property
    def sheet(self) -> Sheet:
        """How the answer is told: the same for all of a paper."""
        return sheet_of(self.figure.partition("-")[0])

    def case(
        self, name: str, graph: GraphSpec | GraphFile, paper: Point | None, *, stands_for: str | None = None
    ) -> Case:
        """Return the case of a graph, of which the paper may have a row."""
        told = paper and {field: paper[field] for field in self.paper_fields or paper}
        of_graph = {field: getattr(graph, field, None) for field in self.graph_fields}
        known = {"graph": name, "stands_for": stands_for, "paper": told, **of_graph}
        return Case(known, self.requests(graph))

    def given(self) -> Iterator[Case]:
        """Yield the graphs of the files.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        for path in map(Path, self.graphs):
            name = path.name.partition(".")[0]
            yield self.case(name, GraphFile.of(path), self.files.get(name.lower()))

    def beside(self, rows: Sequence[Point], *, unit: float = 1, known: bool = True) -> Iterator[Case]:
        """Yield the graphs of the files, and a G(n, m) graph for each of the paper's rows that is not among them.

        Parameters
        ----------
        rows : sequence of dict
            The paper's rows.
        unit : float
            How many vertices, and edges, are one in the rows.
        known : bool
            Whether the paper's times are those of graphs of these sizes.
        """
        given = list(self.given())
        yield from given
        there = [self.files.get(case.known["graph"].lower()) for case in given]
        for row in (row for row in rows if row not in there):
            vertices, edges = round(row["vertices"] * unit), round(row["edges"] * unit)
            graph = GraphSpec(kind="gnm", vertices=vertices, exact_edges=edges, seed=self.seed)
            name = row["name"]
            yield self.case(f"G(n, m) for {name}", graph, row if known else None, stands_for=name)

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the row of a graph."""
        times: dict[str, Any] = {name: 1e3 * result["seconds"] for name, result in found.items()}
        told = {name: found[self.main][name] for name in self.told}
        yield {**told, **times, self.ratio: times["tarjan"] / times[self.main]}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document: all tables show the same graphs."""
        return dict.fromkeys(self.sheet.tables, document["rows"])

    def said(self, document: dict[str, Any]) -> list[str]:
        """Return a sentence on graphs that stand for the paper's; none if there are none."""
        return [_REPLACED] if any(row.get("stands_for") for row in document["rows"]) else []


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

_AXES = {"degree": "average degree", "sources": "number of sources, k"}
_COLOURS = {SINGLE: BLUE, PARTITION: VERMILION, TENTH: GREEN}


def _depth_figure(document: dict[str, Any]) -> Figure:
    """Return figure 2 or 3: recursion depths, the measured ones as lines, the paper's as marks."""
    axis, shown = document["axis"], []
    points = charts.frame_of(document["points"])
    for name, own in points.groupby("series", sort=False):
        looks = {
            f"{name}, measured": look("joined", _COLOURS[name]),
            f"{name}, paper": look("joined", _COLOURS[name], line={"dash": "dot"}, marker={"symbol": "x"}),
        }
        shown += charts.series(own.assign(name=f"{name}, measured"), axis, "depth", "name", looks)
        # The paper's depths of both series with Partition are the same.
        if name != TENTH:
            shown += charts.series(own.assign(name=f"{name}, paper"), axis, "paper", "name", looks)
    return charts.new_figure(shown, height=450, x=_AXES[axis], y="recursion depth", log="y")


@dataclass(frozen=True, kw_only=True)
class Depths(Study):
    """Figure 2: recursion depth by average degree; and figure 3: by Partition's number of sources.

    On graphs of other sizes, the sources of figure 3 are the same share of the vertices as in the paper.

    The points of its document have ``series``, the place on the horizontal axis, ``paper`` (the paper's depth, if the
    graph has as many vertices), ``depth``, and ``counts`` and ``milliseconds`` of the run.

    Parameters
    ----------
    vertices : int
        Vertices of the graphs.
    """

    vertices: int

    head_names = (*Study.head_names, "vertices", "axis")
    sheet_name = "li-depths"

    figure_of = staticmethod(_depth_figure)

    @property
    def axis(self) -> str:
        """Field of the points on the horizontal axis."""
        return "degree" if self.figure == "li-fig2" else "sources"

    def asked(self) -> Iterator[tuple[str, int, int, int | None]]:
        """Yield series, place on the axis, the paper's depth, and Partition's sources (None for the default)."""
        for row in printed(self.figure):
            if self.axis == "degree":
                yield SINGLE, row["degree"], row["single"], 0
                yield PARTITION, row["degree"], row["partition"], None
                yield TENTH, row["degree"], row["partition"], self.vertices // 10
            else:
                scaled = max(1, row["sources"] * self.vertices // VERTICES)
                yield PARTITION, scaled, row["depth"], scaled

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
            )
            # The paper has no depths of graphs of other sizes.
            known = {"series": series, self.axis: place, "paper": paper if self.vertices == VERTICES else None}
            yield Case(known, {"li": request})

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the point of a case."""
        result = found["li"]
        told = {name: result[name] for name in ("counts", "verified")}
        yield {**told, "depth": result["counts"]["depth"], "milliseconds": 1e3 * result["seconds"]}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        return {"points": [{**each, "ratio": quotient(each["depth"], each["paper"])} for each in document["points"]]}


def _paper_speed_up(row: Point) -> float | None:
    """Return the paper's speed-up over Tarjan's algorithm; None if it has no such graph."""
    return row["paper"] and row["paper"]["tarjan"] / row["paper"]["milliseconds"]


def _speed_up_figure(document: dict[str, Any]) -> Figure:
    """Return table 2 as marks: speed-up over Tarjan's algorithm, measured and in the paper."""
    rows = charts.frame_of([{**row, "known": _paper_speed_up(row)} for row in document["rows"]]).set_index("graph")
    shown = {
        "here, as printed": rows["speed_up"],
        "here, with additions": rows["tarjan"] / rows["additions"],
        "paper, GTX 480": rows["known"].astype(float),
    }
    looks = charts.points_of(shown, (BLUE, GREEN, ORANGE))
    frame = rows.assign(**shown)[list(shown)]
    return charts.panels([charts.rows_panel("", frame, looks, "speed-up over Tarjan's algorithm", one="x")])


@dataclass(frozen=True, kw_only=True)
class LiTimes(RunTimes):
    """Figure 5, and tables 1 and 2: generated graphs, and graphs of the user's; see `RunTimes`.

    The contenders are ``milliseconds``, which is ``li`` as printed, ``additions``, which is ``li`` with its additions,
    ``fbt`` as printed, and ``tarjan``. Rows also have ``kind`` and ``degree`` of generated graphs.

    Parameters
    ----------
    vertices : tuple of int
        Vertices of the generated graphs.
    """

    vertices: tuple[int, ...] = ()

    head_names = (*RunTimes.head_names, "cores")
    main = "milliseconds"
    ratio = "speed_up"
    told = (*RunTimes.told, "verified")
    graph_fields = ("kind", "degree")
    files: ClassVar[Mapping[str, Point]] = {row["name"].lower(): row for row in REAL}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        rows = [{**row, "paper_speed_up": _paper_speed_up(row)} for row in document["rows"]]
        return {**super().tables(document), "rows": rows}

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        for (kind, degree), size in product(GENERATED, self.vertices):
            graph = GraphSpec(kind=kind, degree=degree, vertices=size, seed=self.seed)
            yield self.case(f"{kind}, {number_text(size)} vertices", graph, row_of(kind, degree, size))
        yield from self.given()


class LiTable2(LiTimes):
    """Tables 1 and 2, whose figure has speed-ups."""

    figure_of = staticmethod(_speed_up_figure)


@dataclass(frozen=True, kw_only=True)
class LiFigure6(LiTimes):
    """Figure 6: the run times of table 2 for real graphs, as marks; G(n, m) graphs stand for those that are not given.

    Parameters
    ----------
    quick : bool
        Whether graphs that stand for others have a hundredth of their size.
    """

    quick: bool = False

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        return self.beside(REAL, unit=10**4 if self.quick else 10**6, known=not self.quick)


NETWORKS = printed("quach-table1", texts=("name", "files"))
"""Rows of table 1. The report says no more of the networks than this, and their sizes."""


_SIZE_COLOURS = (BLACK, ORANGE, GREEN, BLUE, VERMILION)


def _table2_figure(document: dict[str, Any]) -> Figure:
    """Return the plot: a line for each number of vertices, with the paper's dashed."""
    rows = charts.frame_of(document["rows"])
    rows["degree"] = rows["edges"] / rows["vertices"]
    shown = []
    for colour, (vertices, own) in zip(_SIZE_COLOURS, rows.groupby("vertices", sort=False), strict=False):
        for column, name, dash, symbol in (
            ("ratio", "", "solid", "circle"),
            ("paper.ratio", ", paper", "dash", "square"),
        ):
            title = f"n = {vertices:,}{name}"
            looks = {title: look("joined", colour, line={"dash": dash}, marker={"symbol": symbol, "size": 6})}
            known = own[own[column] > 0].assign(name=title)
            shown += charts.series(known, "degree", column, "name", looks)
    x, y = {"title": "edges a vertex, m / n"}, {"title": "time of tarjan / time of quach"}
    return charts.panels([Panel("", shown, x, y, height=400, one="y", log="xy")])


@dataclass(frozen=True, kw_only=True)
class _Quach(RunTimes):
    """A table of times; see `RunTimes`. In ``paper``, rows have the published times, ratio and ``prune``.

    Parameters
    ----------
    pivots : int
        Number of concurrent pivots.
    """

    pivots: int

    head_names = (*RunTimes.head_names, "pivots")
    main = "quach"
    paper_fields = ("tarjan", "quach", "ratio", "prune")
    ratio = "ratio"
    files: ClassVar[Mapping[str, Point]] = {name: row for row in NETWORKS for name in row["files"].split()}

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        return {**super().words(document), "pivots_text": count_text(document["pivots"], "pivot")}


class QuachTable1(_Quach):
    """Table 1 and figure 1, for graphs of the user's; G(n, m) graphs stand for networks that are not among them.

    The contenders are ``tarjan``, ``quach``, as printed, and ``additions``, which is ``quach`` with its additions.
    """

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        return self.beside(NETWORKS)


@dataclass(frozen=True, kw_only=True)
class QuachTable2(_Quach):
    """Table 2, for its graphs; the contenders are ``tarjan`` and ``quach``, as printed.

    Parameters
    ----------
    most : int
        Number of vertices of the largest graphs.
    """

    most: int = 1_000_000

    told = ("vertices", "edges", "counts")
    figure_of = staticmethod(_table2_figure)

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        for row in printed("quach-table2"):
            if row["vertices"] <= self.most:
                sizes = {"vertices": row["vertices"], "exact_edges": row["edges"]}
                known, requests, _ = self.case("", GraphSpec(kind="gnm", **sizes, seed=self.seed), row)
                contenders = {name: requests[name] for name in ("tarjan", "quach")}
                yield Case({"paper": known["paper"]}, contenders)
