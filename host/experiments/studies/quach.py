"""Tables 1 and 2 of Quach, Abuzaid and Chen 2012: concurrent pivots beside Tarjan's algorithm."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.measurements import Measured, Request
from cyscc.host.experiments.sheets import Sheet, sheet_of
from cyscc.host.experiments.studies.charts import Line, draw_lines
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.run_times import RunTimes, run_time_figure
from cyscc.host.experiments.studies.study import Case, Point, grouped
from cyscc.host.output.figures import BLACK, BLUE, GREEN, ORANGE, VERMILION, new_figure
from cyscc.host.output.text import count_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NETWORKS", "Table1", "Table2"]

NETWORKS = printed("quach-table1", texts=("name", "files"))
"""Rows of table 1. The report says no more of the networks than this, and their sizes."""


def _table1_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 1: run times by network."""
    series = (
        ("quach", "quach, as printed", "quach", "CUDA", BLUE),
        ("tarjan", "tarjan", "tarjan", "C++", BLACK),
        ("additions", "quach with additions", "", "", GREEN),
    )
    return run_time_figure(document["rows"], series)


_COLOURS = (BLACK, ORANGE, GREEN, BLUE, VERMILION)


def _table2_figure(document: dict[str, Any]) -> "Figure":
    """Return the plot: a line for each number of vertices, with the paper's dashed."""
    figure = new_figure(width=7, height=4.5)
    axes, lines = figure.subplots(), []
    for colour, ((vertices,), rows) in zip(_COLOURS, grouped(document["rows"], "vertices").items(), strict=False):
        for name, looks, sides in (
            ("", {"linestyle": "-", "marker": "o"}, rows),
            (", paper", {"linestyle": "--", "marker": "s"}, [{**row, **row["paper"]} for row in rows]),
        ):
            known = [row for row in sides if row["ratio"] > 0]
            degrees, ratios = [row["edges"] / vertices for row in known], [row["ratio"] for row in known]
            looks = {"color": colour, "markersize": 4, **looks}
            lines.append(Line(f"n = {vertices:,}{name}", degrees, ratios, looks))
    texts = {"xlabel": "edges a vertex, m / n", "ylabel": "time of tarjan / time of quach"}
    draw_lines(axes, lines, one=True, log="xy", **texts, axisbelow=True)
    axes.grid(color="0.9")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


@dataclass(frozen=True, kw_only=True)
class _Table(RunTimes):
    """A table of times; see `RunTimes`. In ``paper``, rows have the published times, ratio and ``prune``.

    Parameters
    ----------
    pivots : int
        Number of concurrent pivots.
    """

    pivots: int

    main = "quach"
    ratio = "ratio"
    files: ClassVar[Mapping[str, Point]] = {name: row for row in NETWORKS for name in row["files"].split()}

    def sheet(self) -> Sheet:
        """Return how the answer is told."""
        return sheet_of("quach")

    def words(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return what stands for the words in braces in the texts of the sheet."""
        return {**super().words(document), "pivots_text": count_text(document["pivots"], "pivot")}

    def tables(self, document: dict[str, Any]) -> dict[str, list[Point]]:
        """Return the rows of the answer's tables, given the document."""
        return dict.fromkeys(("rows", "counts"), document["rows"])

    def case(
        self, name: str, graph: GraphSpec | GraphFile, paper: Point | None, *, stands_for: str | None = None
    ) -> Case:
        """Return the case of a graph, of which the paper may have a row."""
        told = paper and {name: paper[name] for name in ("tarjan", "quach", "ratio", "prune")}
        return super().case(name, graph, told, stands_for=stands_for)

    def head(self, results: Mapping[Request, Measured]) -> dict[str, Any]:
        """Return the fields of the document other than the points."""
        return {**super().head(results), "pivots": self.pivots}


class Table1(_Table):
    """Table 1 and figure 1, for graphs of the user's; G(n, m) graphs stand for networks that are not among them.

    The contenders are ``tarjan``, ``quach``, as printed, and ``additions``, which is ``quach`` with its additions.
    """

    figure_of = staticmethod(_table1_figure)

    def cases(self) -> Iterator[Case]:
        """Yield the graphs to measure."""
        return self.beside(NETWORKS)


@dataclass(frozen=True, kw_only=True)
class Table2(_Table):
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
