"""Figures 2, 3, 5 and 6 and tables 1 and 2 of Li et al. 2013: recursion depth, and time beside Tarjan's algorithm."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.measurements import Measurements
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.run_times import REPLACED, Series, given_graphs, replacement, run_time_figure
from cyscc.host.experiments.studies.study import AS_ITS_PAPER, Columns, Study, grouped, table
from cyscc.host.output.figures import (
    BLACK,
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
from cyscc.host.output.text import device_text
from cyscc.host.runs.environment import processor_name
from cyscc.host.specification.numbers import number_text
from cyscc.host.specification.run import available_cores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FIGURE2",
    "FIGURE3",
    "PARTITION",
    "REAL",
    "SINGLE",
    "TABLE2",
    "TENTH",
    "Degrees",
    "RealRunTimes",
    "Row",
    "RunTimes",
    "Sources",
    "Times",
    "row_of",
]

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
    """A row of tables 1 and 2.

    Parameters
    ----------
    name : str
        Name of the graph.
    vertices, edges : float
        Its vertices and edges, in millions.
    components : str
        Number of its components, as printed.
    milliseconds : int
        Time of the paper's algorithm.
    depth : int
        Recursion depth.
    tarjan : int
        Time of Tarjan's algorithm on a Core i7 2600K (ms).
    barnat : int or None
        Best time that Barnat et al. report for theirs, on the same graphics processor (ms); none for real graphs.
    """

    name: str
    vertices: float
    edges: float
    components: str
    milliseconds: int
    depth: int
    tarjan: int
    barnat: int | None = None


TABLE2 = {
    ("random", 12): (
        Row("random1", 1.0, 12.0, "16", 13, 9, 432, 36),
        Row("random2", 2.0, 24.0, "31", 24, 17, 980, 73),
        Row("random3", 3.0, 36.0, "32", 38, 23, 1560, 111),
    ),
    ("rmat", 12): (
        Row("rmat1", 1.0, 12.0, "0.48M", 35, 560, 295, 36),
        Row("rmat2", 2.0, 24.0, "0.97M", 66, 1020, 647, 74),
        Row("rmat3", 3.0, 36.0, "0.97M", 102, 1440, 975, 134),
    ),
    ("ssca2", 30): (
        Row("ssca1", 1.0, 30.0, "576", 24, 86, 261, 72),
        Row("ssca2", 2.0, 60.0, "1.1K", 46, 150, 583, 155),
        Row("ssca3", 3.0, 90.0, "1.7K", 74, 215, 890, 284),
    ),
}
"""Rows of tables 1 and 2 for generated graphs of one, two and three million vertices, by kind and average degree."""

REAL = (
    Row("amazon-2008", 0.7, 5.2, "91K", 31, 450, 103),
    Row("amazon0505", 0.4, 3.4, "14K", 14, 190, 72),
    Row("language", 0.4, 1.2, "2.5K", 5, 75, 32),
    Row("flickr", 0.8, 9.8, "0.28M", 54, 540, 110),
    Row("FullChip", 3.0, 26.6, "35", 25, 35, 280),
    Row("pre2", 0.7, 6.0, "391", 7, 60, 57),
)
"""Rows of tables 1 and 2 for real graphs."""


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


def _depth_answer(document: dict[str, Any]) -> Answer:
    """Return the depths of figure 2 or 3.

    Parameters
    ----------
    document : dict
        The document of `Degrees.document` or `Sources.document`.
    """
    rows = [{**point, "ratio": _quotient(point["depth"], point["paper"])} for point in document["points"]]
    columns: Columns = {
        "series": "{}",
        document["axis"]: "{:,}",
        "paper": "{:,.0f}",
        "depth": Column("measured", "{:,}"),
        "ratio": "{:.2f}",
        **{f"counts.{name}": Column(name, "{:,}") for name in _WORK},
        "milliseconds": Column("ms", "{:,.1f}"),
    }
    return Answer(
        title=f"{document['figure'].replace('li-fig', 'Figure ')} of Li et al. 2013: recursion depth",
        facts={"graphs": f"uniform random, {document['vertices']:,} vertices, seed {document['seed']}"},
        said=["One thread. Partition and single sources are a level each."],
        tables={"points": table("recursion depth", rows, columns)},
    )


_TITLES = {
    "li-table2": "Tables 1 and 2 of Li et al. 2013: time beside Tarjan's algorithm",
    "li-fig5": "Figure 5 of Li et al. 2013: run times on generated graphs",
    "li-fig6": "Figure 6 of Li et al. 2013: run times on real graphs",
}

_TIMES: Columns = {
    "graph": "{}",
    "milliseconds": Column("li, as printed (ms)", "{:,.1f}"),
    "additions": Column("with additions (ms)", "{:,.1f}"),
    "fbt": Column("fbt (ms)", "{:,.1f}"),
    "tarjan": Column("Tarjan (ms)", "{:,.1f}"),
    "speed_up": Column("speed-up", "{:.2f}"),
    "paper.milliseconds": Column("paper: li (ms)", "{:,.0f}"),
    "paper.barnat": Column("Barnat's (ms)", "{:,.0f}"),
    "paper.tarjan": Column("its Tarjan (ms)", "{:,.0f}"),
    "paper_speed_up": Column("its speed-up", "{:.2f}"),
}
_GRAPHS: Columns = {
    "graph": "{}",
    **dict.fromkeys(("vertices", "edges", "components"), "{:,}"),
    "counts.depth": Column("depth", "{:,}"),
    "counts.edges": Column("edges inspected", "{:,}"),
    "paper.name": Column("paper: name"),
    "paper.vertices": Column("vertices (10⁶)", "{:.1f}"),
    "paper.edges": Column("edges (10⁶)", "{:.1f}"),
    "paper.components": Column("SCCs", left=False),
    "paper.depth": Column("its depth", "{:,.0f}"),
}


def _time_answer(document: dict[str, Any]) -> Answer:
    """Return run times, and the graphs with the recursion depths.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
    """
    rows = document["rows"]
    published = [row["paper"] or dict.fromkeys(Row._fields) for row in rows]
    speed_ups = [_quotient(paper["tarjan"], paper["milliseconds"]) for paper in published]
    shown = [{**row, "paper_speed_up": ratio} for row, ratio in zip(rows, speed_ups, strict=True)]
    return Answer(
        title=_TITLES[document["figure"]],
        facts={
            "li and fbt": device_text(document["device"], document["threads"]),
            "Tarjan": f"one thread of {document['processor']}",
            "the paper's": "a GeForce GTX 480, and one core of a Core i7 2600K",
            "generated graphs": f"seed {document['seed']}",
        },
        said=[
            "The speed-up over Tarjan's algorithm is that of li as printed. With additions, li runs as by default. "
            "fbt as printed is the nearest to the algorithms of Barnat et al., whose programs are not here: "
            "forward-backward search with trimming, a thread for each vertex.",
            *([REPLACED] if any(row["stands_for"] for row in rows) else []),
        ],
        tables={
            "rows": table("run times", shown, _TIMES),
            "graphs": table("the graphs, and the recursion depth of li as printed", rows, _GRAPHS),
        },
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


def _speed_up_figure(document: dict[str, Any]) -> "Figure":
    """Return table 2 as points: speed-up over Tarjan's algorithm, measured and in the paper.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
    """
    rows = document["rows"]
    figure = new_figure(width=7, height=1.4 + 0.4 * len(rows))
    axes = figure.subplots()
    found = {
        "here, as printed": [row["speed_up"] for row in rows],
        "here, with additions": [row["tarjan"] / row["additions"] for row in rows],
        "paper, GTX 480": [row["paper"] and row["paper"]["tarjan"] / row["paper"]["milliseconds"] for row in rows],
    }
    for number, ((label, ratios), colour) in enumerate(zip(found.items(), (BLUE, GREEN, ORANGE), strict=True)):
        known = [place for place, ratio in enumerate(ratios) if ratio is not None]
        places = row_places(len(rows), number, len(found))
        axes.plot(
            [ratios[place] for place in known],
            [places[place] for place in known],
            color=colour,
            marker=MARKERS[number],
            linestyle="none",
            label=label,
        )
    row_axis(axes, [row["graph"] for row in rows])
    axes.axvline(1, color="0.5", linewidth=1)
    axes.set_xlabel("speed-up over Tarjan's algorithm")
    log_axis(axes, "x")
    add_legend(figure, len(found))
    return figure


_SERIES = (
    Series("milliseconds", "li, as printed", "milliseconds", "li", BLUE),
    Series("tarjan", "Tarjan", "tarjan", "Tarjan", BLACK),
    Series("fbt", "fbt, as printed", "barnat", "Barnat's", VERMILION),
    Series("additions", "li with additions", None, None, GREEN),
)


def _run_time_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 5 or 6.

    Parameters
    ----------
    document : dict
        The document of `Times.document`.
    """
    return run_time_figure(document["rows"], _SERIES)


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

    answer_of = staticmethod(_depth_answer)
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


