"""Tables 1 and 2 of Quach, Abuzaid and Chen 2012: concurrent pivots beside Tarjan's algorithm."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.measurements import Measurements
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.run_times import REPLACED, Series, given_graphs, replacement, run_time_figure
from cyscc.host.experiments.studies.study import AS_ITS_PAPER, Columns, Point, Study, grouped, table
from cyscc.host.output.figures import BLACK, BLUE, GREEN, ORANGE, VERMILION, log_axis, new_figure
from cyscc.host.output.files import version
from cyscc.host.output.text import count_text, device_text
from cyscc.host.runs.environment import processor_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TABLE1", "TABLE2", "Table1", "Table2"]


class _Row(NamedTuple):
    """A row of the table: a graph, and times in whole milliseconds, each the mean of five runs."""

    vertices: int
    edges: int
    tarjan: int
    """Time of the paper's C++ program (ms)."""
    quach: int
    """Total time of the paper's "Parallelized CUDA" (ms)."""
    ratio: float
    """Ratio as printed; the paper computed it before rounding the times."""
    prune: int
    """Part of the CUDA time for pruning (ms)."""


TABLE1 = {
    "collaboration": _Row(5_242, 28_920, 837, 766, 1.09, 0),
    "e-mail": _Row(85_591, 156_217, 3049, 1575, 1.94, 23),
    "Internet": _Row(10_670, 22_003, 175, 187, 0.94, 14),
}
"""Rows of table 1 by network. The report says no more of them than this, and their sizes."""

_FILES = {
    "collaboration": "collaboration",
    "ca-grqc": "collaboration",
    "email": "e-mail",
    "internet": "Internet",
    "oregon1_010331": "Internet",
}
"""Networks by names of files; those of the Stanford Large Network Dataset Collection have about these sizes."""

TABLE2 = (
    _Row(100, 100, 0, 167, 0.00, 0),
    _Row(100, 130, 3, 189, 0.02, 0),
    _Row(100, 200, 1, 204, 0.00, 0),
    _Row(1_000, 2_000, 8, 175, 0.05, 0),
    _Row(10_000, 1_000, 131, 145, 0.90, 4),
    _Row(10_000, 5_000, 152, 176, 0.86, 6),
    _Row(10_000, 10_000, 150, 233, 0.64, 2),
    _Row(10_000, 100_000, 22, 194, 0.11, 5),
    _Row(10_000, 1_000_000, 32, 230, 0.14, 15),
    _Row(100_000, 1_000, 1189, 197, 6.04, 9),
    _Row(100_000, 5_000, 1225, 167, 7.34, 4),
    _Row(100_000, 10_000, 932, 154, 6.05, 1),
    _Row(100_000, 100_000, 1170, 280, 4.18, 44),
    _Row(100_000, 1_000_000, 267, 512, 0.52, 14),
    _Row(1_000_000, 1_000, 11694, 298, 39.24, 23),
    _Row(1_000_000, 5_000, 10199, 246, 41.46, 18),
    _Row(1_000_000, 10_000, 10218, 258, 39.60, 19),
    _Row(1_000_000, 100_000, 8880, 345, 25.74, 43),
    _Row(1_000_000, 1_000_000, 12589, 1300, 9.68, 510),
    _Row(1_000_000, 2_000_000, 6504, 2948, 2.21, 243),
    _Row(1_000_000, 3_000_000, 3926, 3240, 1.21, 153),
)
"""Rows of table 2."""


_COUNTERS = {
    "prune_rounds": "rounds of pruning",
    "pruned": "pruned",
    "levels": "levels",
    "components_searched": "found by searches",
    "pivots_wasted": "pivots wasted",
    "edges_pruning": "edges, pruning",
    "edges": "edges",
    "edges_by_pivot": "edges, by pivot",
}
"""The counters of ``quach`` that are shown, and their titles."""

_TIMES: Columns = {
    "graph": Column("network"),
    "vertices": Column("n", "{:,}"),
    "edges": Column("m", "{:,}"),
    "components": "{:,}",
    "tarjan": "{:.2f}",
    "quach": Column("quach, as printed", "{:.2f}"),
    "ratio": "{:.2f}",
    "additions": Column("with additions", "{:.2f}"),
    "paper.tarjan": Column("text: C++", "{:,.0f}"),
    "paper.quach": Column("text: CUDA", "{:,.0f}"),
    "paper.ratio": Column("text: ratio", "{:.2f}"),
}
_COUNTS: Columns = {
    **{name: _TIMES[name] for name in ("graph", "vertices", "edges")},
    **{f"counts.{name}": Column(title, "{:,}") for name, title in _COUNTERS.items()},
    "paper.prune": Column("text: prune (ms)", "{:,.0f}"),
}


