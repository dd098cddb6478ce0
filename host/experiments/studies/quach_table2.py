"""Table 2 of Quach, Abuzaid and Chen 2012: concurrent pivots compared with Tarjan's algorithm on G(n, m) graphs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.measurements import Measurements
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.study import AS_ITS_PAPER, Study, grouped
from cyscc.host.output.figures import BLACK, BLUE, GREEN, ORANGE, VERMILION, new_figure
from cyscc.host.output.files import version
from cyscc.host.output.text import column_table, count_text, device_text
from cyscc.host.runs.environment import processor_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TABLE2", "Table2"]


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
"""The rows of the table."""


_SIZE = (("n", "{vertices:,}"), ("m", "{edges:,}"))
_TIMES = (
    *_SIZE,
    ("tarjan", "{tarjan:.2f}"),
    ("quach", "{quach:.2f}"),
    ("ratio", "{ratio:.2f}"),
    ("text: C++", "{paper[tarjan]:,}"),
    ("text: CUDA", "{paper[quach]:,}"),
    ("text: ratio", "{paper[ratio]:.2f}"),
)
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

_COUNTS = (
    *_SIZE,
    *((title, f"{{counts[{name}]:,}}") for name, title in _COUNTERS.items()),
    ("text: prune (ms)", "{paper[prune]:,}"),
)


def _table2_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown: times and ratios beside the paper's, then the counters.

    Parameters
    ----------
    document : dict
        The document of `Table2.document`.
    """
    where = device_text(document["device"], document["threads"])
    return "\n".join(
        [
            "# Table 2 of Quach et al. 2012: concurrent pivots against Tarjan's algorithm\n\n"
            f"G(n, m) graphs, seed {document['seed']}. {document['processor']}; `quach` on {where}, "
            f"{count_text(document['pivots'], 'pivot')} at a time, `tarjan` on 1 thread; best of three runs.\n"
            "The text's: Core 2 Duo E6850 and GeForce GTX 560 Ti, averages of five runs; its time has what the device "
            "takes to start.\n",
            "Milliseconds; the ratio is the time of `tarjan` by that of `quach`.\n",
            column_table(_TIMES, document["rows"], words=0),
            "What was counted, and the text's time of pruning.\n",
            column_table(_COUNTS, document["rows"], words=0),
        ]
    )


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
    axes.set(xscale="log", yscale="log", xlabel="edges a vertex, m / n", ylabel="time of tarjan / time of quach")
    axes.set_axisbelow(True)
    axes.grid(color="0.9")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


@dataclass(frozen=True, kw_only=True)
class Table2(Study):
    """Table 2, for its graphs.

    The ``rows`` of its document have ``vertices``, ``edges``; ``tarjan`` and ``quach`` (milliseconds); ``ratio``, the
    first over the second; ``counts`` of the second; and in ``paper`` the published times, ratio and ``prune``.

    Parameters
    ----------
    most : int
        Number of vertices of the largest graphs.
    pivots : int
        Number of concurrent pivots.
    device : str
        Device of the searches; Tarjan's algorithm runs on the processor.
    threads : int
        Most processor threads of the searches; Tarjan's algorithm uses one.
    seed : int
        Seed of the graphs.
    """

    most: int
    pivots: int
    device: str
    threads: int

    markdown = staticmethod(_table2_markdown)
    figure_of = staticmethod(_table2_figure)

    def document(self, measurements: Measurements) -> dict[str, Any]:
        """Perform the measurements, and return the study's JSON document."""
        threads = self.threads if self.device == "cpu" else 1
        how: dict[str, Any] = {
            "threads": threads,
            "device": self.device,
            "options": (("pivots", self.pivots), *AS_ITS_PAPER),
        }
        requests = {}
        for row in (row for row in TABLE2 if row.vertices <= self.most):
            graph = GraphSpec(kind="gnm", vertices=row.vertices, exact_edges=row.edges, seed=self.seed)
            requests[row] = (
                SoftwareRequest(graph=graph, algorithm="tarjan", threads=1),
                SoftwareRequest(graph=graph, algorithm="quach", counters=tuple(_COUNTERS), **how),
            )
        results = measurements.measure(request for pair in requests.values() for request in pair)
        rows = []
        for row, (tarjan, quach) in requests.items():
            base, time = (1e3 * results[request]["seconds"] for request in (tarjan, quach))
            rows.append(
                {
                    "vertices": row.vertices,
                    "edges": row.edges,
                    "tarjan": base,
                    "quach": time,
                    "ratio": base / time,
                    "counts": results[quach]["counts"],
                    "paper": {"tarjan": row.tarjan, "quach": row.quach, "ratio": row.ratio, "prune": row.prune},
                }
            )
        return {
            "figure": "quach-table2",
            "version": version(),
            "processor": processor_name(),
            "device": self.device,
            "threads": threads,
            "pivots": self.pivots,
            "seed": self.seed,
            "rows": rows,
        }
