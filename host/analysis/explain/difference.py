"""The comparison of two records as an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cyscc.host.analysis.explain.comparison import Comparison
from cyscc.host.analysis.explain.conclusion import conclusion
from cyscc.host.answer.answer import ROWS, Answer, Table
from cyscc.host.answer.forms import Forms
from cyscc.host.record.display import cycles_text, instruction_text, record_title, run_document
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

_FEW = 3
"""Most causes named in a row."""
_SHOWN = 0.5
"""Least difference in cycles by a cause that is shown."""
FORMS = Forms(__file__)
"""Forms of the tables of this room."""
_PARTS = {
    "instructions": "instructions",
    "host": "the host",
    "restarted": "attempts given up",
    "unfinished": "instructions that are not complete in the record",
    "total": "total",
}


def difference(comparison: Comparison, *, top: int | None = None) -> Answer:
    """Return where and why the second of two records takes more cycles than the first.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    top : int, optional
        Most levels that are shown.
    """
    first, second = comparison.first, comparison.second
    said = conclusion(comparison)
    runs = {"first": first, "second": second}
    facts = {name: f"{record_title(record)}; cycles {cycles_text(record)}" for name, record in runs.items()}
    settings = {"settings that differ": settings_text(comparison.settings)} if comparison.settings else {}
    whole = comparison.cycles[0]
    levels = comparison.levels.assign(where=[instruction_text(row) for _, row in comparison.levels.iterrows()])
    other = (levels["iteration"] != levels["second_iteration"]).any()
    return Answer(
        title=said[0],
        facts={**facts, **settings},
        said=said[1:],
        tables={
            "times": _times(comparison),
            "causes": _causes(comparison),
            "phases": _rows("by phase", comparison.phases, "phase", whole),
            "unpaired": _rows("iterations that only one run has", comparison.unpaired, "phase", whole),
            "levels": _rows(
                "by level, those that differ most",
                levels,
                "level",
                whole,
                without=["phase", *([] if other else ["second_iteration"])],
                rows=levels["difference"].abs().nlargest(top or ROWS).index.sort_values().tolist(),
            ),
        },
        fields={
            "conclusion": " ".join(said),
            "first": run_document(first),
            "second": run_document(second),
            "same_graph": comparison.same_graph,
            "settings": comparison.settings,
            "cycles": comparison.difference,
            "compared": {
                "cycles": list(comparison.cycles),
                "seconds": list(comparison.seconds),
                "edges": list(comparison.edges),
                "left_out": list(comparison.left_out),
            },
        },
    )


def settings_text(settings: Mapping[str, Sequence[Any]]) -> str:
    """Return settings that differ with the values of each run: ``issue_interval 1 -> 2, memory hc2 -> fixed:75``."""
    return ", ".join(f"{printable(name)} {' -> '.join(map(_value, values))}" for name, values in settings.items())


def _value(value: object) -> str:
    return printable("none" if value is None else str(value).lower() if isinstance(value, bool) else str(value))


def _share(part: "pd.Series[Any]", whole: "pd.Series[Any] | float") -> "pd.Series[Any]":
    """Return differences as shares of wholes; missing where there is no whole."""
    return part / (whole if isinstance(whole, pd.Series) else pd.Series(whole, index=part.index)).where(
        lambda each: each != 0
    )


def _times(comparison: Comparison) -> Table:
    frame = pd.DataFrame(
        [(name, one, other, other - one) for name, (one, other) in comparison.times.items()],
        columns=["part", "first", "second", "difference"],
    )
    frame["of_first"] = _share(frame["difference"], frame["first"])
    frame["name"] = frame["part"].map(_PARTS)
    return FORMS.table("times", frame, shown=not comparison.selected)


def cause_cells(name: str) -> dict[str, Any]:
    """Return the cells of `CAUSE_COLUMNS` of a cause."""
    return {"letter": cause_named(name).letter, "cause": name, "title": cause_named(name).title}


def _causes(comparison: Comparison) -> Table:
    ranked = sorted(comparison.causes.items(), key=lambda item: -abs(item[1]))
    frame = pd.DataFrame([{**cause_cells(name), "cycles": cycles} for name, cycles in ranked])
    frame["of_run"] = _share(frame["cycles"], comparison.cycles[0])
    return FORMS.table("changed_causes", frame, rows=frame.index[frame["cycles"].abs() >= _SHOWN].tolist())


def _rows(title: str, frame: pd.DataFrame, unit: str, whole: int, **shown: Any) -> Table:
    """Return the rows of a frame, with each difference as a share of the unit's cycles and of those of the run."""
    frame = frame.assign(
        of_unit=_share(frame["difference"], frame["first_cycles"]),
        of_run=_share(frame["difference"], whole),
        why=[difference_causes(row) for row in frame.to_dict("records")],
    )
    return FORMS.table("changes", frame, {"title": title, "unit": unit}, **shown)


def difference_causes(causes: "Mapping[str, Any] | Mapping[Any, Any]") -> str:
    """Return the causes that contribute most to a difference: ``refused +312, slot -40``."""
    ranked = sorted(CAUSE_NAMES, key=lambda name: -abs(float(causes[name])))
    return ", ".join(
        f"{name} {float(causes[name]):+,.0f}" for name in ranked[:_FEW] if abs(float(causes[name])) >= _SHOWN
    )
