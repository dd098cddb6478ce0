"""Table 1 of Wijs et al. 2014 for people: Markdown."""

from collections.abc import Iterable
from typing import Any

from host.results.table_text import markdown_table
from host.studies.wijs.document import TARJAN
from host.studies.wijs.models import sizes_text
from host.studies.wijs.published import CONFIGURATIONS, TABLE1
from host.words import place

__all__ = ["table1_markdown"]

_COUNTS = ("rounds", "pivots", "trimming_rounds", "search_iterations", "passes", "edges")


def _times(rows: Iterable[dict[str, Any]]) -> str:
    head = ["model", "\\|V\\|", "\\|E\\|", "out", "components", "Tarjan", *CONFIGURATIONS]
    cells = [
        [
            row["model"],
            f"{row['vertices']:,}",
            f"{row['edges']:,}",
            f"{row['degree']:.2f}",
            f"{row['components']:,}",
            *(f"{row['seconds'][name]:.3f}" for name in (TARJAN, *CONFIGURATIONS)),
        ]
        for row in rows
    ]
    return markdown_table(head, cells)


def _published() -> str:
    head = ["model", "\\|V\\|", "\\|E\\|", "out", "components", "Tarjan", *CONFIGURATIONS]
    rows = [
        [
            row.model,
            f"{row.states:.1f}M",
            f"{row.transitions:.1f}M",
            f"{row.degree:.2f}",
            row.components,
            f"{row.tarjan:.2f}",
            *(f"{seconds:.2f}" for seconds in row.fbt),
        ]
        for row in TABLE1
    ]
    return markdown_table(head, rows)


def _speed_ups(rows: Iterable[dict[str, Any]]) -> str:
    head = ["model", "shape of", *CONFIGURATIONS]
    ours = [
        [
            row["model"],
            row["like"],
            *(f"{row['seconds'][TARJAN] / row['seconds'][name]:.2f}" for name in CONFIGURATIONS),
        ]
        for row in rows
    ]
    theirs = [[f"paper: {row.model}", "", *(f"{row.tarjan / seconds:.2f}" for seconds in row.fbt)] for row in TABLE1]
    return markdown_table(head, [*ours, *theirs], words=2)


def _counts(rows: Iterable[dict[str, Any]]) -> str:
    head = ["model", "configuration", *(name.replace("_", " ") for name in _COUNTS)]
    cells = [
        [row["model"], name, *(f"{counts[each]:,}" for each in _COUNTS)]
        for row in rows
        for name, counts in row["counts"].items()
    ]
    return markdown_table(head, cells, words=2)


def table1_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown: times, the paper's, both as speed-ups over Tarjan, and what ``fbt`` counts.

    Parameters
    ----------
    document : dict
        What `host.studies.wijs.document.table1_document` returned.
    """
    rows = document["rows"]
    where = place(document["device"], document["threads"])
    return "\n".join(
        [
            "# Table 1 of Wijs et al. 2014: components of graphs of models\n\n"
            f"Seconds, the best of three runs. Tarjan: one thread of {document['processor']}; `fbt`: {where}.\n"
            "The models are of families of our own. The paper's are PRISM's, on an Intel E5-2620 at 2 GHz and an\n"
            "NVIDIA K20m.\n",
            "## Here\n",
            _times(rows),
            "## In the paper\n",
            _published(),
            "## Speed-up over Tarjan\n",
            _speed_ups(rows),
            "## What was done\n",
            _counts(rows),
            f"## The models\n\n{sizes_text(rows)}\n",
        ]
    )