def _answer(document: dict[str, Any]) -> Answer:
    """Return times and ratios beside the paper's, and the counters.

    Parameters
    ----------
    document : dict
        The document of `Table1.document` or `Table2.document`.
    """
    rows = document["rows"]
    where = device_text(document["device"], document["threads"])
    return Answer(
        title=_TITLES[document["figure"]],
        facts={
            "tarjan": f"one thread of {document['processor']}",
            "quach": f"{where}, {count_text(document['pivots'], 'pivot')} at a time",
            "the text's": "Core 2 Duo E6850 and GeForce GTX 560 Ti",
            "G(n, m) graphs": f"seed {document['seed']}",
        },
        said=[
            "Times are the best of three runs, those of the text averages of five, with what the device takes to "
            "start. The ratio is the time of tarjan by that of quach as printed.",
            *([REPLACED] if any(row.get("stands_for") for row in rows) else []),
        ],
        tables={
            "rows": table("milliseconds", rows, _TIMES),
            "counts": table("what quach as printed counted, and the text's time of pruning", rows, _COUNTS),
        },
    )


_TITLES = {
    "quach-table1": "Table 1 of Quach et al. 2012: real networks",
    "quach-table2": "Table 2 of Quach et al. 2012: concurrent pivots against Tarjan's algorithm",
}

_SERIES = (
    Series("quach", "quach, as printed", "quach", "CUDA", BLUE),
    Series("tarjan", "tarjan", "tarjan", "C++", BLACK),
    Series("additions", "quach with additions", None, None, GREEN),
)


def _table1_figure(document: dict[str, Any]) -> "Figure":
    """Return figure 1: run times by network.

    Parameters
    ----------
    document : dict
        The document of `Table1.document`.
    """
    return run_time_figure(document["rows"], _SERIES)


_COLOURS = (BLACK, ORANGE, GREEN, BLUE, VERMILION)


def _table2_figure(document: dict[str, Any]) -> "Figure":
    """Return the plot: a line for each number of vertices, with the paper's dashed.

    Parameters
    ----------
    document : dict
        The document of `Table2.document`.
    """
    figure = new_figure(width=7, height=4.5)
    axes = figure.subplots()
    for colour, ((vertices,), rows) in zip(_COLOURS, grouped(document["rows"], "vertices").items(), strict=False):
        degrees = [row["edges"] / vertices for row in rows]
        for name, style, ratios in (
            ("", "-", [row["ratio"] for row in rows]),
            (", paper", "--", [row["paper"]["ratio"] for row in rows]),
        ):
            shown = [(degree, ratio) for degree, ratio in zip(degrees, ratios, strict=True) if ratio > 0]
            axes.plot(
                [degree for degree, _ in shown],
                [ratio for _, ratio in shown],
                color=colour,
                linestyle=style,
                marker="o" if style == "-" else "s",
                markersize=4,
                label=f"n = {vertices:,}{name}",
            )
    axes.axhline(1, color="0.5", linewidth=1)
    axes.set(xlabel="edges a vertex, m / n", ylabel="time of tarjan / time of quach", axisbelow=True)
    log_axis(axes, "x")
    log_axis(axes, "y")
    axes.grid(color="0.9")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


@dataclass(frozen=True, kw_only=True)
class _Table(Study):
    """A table of times.

    Parameters
    ----------
    pivots : int
        Number of concurrent pivots.
    device : str
        Device of the searches; Tarjan's algorithm runs on the processor.
    threads : int
        Most processor threads of the searches; Tarjan's algorithm uses one.
    seed : int
        Seed of the graphs.
    """

    pivots: int
    device: str
    threads: int

    answer_of = staticmethod(_answer)

    def requests(self, graph: GraphSpec | GraphFile) -> dict[str, SoftwareRequest]:
        """Return the measurements of a graph, by field of its row."""
        how: dict[str, Any] = {"threads": self._used_threads, "device": self.device}
        pivots = ("pivots", self.pivots)
        return {
            "tarjan": SoftwareRequest(graph=graph, algorithm="tarjan", threads=1),
            "quach": SoftwareRequest(
                graph=graph,
                algorithm="quach",
                options=(pivots, *AS_ITS_PAPER),
                counters=tuple(_COUNTERS),
                **how,
            ),
        }

    @property
    def _used_threads(self) -> int:
        return self.threads if self.device == "cpu" else 1

    def described(self, figure: str, rows: list[Point]) -> dict[str, Any]:
        """Return the document."""
        return {
            "figure": figure,
            "version": version(),
            "processor": processor_name(),
            "device": self.device,
            "threads": self._used_threads,
            "pivots": self.pivots,
            "seed": self.seed,
            "rows": rows,
        }


