"""A sweep as an answer: the tables of its points and of their best settings, its plot, and its page."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from msgspec import structs

from cyscc.host.answer.answer import Answer, Chart, Column, Table
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sheets import TABLES
from cyscc.host.experiments.sweep.definition import is_ordered, value_text
from cyscc.host.experiments.sweep.measures import MEASURES
from cyscc.host.experiments.sweep.rows import best_by_input, best_rows, best_so_far, effects
from cyscc.host.experiments.sweep.search import Outcome
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.host.specification.numbers import checked_number

if TYPE_CHECKING:
    from cyscc.host.answer.charts import Figure
    from cyscc.host.record.reader import Record

_MOST_ROWS = 48
"""Most rows of the points that are shown, except on the page."""


class Sweep(Answer):
    """A sweep.

    Attributes
    ----------
    rows : pandas.DataFrame
        A row for each point: its parameters and results.
    effects : pandas.DataFrame
        A row for each parameter that is a setting: its best value, and the cycles of the worst over those of the best.
    best : pandas.DataFrame
        The best settings for each input, and over all; of a search its best points.
    files : dict of str to Path
        Files of the ``table`` (Parquet) and the ``page`` (HTML) of the points.
    """

    def __init__(self, outcome: Outcome, measure: str) -> None:
        self._outcome = outcome
        self.files = dict(outcome.files)
        study, plan, rows = outcome.study, outcome.plan, outcome.rows
        failed = f", {count_text(len(plan.failures), 'failure')}" if plan.failures else ""
        points = count_text(len({row["point"] for row in rows}), "point")
        said = [f"{points}: {plan.text}{failed}\nwritten: {', '.join(map(str, self.files.values()))}"]
        fields: dict[str, Any] = {"study": study.name, "axes": study.axes}
        if search := study.search:
            within = count_text(sum(row["within_budget"] for row in rows), "point")
            said.insert(0, search.text() + (f": {within} of {len(rows):,} within the budget" if search.budget else ""))
            best = [row["number"] - 1 for row in _best(outcome)]
            fields["search"] = {**structs.asdict(search), "best": best}
        super().__init__(
            title=study.title,
            said=said,
            tables=_tables(outcome),
            charts={"sweep": Chart(title=study.title, draw=lambda: self._figure(measure))},
            fields=fields,
            failure=outcome.failure,
        )

    def document(self) -> dict[str, Any]:
        """Return the answer as a JSON document, in which the rows are ``points``."""
        document = super().document()
        del document["rows"]
        return {**document, "points": self._outcome.rows}

    def page(self) -> str:
        """Return the page of the points, as self-contained HTML."""
        from cyscc.host.experiments.sweep.charts import sweep_page

        whole = {name: replace(table, most=None) for name, table in self.tables.items()}
        return sweep_page(self._outcome, whole)

    def record(self, row: int) -> "Record":
        """Return the record of a point, by the number of its row.

        Raises
        ------
        ValueError
            The point failed.
        InputError
            The record cannot be read.
        """
        rows = self._outcome.rows
        place = checked_number("row", row, low=0, high=len(rows) - 1)
        if failure := rows[place]["reason"]:
            raise ValueError(f"row {row} has no record: {failure}")
        return self._outcome.study.points[place].point.record(self._outcome.plan.store)

    def plot(
        self, path: "str | PathLike[str] | None" = None, name: str | None = None, *, measure: str | None = None
    ) -> "Figure":
        """Return the plot, a figure of plotly, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or path, optional
            The file: SVG, PNG or PDF, by its suffix.
        name : str, optional
            Name of the chart, of which there is one.
        measure : str, optional
            What it shows: ``cycles``, ``gteps`` or ``seconds``; by default what the sweep was asked for.
        """
        if measure is None:
            return super().plot(path, name)
        if measure not in MEASURES:
            raise ValueError(f"measure must be {' or '.join(MEASURES)}, not {measure!r}")
        return Sweep(self._outcome, measure).plot(path, name)

    def _figure(self, measure: str) -> "Figure":
        """Return the plot: of a search its points, else the first parameter whose values have an order, or any."""
        from cyscc.host.answer.charts import literal
        from cyscc.host.experiments.sweep.charts import parameter_chart, search_chart

        study, rows = self._outcome.study, self._outcome.rows
        if not study.axes:
            raise InputError(f"{study.name}: nothing varies, so that there is nothing to plot")
        if study.search is not None:
            chart = search_chart(study, rows, measure)
        else:
            names = [name for name, values in study.axes.items() if len(values) > 1] or list(study.axes)
            across = next((name for name in names if is_ordered(name, study.axes[name])), names[0])
            chart = parameter_chart(study, rows, across, measure)
        said = f"{_common(outcome=self._outcome)}. {chart.about}"
        head = [literal(line) for text in (study.title, said) for line in textwrap.wrap(text, 110)]
        top = (chart.figure.layout.margin.t or 14) + 20 * len(head)
        chart.figure.update_layout(
            title={"text": "<br>".join(head), "font": {"size": 14}, "yref": "container", "y": 1, "yanchor": "top"},
            title_pad={"t": 8},
            margin={"t": top},
            height=chart.figure.layout.height + 20 * len(head),
        )
        return chart.figure


def _common(outcome: Outcome) -> str:
    """Return what all points have in common: algorithm, graph, configuration and memory."""
    points = [each.point for each in outcome.study.points]
    parts = [{each.spec.algorithm for each in points}, {each.graph.label for each in points}]
    parts += [{each.spec.config_name for each in points}, {each.spec.memory_name for each in points}]
    words = ("{}", " of {}", " on {}", ", memory {}")
    text = "".join(form.format(*found) for form, found in zip(words, parts, strict=True) if len(found) == 1)
    return value_text(text.removeprefix(",").strip())


def _best(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the best settings for each input, and over all; of a search its best points, with their numbers."""
    if outcome.study.search is None:
        return best_by_input(outcome.study, outcome.rows)
    numbers = {id(row): place for place, row in enumerate(outcome.rows, start=1)}
    return [{"number": numbers[id(row)], **row} for row in best_rows(outcome.study, outcome.rows)]


