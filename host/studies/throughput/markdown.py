"""Figures 10 and 11 for people: Markdown."""

from typing import Any

from host.measuring.graphs import size_text
from host.results.table_text import markdown_table
from host.runs.execution import SOURCE_RULE
from host.studies.grouping import grouped
from host.studies.paper import ENGINES
from host.studies.sweep import left_out_text

__all__ = ["throughput_markdown"]

_KIND_TEXT = {"random": "uniform random", "rmat": "R-MAT"}


def throughput_markdown(document: dict[str, Any]) -> str:
    """Return the points as Markdown, a table for each configuration and degree.

    Parameters
    ----------
    document : dict
        What `host.studies.throughput.document.throughput_document` returned.
    """
    parts = [
        f"# {document['figure'].replace('fig', 'Figure ')}: breadth-first search of {_KIND_TEXT[document['kind']]} "
        "graphs\n\n"
        "GTEPS: 10⁹ traversed edges a simulated second. The paper's figures are table I's averages over 2^20 to 2^23\n"
        f"vertices. Memory `{document['memory']}`, clock {document['clock_hz'] / 1e6:g} MHz, seed {document['seed']}; "
        f"searches start at the\n{SOURCE_RULE}.\n{left_out_text(document)}"
    ]
    head = ["vertices"]
    for engines in ENGINES:
        head += [f"{engines} AE{'s' if engines > 1 else ''}", "paper"]
    head.append("Betkaoui")
    for (config, degree), group in grouped(document["points"], "config", "degree").items():
        rows = []
        for (vertices,), points in grouped(group, "vertices").items():
            row = [size_text(vertices)]
            for point in points:
                row += [f"{point['simulated']:.3f}", _known(point["paper"])]
            rows.append([*row, _known(points[0]["betkaoui"])])
        parts += [f"## `{config}`, degree {degree}\n", markdown_table(head, rows)]
    return "\n".join(parts)


def _known(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
