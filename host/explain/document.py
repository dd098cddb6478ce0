"""Explanations for programs: documents."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from host.explain.comparison import Comparison
from host.explain.evidence import Evidence
from host.explain.stacks import stacks
from host.explain.verdict import findings_of
from host.explain.view import CAUSE_NAMES, View
from host.results.version import identity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["comparison_document", "explanation_document"]


def _run(view: View) -> dict[str, Any]:
    document = view.record.document
    return {
        "record": str(view.record.folder),
        "command": document["command"],
        "run": document["run"],
        "machine": document["machine"],
        "cycles": document["cycles"],
    }


def _records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows, with the causes of each apart."""
    rows: list[dict[str, Any]] = frame.drop(columns=CAUSE_NAMES).to_dict("records")
    causes = frame[CAUSE_NAMES].round(3).to_dict("records")
    return [{**row, "causes": by_cause} for row, by_cause in zip(rows, causes, strict=True)]


def explanation_document(view: View, rows: "pd.DataFrame", by: str, *, banks: int) -> dict[str, Any]:
    """Return what one record says.

    Parameters
    ----------
    view : View
        The record.
    rows : pandas.DataFrame
        The instructions that count.
    by : str
        What the stacks are of, see `host.explain.stacks.STACKED`.
    banks : int
        Number of the hottest banks that are listed for each module.
    """
    modules = {}
    for module, its in rows.groupby("module", sort=False):
        evidence = Evidence(view, its)
        modules[str(module)] = {
            "instructions": len(its),
            "cycles": evidence.cycles,
            "causes": {name: round(cycles, 3) for name, cycles in evidence.stack.items()},
            "banks": [asdict(bank) for bank in evidence.hottest(banks)],
            "links": None if evidence.links is None else asdict(evidence.links),
            "fifos": [{**asdict(fifo), "proposed": fifo.proposed} for fifo in evidence.fifos],
            "latency": None if evidence.latency is None else asdict(evidence.latency),
        }
    return {
        **identity(),
        **_run(view),
        "modules": modules,
        "by": by,
        "stacks": _records(stacks(view, rows, by)),
        "findings": [asdict(finding) for finding in findings_of(view, rows)],
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return what two records say together."""
    return {
        **identity(),
        "first": _run(comparison.first),
        "second": _run(comparison.second),
        "same_graph": comparison.same_graph,
        "settings": {name: list(values) for name, values in comparison.settings.items()},
        "difference": comparison.difference,
        "causes": {name: round(cycles, 3) for name, cycles in comparison.causes.items()},
        "phases": _records(comparison.phases),
        "levels": _records(comparison.levels),
    }
