"""Table 2 of Quach, Abuzaid and Chen 2012: concurrent pivots against Tarjan's algorithm on G(n, m) graphs."""

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from host.measuring.graphs import GraphSpec
from host.measuring.measurements import Measurements
from host.measuring.setting import processor_name
from host.measuring.software import SoftwareRequest
from host.results.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, new_figure
from host.results.table_text import markdown_table
from host.results.version import version
from host.studies.points import grouped
from host.studies.reproduction import Report
from host.words import counted, place

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TABLE2", "table2_document", "table2_figure", "table2_markdown", "table2_report"]


class Row(NamedTuple):
    """A row of the table: a graph, and times in whole milliseconds, averages of five runs."""

    vertices: int
    edges: int
    tarjan: int
    """The text's C++ (ms)."""
    quach: int
    """Its "Parallelized CUDA", all in all (ms)."""
    ratio: float
    """As it is printed; the text divides times before they are rounded."""
    prune: int
    """Of the CUDA time the pruning (ms)."""


TABLE2 = (
    Row(100, 100, 0, 167, 0.00, 0),
    Row(100, 130, 3, 189, 0.02, 0),
    Row(100, 200, 1, 204, 0.00, 0),
    Row(1_000, 2_000, 8, 175, 0.05, 0),
    Row(10_000, 1_000, 131, 145, 0.90, 4),
    Row(10_000, 5_000, 152, 176, 0.86, 6),
    Row(10_000, 10_000, 150, 233, 0.64, 2),
    Row(10_000, 100_000, 22, 194, 0.11, 5),
    Row(10_000, 1_000_000, 32, 230, 0.14, 15),
    Row(100_000, 1_000, 1189, 197, 6.04, 9),
    Row(100_000, 5_000, 1225, 167, 7.34, 4),
    Row(100_000, 10_000, 932, 154, 6.05, 1),
    Row(100_000, 100_000, 1170, 280, 4.18, 44),
    Row(100_000, 1_000_000, 267, 512, 0.52, 14),
    Row(1_000_000, 1_000, 11694, 298, 39.24, 23),
    Row(1_000_000, 5_000, 10199, 246, 41.46, 18),
    Row(1_000_000, 10_000, 10218, 258, 39.60, 19),
    Row(1_000_000, 100_000, 8880, 345, 25.74, 43),
    Row(1_000_000, 1_000_000, 12589, 1300, 9.68, 510),
    Row(1_000_000, 2_000_000, 6504, 2948, 2.21, 243),
    Row(1_000_000, 3_000_000, 3926, 3240, 1.21, 153),
)
"""All rows."""


def table2_document(
    measurements: Measurements, *, most: int, pivots: int, device: str, threads: int, seed: int
) -> dict[str, Any]:
    """Measure the table's graphs, and return what was found.

    Each of ``rows`` has ``vertices``, ``edges``; ``tarjan`` and ``quach`` (milliseconds), ``ratio`` (the first by the
    second); ``counts`` of the second; ``paper``: the same times, the ratio, and ``prune`` as printed.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    most : int
        Vertices of the largest graphs.
    pivots : int
        Pivots at a time.
    device : str
        Where the searches run; Tarjan's algorithm runs on the processor.
    threads : int
        Threads of the processor that they may use; Tarjan's algorithm uses one.
    seed : int
        Seed of the graphs.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    used = threads if device == "cpu" else 1
    requests = {}
    for row in TABLE2:
        if row.vertices > most:
            continue
        graph = GraphSpec(kind="gnm", vertices=row.vertices, exact_edges=row.edges, seed=seed)
        requests[row] = (
            SoftwareRequest(graph=graph, algorithm="tarjan", threads=1),
            SoftwareRequest(graph=graph, algorithm="quach", threads=used, device=device, options=(("pivots", pivots),)),
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
        "device": device,
        "threads": used,
        "pivots": pivots,
        "seed": seed,
        "rows": rows,
    }


def table2_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown: times and ratios beside the text's, then what was counted.

    Parameters
    ----------
    document : dict
        What `table2_document` returned.
    """
    where = place(document["device"], document["threads"])
    head = (
        "# Table 2 of Quach et al. 2012: concurrent pivots against Tarjan's algorithm\n\n"
        f"G(n, m) graphs, seed {document['seed']}. {document['processor']}; `quach` on {where}, "
        f"{counted(document['pivots'], 'pivot')} at a time, `tarjan` on 1 thread; best of three runs.\n"
        "The text's: Core 2 Duo E6850 and GeForce GTX 560 Ti, averages of five runs; its time has what the device "
        "takes to start.\n"
    )
    times = [
        [
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            f"{row['tarjan']:.2f}",
            f"{row['quach']:.2f}",
            f"{row['ratio']:.2f}",
            f"{row['paper']['tarjan']:,}",
            f"{row['paper']['quach']:,}",
            f"{row['paper']['ratio']:.2f}",
        ]
        for row in document["rows"]
    ]
    names = {
        "prune_rounds": "rounds of pruning",
        "pruned": "pruned",
        "levels": "levels",
        "components_searched": "found by searches",
        "pivots_wasted": "pivots wasted",
        "edges_pruning": "edges, pruning",
        "edges": "edges",
        "edges_by_pivot": "edges, by pivot",
    }
    counts = [
        [
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            *(f"{row['counts'][name]:,}" for name in names),
            f"{row['paper']['prune']:,}",
        ]
        for row in document["rows"]
    ]
    return "\n".join(
        [
            head,
            "Milliseconds; the ratio is the time of `tarjan` by that of `quach`.\n",
            markdown_table(
                ["n", "m", "tarjan", "quach", "ratio", "text: C++", "text: CUDA", "text: ratio"], times, words=0
            ),
            "What was counted, and the text's time of pruning.\n",
            markdown_table(["n", "m", *names.values(), "text: prune (ms)"], counts, words=0),
        ]
    )


_COLOURS = (BLACK, ORANGE, GREEN, BLUE, VERMILION)


def table2_figure(document: dict[str, Any]) -> "Figure":
    """Return the plot: a line for each number of vertices, and the text's dashed.

    Parameters
    ----------
    document : dict
        What `table2_document` returned.
    """
    figure = new_figure(width=7, height=4.5)
    axes = figure.subplots()
    for colour, ((vertices,), rows) in zip(_COLOURS, grouped(document["rows"], "vertices").items(), strict=False):
        degrees = [row["edges"] / vertices for row in rows]
        for name, style, ratios in (
            ("", "-", [row["ratio"] for row in rows]),
            (", text", "--", [row["paper"]["ratio"] for row in rows]),
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
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("edges a vertex, m / n")
    axes.set_ylabel("time of tarjan / time of quach")
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


def table2_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the table that options ask for, and return it."""
    how = {name: getattr(arguments, name) for name in ("most", "pivots", "device", "threads", "seed")}
    document = table2_document(measurements, **how)
    return Report(document=document, markdown=table2_markdown(document), figure=table2_figure(document))