def _tables(outcome: Outcome) -> dict[str, Table]:
    """Return the tables of a sweep."""
    study, rows = outcome.study, outcome.rows
    search = study.search
    aims = ("cycles",) if search is None else dict.fromkeys(("cycles", *search.minimise, *search.budget))
    numbers = {name: Column(name, "{:,.0f}") for name in ("cycles", *AREA)}
    # A parameter is shown as it is given.
    axes = {name: Column(name) for name in study.axes}
    failed = {"status": "{}", "reason": "{}"} if outcome.failure else {}
    points: Sequence[Mapping[str, Any]] = rows
    if search is not None and len(search.minimise) == 1:
        best = best_so_far(rows, search.minimise[0])
        points = [{**row, "best_so_far": least} for row, least in zip(rows, best, strict=True)]
    # Of the inputs none is best.
    of_settings = [each for each in effects(study, rows) if each["parameter"] in study.settings]
    columns = {**axes, "cycles": numbers["cycles"], "gteps": Column("GTEPS", "{:.3f}"), **numbers}
    return {
        "rows": Table(
            title="points",
            frame=list(map(dict, points)),
            columns={**columns, "best_so_far": "{:,.0f}", **failed},
            most=_MOST_ROWS,
        ),
        "effects": TABLES.table("effects", of_settings),
        "best": Table(
            title="fewest cycles" if search is None else "best points",
            frame=_best(outcome),
            columns={
                **({"input": "{}"} if study.inputs else {}),
                "number": Column("point"),
                **{name: axes[name] for name in study.settings},
                **{name: numbers[name] for name in aims},
            },
            most=None,
        ),
    }
