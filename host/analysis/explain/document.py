"""Explanations for programs: documents."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from host.analysis.explain.comparison import Comparison
from host.analysis.explain.evidence import evidence_of
from host.analysis.explain.stacks import stacks
from host.analysis.explain.verdict import findings_of
from host.record.reader import CAUSE_NAMES, Record
from host.results.version import identity

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["comparison_document", "explanation_document"]


def _run(record: Record) -> dict[str, Any]:
    document = record.document
    return {
        "record": str(record.folder),
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


def explanation_document(record: Record, rows: "pd.DataFrame", by: str, *, banks: int) -> dict[str, Any]:
    """Return what one record says.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The instructions that count.
    by : str
        What the stacks are of, see `host.analysis.explain.stacks.STACKED`.
    banks : int
        Number of the hottest banks that are listed for each module.
    """
    modules = {}
    for evidence in evidence_of(record, rows):
        modules[evidence.module] = {
            "instructions": len(evidence.rows),
            "cycles": evidence.cycles,
            "causes": {name: round(cycles, 3) for name, cycles in evidence.stack.items()},
            "banks": [asdict(bank) for bank in evidence.hottest(banks)],
            "links": None if evidence.links is None else asdict(evidence.links),
            "fifos": [{**asdict(fifo), "proposed": fifo.proposed} for fifo in evidence.fifos],
            "latency": None if evidence.latency is None else asdict(evidence.latency),
        }
    return {
        **identity(),
        **_run(record),
        "modules": modules,
        "by": by,
        "stacks": _records(stacks(record, rows, by)),
        "findings": [asdict(finding) for finding in findings_of(record, rows)],
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