class _Case(NamedTuple):
    """A graph to measure, and what the paper says of it."""

    name: str
    graph: GraphSpec | GraphFile
    paper: Row | None
    stands_for: str | None = None
    """The paper's graph that it replaces."""


def _generated(vertices: Iterable[int], seed: int) -> Iterator[_Case]:
    """Yield the generated graphs of these sizes."""
    for (kind, degree), size in product(TABLE2, vertices):
        graph = GraphSpec(kind=kind, degree=degree, vertices=size, seed=seed)
        yield _Case(f"{kind}, {number_text(size)} vertices", graph, row_of(kind, degree, size))


_MILLION = 10**6
_PART = 100
"""Divisor of the sizes of quick graphs."""


@dataclass(frozen=True, kw_only=True)
class Times(Study):
    """Tables 1 and 2, for generated graphs and for graphs of the user's.

    The ``rows`` of its document have ``graph``, its name; ``kind``, ``degree``, ``vertices``, ``edges`` and
    ``components`` of the graph; ``stands_for``, the paper's graph that it replaces; ``milliseconds`` and ``counts`` of
    ``li`` as printed; ``additions``, ``fbt`` and ``tarjan``, the milliseconds of ``li`` with its additions, of ``fbt``
    as printed and of Tarjan's algorithm; ``speed_up`` of the first over the last; and in ``paper`` the published row,
    see `Row`.

    Parameters
    ----------
    figure : str
        Name of the table or figure.
    vertices : tuple of int
        Vertices of the generated graphs.
    graphs : sequence of Path
        Files of graphs; those whose names are in the paper are compared with it.
    device : str
        Device of ``li`` and ``fbt``; Tarjan's algorithm runs on the processor.
    threads : int
        Most processor threads of ``li`` and ``fbt``.
    seed : int
        Seed of the graphs.
    """

    figure: str
    vertices: tuple[int, ...] = ()
    graphs: Sequence[Path] = ()
    device: str
    threads: int

    answer_of = staticmethod(_time_answer)
    figure_of = staticmethod(_speed_up_figure)

    def cases(self) -> list[_Case]:
        """Return the graphs to measure.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        return [*_generated(self.vertices, self.seed), *self.given()]

    def given(self) -> Iterator[_Case]:
        """Yield the graphs of the files; raises the errors of `given_graphs`."""
        published = {row.name.lower(): row for row in REAL}
        return (_Case(*each) for each in given_graphs(self.graphs, published))

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        threads = self.threads if self.device == "cpu" else 1
        where: dict[str, Any] = {"threads": threads, "device": self.device}
        cases = self.cases()
        requests = [
            {
                "milliseconds": SoftwareRequest(
                    graph=case.graph, algorithm="li", options=AS_ITS_PAPER, counters=("depth", "edges"), **where
                ),
                "additions": SoftwareRequest(graph=case.graph, algorithm="li", **where),
                "fbt": SoftwareRequest(graph=case.graph, algorithm="fbt", options=AS_ITS_PAPER, **where),
                "tarjan": SoftwareRequest(graph=case.graph, algorithm="tarjan", threads=1),
            }
            for case in cases
        ]
        results = measurements.measure(request for own in requests for request in own.values())
        rows = []
        for case, own in zip(cases, requests, strict=True):
            printed = results[own["milliseconds"]]
            times = {name: 1e3 * results[request]["seconds"] for name, request in own.items()}
            rows.append(
                {
                    "graph": case.name,
                    "kind": case.graph.kind if isinstance(case.graph, GraphSpec) else None,
                    "degree": case.graph.degree if isinstance(case.graph, GraphSpec) else None,
                    **{name: printed[name] for name in ("vertices", "edges", "components")},
                    "stands_for": case.stands_for,
                    **times,
                    "counts": printed["counts"],
                    "speed_up": times["tarjan"] / times["milliseconds"],
                    "paper": None if case.paper is None else case.paper._asdict(),
                    "verified": printed["verified"],
                }
            )
        return {
            **self.head(self.figure),
            "processor": processor_name(),
            "cores": available_cores(),
            "device": self.device,
            "threads": threads,
            "rows": rows,
        }


class RunTimes(Times):
    """Figure 5: the run times of table 2 for generated graphs, as points."""

    figure_of = staticmethod(_run_time_figure)


@dataclass(frozen=True, kw_only=True)
class RealRunTimes(RunTimes):
    """Figure 6: the run times of table 2 for real graphs, as points. The other parameters are those of `Times`.

    Parameters
    ----------
    quick : bool
        Whether graphs that stand for others have a hundredth of their size.
    """

    quick: bool = False

    def cases(self) -> list[_Case]:
        """Return the graphs to measure: those given, and a G(n, m) graph for each of the paper's that is not.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        given = list(self.given())
        unit = _MILLION // _PART if self.quick else _MILLION
        known = [case.paper for case in given]
        for row in (row for row in REAL if row not in known):
            name, graph = replacement(
                row.name, vertices=round(row.vertices * unit), edges=round(row.edges * unit), seed=self.seed
            )
            given.append(_Case(name, graph, None if self.quick else row, row.name))
        return given