@dataclass(frozen=True, kw_only=True)
class Table1(_Table):
    """Table 1 and figure 1, for graphs of the user's. The other parameters are those of all tables.

    The ``rows`` of its document have ``graph``, its name; ``vertices``, ``edges`` and ``components``; ``stands_for``,
    the report's network that it replaces; ``tarjan``, ``quach`` and ``additions`` (milliseconds; ``quach`` as printed,
    and with its additions); ``ratio``, the first over the second; ``counts`` of the second; and in ``paper`` the
    published times, ratio and ``prune``.

    Parameters
    ----------
    graphs : sequence of Path
        Files of graphs. A G(n, m) graph replaces each of the report's networks that is not among them.
    """

    graphs: Sequence[Path] = ()

    figure_of = staticmethod(_table1_figure)

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        known = {file: TABLE1[network] for file, network in _FILES.items()}
        cases: list[tuple[str, GraphSpec | GraphFile, _Row | None, str | None]] = [
            (*each, None) for each in given_graphs(self.graphs, known)
        ]
        given = [row for _, _, row, _ in cases]
        for network, row in TABLE1.items():
            if row not in given:
                named = replacement(network, vertices=row.vertices, edges=row.edges, seed=self.seed)
                cases.append((*named, row, network))
        requests = [self.requests(graph) for _, graph, _, _ in cases]
        results = measurements.measure(request for own in requests for request in own.values())
        rows = []
        for (name, _, published, stands_for), own in zip(cases, requests, strict=True):
            quach = results[own["quach"]]
            times = {field: 1e3 * results[request]["seconds"] for field, request in own.items()}
            rows.append(
                {
                    "graph": name,
                    **{field: quach[field] for field in ("vertices", "edges", "components")},
                    "stands_for": stands_for,
                    **times,
                    "ratio": times["tarjan"] / times["quach"],
                    "counts": quach["counts"],
                    "paper": None if published is None else _published(published),
                }
            )
        return self.described("quach-table1", rows)

    def requests(self, graph: GraphSpec | GraphFile) -> dict[str, SoftwareRequest]:
        """Return the measurements of a graph, by field of its row."""
        requests = super().requests(graph)
        pivots = (("pivots", self.pivots),)
        return {**requests, "additions": replace(requests["quach"], options=pivots, counters=())}


def _published(row: _Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("tarjan", "quach", "ratio", "prune")}


@dataclass(frozen=True, kw_only=True)
class Table2(_Table):
    """Table 2, for its graphs. The other parameters are those of all tables.

    The ``rows`` of its document have ``vertices``, ``edges``; ``tarjan`` and ``quach`` (milliseconds); ``ratio``, the
    first over the second; ``counts`` of the second; and in ``paper`` the published times, ratio and ``prune``.

    Parameters
    ----------
    most : int
        Number of vertices of the largest graphs.
    """

    most: int = 1_000_000

    figure_of = staticmethod(_table2_figure)

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        requests = {}
        for row in (row for row in TABLE2 if row.vertices <= self.most):
            graph = GraphSpec(kind="gnm", vertices=row.vertices, exact_edges=row.edges, seed=self.seed)
            requests[row] = self.requests(graph)
        results = measurements.measure(request for own in requests.values() for request in own.values())
        rows = []
        for row, own in requests.items():
            times = {field: 1e3 * results[request]["seconds"] for field, request in own.items()}
            rows.append(
                {
                    "vertices": row.vertices,
                    "edges": row.edges,
                    **times,
                    "ratio": times["tarjan"] / times["quach"],
                    "counts": results[own["quach"]]["counts"],
                    "paper": _published(row),
                }
            )
        return self.described("quach-table2", rows)
