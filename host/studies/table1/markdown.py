"""Table I for people: Markdown."""

from collections.abc import Sequence
from typing import Any

from host.measuring.graphs import size_text
from host.measuring.machines import CAUSES
from host.results.table_text import markdown_table
from host.runs.execution import SOURCE_RULE
from host.studies.grouping import Point, grouped
from host.studies.paper import ENGINES, KINDS
from host.studies.table1.document import errors

__all__ = ["table1_markdown"]

_KIND_TEXT = {"random": "random", "rmat": "R-MAT"}


def _throughput(group: Sequence[Point]) -> str:
    head = ["degree"]
    for kind in KINDS:
        for engines in ENGINES:
            name = f"{_KIND_TEXT[kind]} {engines} AE{'s' if engines > 1 else ''}"
            head += [f"{name}: paper", "simulated", "ratio"]
    head += [f"{_KIND_TEXT[kind]}: Betkaoui" for kind in KINDS]
    rows = []
    for (degree,), cells in grouped(group, "degree").items():
        row = [str(degree)]
        for cell in cells:
            row += [f"{cell['paper']:.3f}", f"{cell['simulated']:.3f}", f"{cell['ratio']:.3f}"]
        row += [f"{cell['betkaoui']:.3f}" for cell in cells if cell["engines"] == ENGINES[0]]
        rows.append(row)
    return markdown_table(head, rows)


def _causes(group: Sequence[Point]) -> str:
    head = ["graph", "degree", "AEs", *CAUSES]
    rows = [
        [
            _KIND_TEXT[cell["kind"]],
            str(cell["degree"]),
            str(cell["engines"]),
            *(f"{cell['shares'][cause]:.1%}" for cause in CAUSES),
        ]
        for cell in group
    ]
    return markdown_table(head, rows)


def _errors(group: Sequence[Point]) -> str:
    found = errors(group)
    rows = [
        [name, f"{each['mean_percent']:.2f} %", f"{each['largest_percent']:.2f} %"]
        for name, each in (("all", found), *((_KIND_TEXT[kind], found[kind]) for kind in KINDS))
    ]
    return markdown_table(["difference from the paper", "mean", "largest"], rows)


def _presets(group: Sequence[Point]) -> str:
    return ", ".join(f"`{preset}`" for preset in dict.fromkeys(cell["preset"] for cell in group))


def table1_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown.

    For each configuration and number of vertices, the means over several of them first: throughput of paper and
    simulation, shares of the kernels' cycles by cause, and the difference from the paper.

    Parameters
    ----------
    document : dict
        What `host.studies.table1.document.table1_document` returned.
    """
    found = document["cells"]
    sizes = list(dict.fromkeys(cell["vertices"] for cell in found))
    parts = [
        "# Table I: breadth-first search\n\n"
        "GTEPS: 10⁹ traversed edges a simulated second. The paper's figures, also those of Betkaoui et al. (four\n"
        "FPGAs), are averages over 2^20 to 2^23 vertices.\n"
        f"Memory `{document['memory']}`, clock {document['clock_hz'] / 1e6:g} MHz, seed {document['seed']}; "
        f"searches start at the {SOURCE_RULE}.\n"
    ]
    for config in document["errors"]:
        groups = [(f"mean of {', '.join(map(size_text, sizes))} vertices", document.get("averages", []))]
        groups += [
            (f"{size_text(size)} vertices", [cell for cell in found if cell["vertices"] == size]) for size in sizes
        ]
        for name, cells in groups:
            group = [cell for cell in cells if cell["config"] == config]
            if group:
                parts += [f"## `{config}`, {name}\n", f"Presets: {_presets(group)}.\n", _throughput(group)]
                parts += ["Share of the BFS kernels' cycles by cause:\n", _causes(group), _errors(group)]
    return "\n".join(parts)
