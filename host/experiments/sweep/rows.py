"""The rows of a sweep: the parameters of each point and the results in its record."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from math import exp, fsum, log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cyscc.host.experiments.fpga.area import areas
from cyscc.host.experiments.plan.plan import OnStep, Plan, no_step
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.sweep.definition import SweepStudy, value_text
from cyscc.host.output.files import open_output
from cyscc.sim.observation.causes import CAUSES

Row = dict[str, Any]
"""A point: its parameters by name, ``point``, ``status``, ``reason``, and the results in its record."""

DONE, FAILED = "done", "failed"
"""Values of ``status``."""


def rows_of(study: SweepStudy, plan: Plan, results: Mapping[str, Measured]) -> list[Row]:
    """Return a row for each point of a study, in the study's order.

    Parameters
    ----------
    study : SweepStudy
        The study.
    plan : Plan
        How its points were made; it has the failures.
    results : mapping of str to dict
        The results of the others by the digest of the point.
    """
    rows = []
    for each in study.points:
        digest = each.point.digest
        made = digest in results
        status = {"point": digest, "status": DONE if made else FAILED}
        status["reason"] = "" if made else str(plan.failures[digest])
        rows.append({**each.values, **status, **(results[digest]["row"] if made else {})})
    return rows


def made_rows(study: SweepStudy, plan: Plan, on_step: OnStep | None = None) -> list[Row]:
    """Make the missing points of a study, and return its rows, with the area of their machines if it is asked for.

    Parameters
    ----------
    study : SweepStudy
        The study.
    plan : Plan
        How its points are made.
    on_step : callable, optional
        Progress callback, called for each point; without one, progress is a step of the plan's.

    Raises
    ------
    SimulationError
        No further points can be made, or Yosys failed.
    """
    points = [each.point for each in study.points]
    with nullcontext(on_step) if on_step else plan.progress.step("simulating") as step:
        rows = rows_of(study, plan, plan.results(points, step))
    configs = [point.spec.configuration for point in points]
    found = areas(plan, configs, no_step if on_step else None)
    return [{**row, **found.get(config, {})} for config, row in zip(configs, rows, strict=True)]


def shares(row: Mapping[str, Any], module: str) -> dict[str, float]:
    """Return the share of each cause in the cycles of a module's kernels; an empty dict if the row has none."""
    names = {cause.name: f"{module}.{cause.name}" for cause in CAUSES}
    return {name: row[column] for name, column in names.items() if row.get(column) is not None}


def table_of(rows: list[Row]) -> pa.Table:
    """Return the rows as an Arrow table; columns with values of several types become texts."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> pa.Array:
    with suppress(ValueError, TypeError, OverflowError):
        found = pa.array(values)
        if found.type in (pa.bool_(), pa.int64(), pa.float64()):
            return found
    return pa.array([None if value is None else value_text(value) for value in values], pa.string())


def write_table(rows: list[Row], path: Path) -> None:
    """Write the rows as Parquet.

    Raises
    ------
    InputError
        The file could not be written.
    """
    with open_output(str(path)) as file:
        pq.write_table(table_of(rows), file)


def best_so_far(rows: Sequence[Row], name: str) -> list[int | None]:
    """Return the least value of a result up to each point of a search, within the budget; None before the first."""
    best: list[int | None] = []
    for row in rows:
        before = best[-1] if best else None
        value = row[name] if row["within_budget"] else None
        best.append(min((each for each in (before, value) if each is not None), default=None))
    return best


def front(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """Return the Pareto front: the points that no other point beats in one result without being worse in another.

    Parameters
    ----------
    rows : iterable of Row
        The points.
    names : sequence of str
        The results.

    Returns
    -------
    list of Row
        The front by its first result, ascending; of equal points the first. With one result, the best point.
    """
    found: list[Row] = []
    for row in sorted(rows, key=lambda row: [row[name] for name in names]):
        # One that is dominated is so by one before it, or by one of the front.
        if not any(all(other[name] <= row[name] for name in names) for other in found):
            found.append(row)
    return found


def best_rows(study: SweepStudy, rows: Iterable[Row]) -> list[Row]:
    """Return the front of a search within its budget, see `front`."""
    assert study.search is not None, "the study searches"
    return front((row for row in rows if row["within_budget"]), study.search.minimise)


def best_by_input(study: SweepStudy, rows: Sequence[Row]) -> list[Row]:
    """Return the best settings for each input, and over all inputs.

    Parameters
    ----------
    study : SweepStudy
        The study.
    rows : sequence of Row
        Its points; failed ones are left out.

    Returns
    -------
    list of Row
        The ``input``, the settings, and ``cycles``: those of the point with the fewest, and over all inputs the least
        geometric mean, of settings that have all of them. None of a search, or where nothing but inputs varies.
    """
    if study.search is not None or not study.settings:
        return []
    groups: dict[str, dict[str, Row]] = {}
    for row in (row for row in rows if row["status"] == DONE):
        settings = study.label(row, study.settings)
        groups.setdefault(study.label(row, study.inputs), {}).setdefault(settings, row)
    found = []
    for name, group in groups.items():
        row = min(group.values(), key=lambda row: row["cycles"])
        found.append({"input": name, **{each: row[each] for each in (*study.settings, "cycles")}})
    first = next(iter(groups.values()), {})
    means = {
        name: _mean([group[name]["cycles"] for group in groups.values()])
        for name in first
        if all(name in group for group in groups.values())
    }
    if len(groups) > 1 and means:
        least = min(means, key=lambda name: means[name])
        best = {each: first[least][each] for each in study.settings}
        found.append({"input": "all, geometric mean", **best, "cycles": round(means[least])})
    return found


def _mean(numbers: Sequence[float]) -> float:
    """Return the geometric mean; 1 of nothing."""
    return exp(fsum(log(max(number, 1)) for number in numbers) / max(len(numbers), 1))


def effects(study: SweepStudy, rows: Iterable[Row]) -> list[Row]:
    """Return the effect of each parameter of a study, in descending order; failed points are left out.

    There is none of a search, whose points seldom differ in one parameter alone.

    Returns
    -------
    list of dict
        `parameter`; `factor`, cycles of its worst value over those of the best, as geometric mean over the points that
        differ in nothing else, 1 without an effect; `best`, the value with the fewest cycles, by geometric mean: the
        first of equals, of those that occur with all values of the others, or None if none does.
    """
    if study.search is not None:
        return []
    names = list(study.axes)
    done = [row for row in rows if row["status"] == DONE]
    found = []
    for name in names:
        series: dict[tuple[str, ...], dict[Any, int]] = {}
        for row in done:
            others = tuple(value_text(row[other]) for other in names if other != name)
            series.setdefault(others, {})[row[name]] = row["cycles"]
        if kept := [each for each in series.values() if len(each) > 1]:
            counts = [each.values() for each in kept if min(each.values()) > 0]
            shared = [value for value in kept[0] if all(value in each for each in kept)]
            means = {value: _mean([each[value] for each in kept]) for value in shared}
            factor = _mean([max(each) / min(each) for each in counts])
            found.append({"parameter": name, "factor": factor, "best": min(means, key=means.__getitem__, default=None)})
    return sorted(found, key=lambda effect: -effect["factor"])
