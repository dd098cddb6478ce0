"""Table 2 of Wijs et al. 2014 for people: Markdown."""

from collections.abc import Iterable
from typing import Any

from host.results.table_text import markdown_table
from host.studies.wijs.mec_document import SERIES
from host.studies.wijs.models import sizes_text
from host.studies.wijs.published import BEST, CONFIGURATIONS, TABLE1, TABLE2
from host.words import place

__all__ = ["table2_markdown"]


def _models(rows: Iterable[dict[str, Any]]) -> str:
    head = ["model", "shape of", "states", "choices", "transitions", "components", "MECs", "states in MECs", "rounds"]
    names = ("states", "choices", "transitions", "components", "mecs", "in_mecs", "rounds")
    return markdown_table(
        head, [[row["model"], row["like"], *(f"{row[name]:,}" for name in names)] for row in rows], words=2
    )


def _times(rows: Iterable[dict[str, Any]]) -> str:
    """Return the seconds, and the quotients that do not depend on how fast a machine is."""
    head = ["model", "basic", "parallel", "speed-up", "basic / Tarjan", "parallel / fbt"]
    ours = [_row(row["model"], *(row["seconds"][name] for name in (*SERIES, *SERIES.values()))) for row in rows]
    best = list(CONFIGURATIONS).index(BEST)
    theirs = [
        _row(f"paper: {mecs.model}", mecs.basic, mecs.parallel, parts.tarjan, parts.fbt[best])
        for mecs, parts in zip(TABLE2, TABLE1, strict=True)
    ]
    return markdown_table(head, [*ours, *theirs])


def _row(name: str, basic: float, parallel: float, tarjan: float, fbt: float) -> list[str]:
    quotients = (basic / parallel, basic / tarjan, parallel / fbt)
    return [name, f"{basic:.3f}", f"{parallel:.3f}", *(f"{quotient:.2f}" for quotient in quotients)]


def _counts(rows: Iterable[dict[str, Any]]) -> str:
    cells = [[row["model"], *(f"{row['counts'][name]:,}" for name in ("passes", "edges"))] for row in rows]
    return markdown_table(["model", "passes", "edges"], cells)


def table2_markdown(document: dict[str, Any]) -> str:
    """Return the table as Markdown: the models, times here and in the paper, and what the parallel algorithm counts.

    Parameters
    ----------
    document : dict
        What `host.studies.wijs.mec_document.table2_document` returned.
    """
    rows = document["rows"]
    where = place(document["device"], document["threads"])
    return "\n".join(
        [
            "# Table 2 of Wijs et al. 2014: maximal end components\n\n"
            f"Seconds, the best of three runs. `basic` and Tarjan: one thread of {document['processor']};\n"
            f"`parallel` and `fbt`, as {BEST}: {where}.\n"
            "The models are of families of our own. The paper's are PRISM's, on an Intel E5-2620 at 2 GHz and an\n"
            "NVIDIA K20m. The last two columns divide by the time of one decomposition of the whole graph.\n",
            "## Models\n",
            _models(rows),
            "## Times\n",
            _times(rows),
            "## What the parallel algorithm did\n",
            _counts(rows),
            f"## Sizes\n\n{sizes_text(rows)}\n",
        ]
    )
