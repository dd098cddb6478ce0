"""Table 2 of Wijs, Katoen and Bošnački 2014: maximal end components by the basic and by the parallel algorithm."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from host.measuring.graphs import ModelSpec
from host.measuring.measurements import Measurements
from host.measuring.requests import Measured, Request
from host.measuring.software import MecRequest, SoftwareRequest
from host.options import UsageError
from host.results.table_text import markdown_table
from host.studies.reproduction import Report
from host.studies.wijs import BEST, CONFIGURATIONS, MODELS, TABLE1, Chosen, how_asked, models_document, sizes_text
from host.words import place

__all__ = ["TABLE2", "table2_document", "table2_markdown", "table2_report"]

TABLE2 = (
    *((32.33, 21.46), (51.22, 0.73), (140.85, 1.80), (203.50, 36.70), (239.80, 7.48)),
    *((281.32, 3.45), (363.07, 12.63), (302.66, 3.83), (390.05, 6.23), (470.96, 6.90)),
)
"""Rows of table 2, the models of table 1: seconds of the basic algorithm with Tarjan's on the processor (BM), and of
the parallel one on the graphics processor (GM)."""

SERIES = {"basic": "tarjan", "parallel": "fbt"}
"""The algorithms, and what finds the components of their rounds; that alone is measured too, on the whole graph."""


def table2_document(measurements: Measurements, models: Sequence[Chosen], *, seed: int, **how: Any) -> dict[str, Any]:
    """Measure the table, and return it as a JSON document.

    Parameters and errors are those of `host.studies.wijs.table1_document`.

    Returns
    -------
    dict
        ``rows``: ``model``, ``family``, ``sizes``, ``like`` (the paper's models of that shape), ``states``,
        ``choices``, ``transitions``, ``components``, ``mecs``, ``in_mecs`` (states), ``rounds``, ``seconds`` by series
        (``basic``, ``parallel``, and ``tarjan`` and ``fbt``, which decompose the whole graph once), and ``counts`` of
        ``parallel``; and what was run.
    """
    options = tuple(CONFIGURATIONS[BEST].items())

    def asked(model: ModelSpec, where: dict[str, Any]) -> dict[str, Request]:
        return {
            "basic": MecRequest(model=model, algorithm="basic", threads=1),
            "parallel": MecRequest(model=model, algorithm="parallel", options=options, **where),
            "tarjan": SoftwareRequest(graph=model, algorithm="tarjan", threads=1),
            "fbt": SoftwareRequest(graph=model, algorithm="fbt", seed=seed, options=options, **where),
        }

    def shown(found: dict[str, Measured]) -> tuple[dict[str, Any], Any]:
        sizes = {name: found["basic"][name] for name in ("states", "choices", "transitions", "mecs", "in_mecs")}
        sizes |= {"components": found["tarjan"]["components"], "rounds": len(found["basic"]["rounds"])}
        return sizes, found["parallel"]["counts"]

    return models_document(measurements, "wijs-table2", models, asked, shown, seed=seed, **how)


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
        _row(f"paper: {row.model}", *mecs, row.tarjan, row.fbt[best]) for mecs, row in zip(TABLE2, TABLE1, strict=True)
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
        What `table2_document` returned.
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


def table2_report(measurements: Measurements, arguments: argparse.Namespace) -> Report:
    """Measure the table that options ask for, and return it.

    Raises
    ------
    UsageError
        There is no such model.
    """
    known = {chosen.name: chosen for chosen in MODELS}
    names = arguments.models or tuple(known)
    for name in names:
        if name not in known:
            raise UsageError(f"--models: unknown model {name!r}: there are {', '.join(known)}")
    document = table2_document(measurements, [known[name] for name in dict.fromkeys(names)], **how_asked(arguments))
    return Report(document=document, markdown=table2_markdown(document))
