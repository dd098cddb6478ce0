"""A sweep for programs and on the terminal."""

from typing import Any

from host.results.table_text import plain_table
from host.results.version import identity
from host.sweep.area import AREA
from host.sweep.effects import effects
from host.sweep.rows import DONE, Row
from host.sweep.running import Swept
from host.sweep.study import Study, value_text
from host.words import counted

__all__ = ["cells", "sweep_document", "sweep_text"]


def sweep_document(study: Study, rows: list[Row]) -> dict[str, Any]:
    """Return a sweep as a JSON document."""
    return {
        **identity(),
        "study": study.name,
        "title": study.title,
        "axes": study.axes,
        "effects": [
            {"parameter": each.name, "factor": each.factor, "best": each.best} for each in effects(study.axes, rows)
        ],
        "points": rows,
    }


def cells(study: Study, row: Row) -> tuple[list[str], list[str]]:
    """Return the values of the parameters that vary, and what the point came to, as texts."""
    names = [value_text(row[name]) for name in study.axes]
    if row["status"] != DONE:
        return names, [row["status"], "", *("" for name in AREA if name in row)]
    area = [f"{row[name]:,}" for name in AREA if name in row]
    return names, [f"{row['cycles']:,}", f"{row['gteps']:.3f}", *area]


def sweep_text(study: Study, rows: list[Row], swept: Swept, *, most: int) -> str:
    """Return a sweep as tables: the points, at most so many, and the parameters."""
    head = [*study.axes, "cycles", "GTEPS", *(name for name in AREA if name in rows[0])]
    shown = [[*names, *numbers] for names, numbers in (cells(study, row) for row in rows[:most])]
    if len(rows) > most:
        shown.append(["...", *("" for _ in head[1:])])
    parts = [plain_table(shown, head=head, words=len(study.axes))]
    found = effects(study.axes, rows)
    if found:
        lines = [[each.name, value_text(each.best), f"{each.factor:.2f}"] for each in found]
        parts.append(plain_table(lines, head=["parameter", "best", "worst / best"], words=2))
    failed = f", {counted(len(swept.failures), 'failure')}" if swept.failures else ""
    points = len({row["point"] for row in rows})
    parts.append(f"{counted(points, 'point')}: {swept.made} made, {swept.found} from before{failed}\n")
    return "\n".join(parts)
