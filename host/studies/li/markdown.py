"""Figures 2 and 3 and table 2 of Li et al. for people: Markdown."""

from typing import Any

from host.measuring.graphs import size_text
from host.results.table_text import markdown_table
from host.studies.points import grouped
from host.words import counted

__all__ = ["depth_markdown", "time_markdown"]

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
        What `host.studies.li.depths.figure2_document` or `figure3_document` returned.
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
        What `host.studies.li.times.table2_document` returned.
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
