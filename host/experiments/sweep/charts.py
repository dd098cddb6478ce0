"""Charts of a sweep: results by one or two parameters, or by number of points; cycles against area, and by cause."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from math import log, prod
from pathlib import Path
from typing import Any

import pandas as pd

from cyscc.host.analysis.report.facts import against_preset, against_profile, computer_text, version_text
from cyscc.host.analysis.report.page import Section, render
from cyscc.host.answer import charts
from cyscc.host.answer.answer import Table
from cyscc.host.answer.charts import NARROWEST, Chart, Panel, Trace, look, series
from cyscc.host.answer.colours import GREY, RUN_COLOURS, STACK
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.plan.plan import RESULTS
from cyscc.host.experiments.sweep.definition import SweepStudy, is_logarithmic, is_ordered, is_wide, value_text
from cyscc.host.experiments.sweep.measures import MEASURES
from cyscc.host.experiments.sweep.rows import DONE, Row, best_so_far, effects, front, shares
from cyscc.host.experiments.sweep.search import Outcome
from cyscc.host.output.files import version
from cyscc.host.output.text import count_text, graph_text
from cyscc.host.record.tables import MODULES
from cyscc.host.runs.environment import run_environment
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.overrides import MEMORY, NO_OVERRIDES
from cyscc.host.specification.run import resolved_configuration, resolved_profile
from cyscc.sim.notices import printable

_RESULTS = {**MEASURES, **AREA}
"""Titles of the axes of results, by their columns."""
_FACTORS = {"seconds": 1e3}
"""Factors from columns to the units of their axes."""

_FEW = 4
"""Most combinations of the other parameters that are lines of one panel, and panels in a row."""
_MOST_PANELS = 24
_MOST_BARS = 60
_MOST_TICKS = 20
_MOST_CELLS = 16
"""Most rows or columns of a matrix whose cells have numbers."""
_SHADES = ("#9ecae1", "#4a98c9", "#1764ab", "#08264f")
"""Colours of lines whose parameter has an order."""
_HOVER = "%{customdata[0]}: %{customdata[1]:,} cycles, %{customdata[2]:.3f} GTEPS"


def parameter_chart(study: SweepStudy, rows: Sequence[Row], across: str, column: str = "cycles") -> Chart:
    """Return the chart of a result by value of a parameter, with lines by another one, in panels of the rest.

    Values without an order have rows, in which nothing joins the points.

    Parameters
    ----------
    study : SweepStudy
        The study.
    rows : sequence of Row
        The rows of its points; failed ones are left out.
    across : str
        The parameter.
    column : str
        The result: ``cycles``, ``gteps`` or ``seconds``.
    """
    done = [row for row in rows if row["status"] == DONE]
    others = {name: len(values) for name, values in study.axes.items() if name != across and len(values) > 1}
    few = [name for name, count in others.items() if count <= _FEW]
    lines = list(others) if prod(others.values()) <= _FEW else few[:1]
    panels = [name for name in others if name not in lines]
    labels = study.labels[across]
    unchanged, machine = _unchanged(study)
    frame = charts.frame_of(
        [
            {
                "at": row[across],
                "text": labels[row[across]],
                "line": study.label(row, lines) or column,
                "panel": study.label(row, panels),
                "result": _result(row, column),
                "ring": row["point"] in unchanged,
                **{name: row[name] for name in ("cycles", "gteps")},
            }
            for row in done
        ]
    )
    ordered = is_ordered(across, study.axes[across])
    looks = _line_looks(study, lines, list(frame["line"].unique()) if done else [], ordered=ordered)
    title = _RESULTS[column]
    results = _result_axis([_result(row, column) for row in done], title)
    groups = list(frame.groupby("panel", sort=False)) if done else []
    shown = groups[:_MOST_PANELS]
    height = 360 if len(shown) == 1 else 190
    parts = []
    for name, own in shown:
        if ordered:
            own = own.sort_values("at", kind="stable")
            found = series(own, "at", "result", "line", looks, told=("text", "cycles", "gteps"), form=_HOVER)
            found += _rings(own[own["ring"]], "at", "result", machine)
            numbers = sorted(study.axes[across])
            ticks = _ticks(numbers, room=NARROWEST / min(len(shown), _FEW))
            x = {"type": "log" if is_logarithmic(numbers) else "linear", "tickvals": numbers, "ticktext": ticks}
            parts.append(Panel(name, found, {**x, "title": across}, results, height=height))
        else:
            texts = list(dict.fromkeys(labels[value] for value in study.axes[across]))
            wide = own.pivot_table("result", "text", "line", sort=False).reindex(texts)
            found = charts.marks(wide, looks)
            places = own.assign(row=[texts.index(text) for text in own["text"]])
            found += _rings(places[places["ring"]], "result", "row", machine)
            size = 60 + len(texts) * (20 + 8 * len(wide.columns))
            y = {**charts.row_axis(texts), "title": across}
            parts.append(Panel(name, found, results, y, height=size))
    figure = charts.panels(
        parts or [Panel("", [], y=results)], columns=_FEW if ordered else 1, shared="y" if ordered else "x"
    )
    about = f"Points of a {'line' if ordered else 'colour'} have everything else in common."
    if len(groups) > 1:
        about += " A panel is a combination of the other parameters."
    if len(groups) > len(shown):
        about += f" The first {len(shown)} of {len(groups)} panels."
    if failed := len(rows) - len(done):
        about += f" {count_text(failed, 'point')} failed, and {'is' if failed == 1 else 'are'} left out."
    return Chart(name=f"effect-{list(study.axes).index(across)}", title=across, about=about, figure=figure)


def _line_looks(study: SweepStudy, lines: Sequence[str], names: Sequence[str], *, ordered: bool) -> dict[str, Trace]:
    """Return the looks of lines: shades of a colour if their parameter has an order, else different colours."""
    shaded = len(lines) == 1 and is_ordered(lines[0], study.axes[lines[0]])
    colours = _SHADES[-len(names) :] if shaded else RUN_COLOURS
    kind = "joined" if ordered else "points"
    return {
        name: look(kind, colour, marker={"symbol": symbol})
        for name, colour, symbol in zip(names, colours, charts.SYMBOLS, strict=False)
    }


def _rings(rows: pd.DataFrame, x: str, y: str, name: str) -> list[Trace]:
    """Return rings around the points of a machine that is as its preset has it."""
    ring = {"symbol": "circle-open", "size": 16, "line": {"width": 1.5}}
    return series(rows.assign(name=name), x, y, "name", {name: look("points", "#000000", marker=ring)})


def matrix_chart(study: SweepStudy, rows: Sequence[Row], down: str, across: str) -> Chart:
    """Return the matrix of cycles by the values of two parameters: the fewest of the points that have both."""
    done = charts.frame_of([row for row in rows if row["status"] == DONE])
    names = {name: [study.labels[name][value] for value in study.axes[name]] for name in (down, across)}
    keys = {name: done[name].map(study.labels[name]) for name in (down, across)}
    results = done.assign(**{f"key {name}": values for name, values in keys.items()})
    found = results.pivot_table("cycles", f"key {down}", f"key {across}", aggfunc="min")
    found = found.reindex(index=list(dict.fromkeys(names[down])), columns=list(dict.fromkeys(names[across])))
    few = max(found.shape) <= _MOST_CELLS
    texts = [["" if value != value else f"{value:,.5g}" for value in row] for row in found.to_numpy()]
    shown = charts.heat(
        found.to_numpy(float),
        title="cycles",
        hover=f"{down}=%{{y}}, {across}=%{{x}}<br>%{{z:,.6g}} cycles<extra></extra>",
        least=float(found.min(axis=None)),
        x=list(found.columns),
        y=list(found.index),
        text=texts if few else None,
        texttemplate="%{text}" if few else None,
    )
    places = {"type": "category", "automargin": True}
    figure = charts.new_figure(
        [shown],
        height=150 + 30 * len(found),
        x=across,
        y=down,
        xaxis=places,
        yaxis={**places, "autorange": "reversed"},
    )
    about = "The fewest cycles of all points with both values."
    return Chart(name="matrix", title=f"{down} and {across}", about=about, figure=figure)


def _result(row: Row, column: str) -> float:
    """Return a result in the unit of its axis."""
    return float(row[column] * _FACTORS.get(column, 1))


def _result_axis(results: Sequence[float], title: str) -> Mapping[str, Any]:
    """Return the settings of the axis of results, which is logarithmic if they differ much."""
    return {"title": title, "rangemode": "tozero", **(charts.log_axis(results) if is_wide(results) else {})}


def _ticks(numbers: Sequence[float], *, room: float = NARROWEST) -> list[str]:
    """Return the labels of ascending numbers of an axis; those that have no room are empty."""
    places = [log(number) if is_logarithmic(numbers) else number for number in numbers]
    scale = room / ((places[-1] - places[0]) or 1)
    texts: list[str] = []
    end = 0.0
    for number, place in zip(numbers, places, strict=True):
        text = f"{number:,}"
        half = charts.LETTER * (len(text) + 1) / 2
        begin = scale * (place - places[0]) - half
        fits = begin >= end or not texts
        texts.append(text if fits else "")
        end = begin + 2 * half if fits else end
    return texts


def _unchanged(study: SweepStudy) -> tuple[set[str], str]:
    """Return the points on machine and memory as their presets have them, by digest, and their name in the legend.

    They are none where all points are, so that nothing sets them apart.
    """
    machines: dict[tuple[str, str], tuple[Any, Any]] = {}
    found: dict[str, str] = {}
    for each in study.points:
        spec = each.point.spec
        named = (str(spec.config), str(spec.memory))
        if named not in machines:
            own = resolved_configuration(spec.config, NO_OVERRIDES), resolved_profile(spec.memory, NO_OVERRIDES)
            machines[named] = (own[0], own[1].describe())
        if machines[named] == (spec.configuration, spec.profile.describe()):
            found[each.point.digest] = f"{value_text(Path(spec.config_name).name)}, unchanged"
    if len(found) == len({each.point.digest for each in study.points}):
        return set(), ""
    texts = set(found.values())
    return set(found), texts.pop() if len(texts) == 1 else "machine unchanged"


def _labelled(study: SweepStudy, rows: Sequence[Row], x: Sequence[float], y: Sequence[float], name: str) -> Any:
    """Return a frame of points, with the labels of the study."""
    points = zip(rows, x, y, strict=True)
    return charts.frame_of(
        [{"x": at, "y": up, "name": name, "text": study.label(row) or study.name} for row, at, up in points]
    )


def search_chart(study: SweepStudy, rows: Sequence[Row], column: str) -> Chart:
    """Return the chart of a result by number of points of a search, with the least one so far."""
    assert study.search is not None, "the study searches"
    title = _RESULTS[column]
    kept = "within the budget" if study.search.budget else "point"
    done = [(number, row) for number, row in enumerate(rows, 1) if row["status"] == DONE]
    shown = []
    for within, name, colour in ((True, kept, GREY), (False, "over the budget", RUN_COLOURS[2])):
        if own := [each for each in done if each[1]["within_budget"] == within]:
            numbers, its = zip(*own, strict=True)
            frame = _labelled(study, its, numbers, [_result(row, column) for row in its], name)
            form = f"%{{customdata[0]}}<br>points %{{x:,}}, {title} %{{y:,}}"
            shown += series(frame, "x", "y", "name", {name: look("points", colour)}, told=("text",), form=form)
    if column not in ("gteps", "seconds"):
        best = {"x": list(range(1, len(rows) + 1)), "y": best_so_far(rows, column), "name": "best so far"}
        hover = f"after %{{x}} points: %{{y:,}} {title}<extra></extra>"
        shown.append({**look("lines", RUN_COLOURS[1], line={"shape": "hv"}), **best, "hovertemplate": hover})
    ticks = list(range(1, len(rows) + 1, max(len(rows) // _MOST_TICKS, 1)))
    x, y = (
        {"tickvals": ticks, "ticktext": _ticks(ticks)},
        _result_axis([_result(row, column) for _, row in done], title),
    )
    figure = charts.new_figure(shown, height=420, x="points", xaxis=x, yaxis=y)
    about = "The points in the order in which they were chosen."
    return Chart(name=f"best-{column}", title=f"Least {title} by number of points", about=about, figure=figure)


def causes_chart(study: SweepStudy, rows: Sequence[Row], module: str) -> Chart | None:
    """Return the chart of the kernels' cycles by cause at each point; None if no point has kernels of this module."""
    chosen = sorted((row for row in rows if shares(row, module)), key=lambda row: row["cycles"])
    shown = chosen[:_MOST_BARS]
    if not shown:
        return None
    names = [study.label(row) or study.name for row in shown]
    frame = charts.frame_of([shares(row, module) for row in shown]).set_axis(names)[list(STACK)]
    bars, share = charts.traces(frame, "rows", form="%{x:.1%}"), {"tickformat": ".0%", "range": [0, 1]}
    height = 120 + 22 * len(shown)
    figure = charts.stacked_rows(bars, height=height, x="share of the cycles of all kernels", xaxis=share)
    about = "The points by their cycles, the fewest first."
    if len(chosen) > len(shown):
        about += f" The first {len(shown)} of {len(chosen)}."
    title = f"Cycles of the {module} kernels"
    return Chart(name=f"causes-{module}", title=title, about=about, figure=figure, causes=True)


def area_chart(study: SweepStudy, rows: Sequence[Row], column: str) -> Chart:
    """Return the chart of cycles against a column of area, with the Pareto front."""
    title = AREA[column]
    best = look("joined", RUN_COLOURS[1], line={"shape": "vh"}, marker={"size": 10})
    shown = []
    for name, own, looks in (
        ("all points", rows, look("points", GREY)),
        ("no other point has fewer cycles and takes no more", front(rows, ("cycles", column)), best),
    ):
        frame = _labelled(study, own, [row[column] for row in own], [row["cycles"] for row in own], name)
        form = f"%{{customdata[0]}}<br>{title} %{{x:,}}, cycles %{{y:,}}"
        shown += series(frame, "x", "y", "name", {name: looks}, told=("text",), form=form)
    figure = charts.new_figure(shown, height=460, x=f"{title}, all AEs", y="cycles")
    budget = {} if study.search is None else study.search.budget
    if column in budget:
        figure.add_vline(x=budget[column], line={"color": RUN_COLOURS[2], "dash": "dash"}, annotation_text="budget")
    about = f"Cycles of each point against the {title} of its machine, as synthesised for a Virtex-5."
    return Chart(name=f"pareto-{column}", title=f"Cycles against {title}", about=about, figure=figure)


_MOST_TEXTS = 8


def sweep_page(outcome: Outcome, tables: Mapping[str, Table]) -> str:
    """Return the page of a sweep as self-contained HTML.

    Parameters
    ----------
    outcome : Outcome
        The sweep.
    tables : mapping of str to Table
        The tables of its answer, whose rows are all shown.
    """
    study, rows = outcome.study, outcome.rows
    done = [row for row in rows if row["status"] == DONE]
    search, said = study.search, "what each parameter does while the others stay as they are"
    varied = [name for name, values in study.axes.items() if len(values) > 1 and name in study.settings]
    charts = {
        "effects": [parameter_chart(study, rows, each["parameter"]) for each in effects(study, rows)],
        "area": [area_chart(study, done, name) for name in AREA if done and name in done[0]],
        "causes": [chart for module in MODULES if (chart := causes_chart(study, done, module)) is not None],
    }
    if len(varied) > 1 and done and search is None:
        charts["effects"].append(matrix_chart(study, rows, *varied[:2]))
    sections = [Section(name="best", title="Best", tables=[tables["best"]])] if len(tables["best"]) else []
    if search is not None:
        said = f"chosen one batch after the other, for {search.text()}"
        kept = sum(row["within_budget"] for row in rows)
        found = [search_chart(study, rows, name) for name in search.minimise if kept]
        aim = [f"Aim: {search.text()}. Within the budget: {kept:,} of {len(rows):,}."]
        sections.append(Section(name="search", title="Search", texts=aim, charts=found))
    for name, title in {"effects": "Effects", "area": "Cycles and area", "causes": "Causes"}.items():
        if charts[name]:
            own = [tables[name]] if name in tables else []
            sections.append(Section(name=name, title=title, charts=charts[name], tables=own))
    points = [{**row, "folder": f"{RESULTS}/{row['point']}"} for row in tables["rows"].records()]
    columns = {**tables["rows"].columns, "folder": "{}"}
    whole = replace(tables["rows"], frame=points, columns=columns)
    sections.append(Section(name="points", title="Points", tables=[whole]))
    sections.append(Section(name="facts", title="Facts", facts=_facts(outcome)))
    return render(sections, title=study.title, about=f"{count_text(len(rows), 'point')}: {said}.")


def _facts(outcome: Outcome) -> list[tuple[str, list[str]]]:
    study, rows = outcome.study, outcome.rows
    failed = sum(row["status"] != DONE for row in rows)
    facts = {"points": f"{len(rows):,}, {failed:,} of them failed"}
    facts |= {name: ", ".join(map(value_text, values)) for name, values in study.axes.items()}
    for name in study.points[0].values:
        if name not in (*study.axes, "graph"):
            facts[name] = ", ".join(sorted({value_text(each.values[name]) for each in study.points} - {""}))
    if command := outcome.plan.progress.command:
        facts |= {"command": command, "in folder": str(Path.cwd())}
    environment = run_environment()
    program = {"version": version(), "program": sources_digest(), "environment": environment}
    facts |= _inputs(outcome)
    facts |= {
        "version": version_text(program),
        "date": environment["date"],
        "computer": computer_text(environment),
    }
    return [(name, [printable(text)]) for name, text in facts.items() if text]


def _inputs(outcome: Outcome) -> dict[str, str]:
    """Return the facts about graphs, machines and memories, without the parameters that the study varies."""
    study = outcome.study
    sizes = {row["point"]: graph_text("", row["vertices"], row["edges"]) for row in outcome.rows if "edges" in row}
    found: dict[str, list[str]] = {"graphs" if "graph" in study.axes else "graph": [], "preset": [], "profile": []}
    graphs, presets, profiles = found.values()
    for point in (each.point for each in study.points):
        digest = f", SHA-256 {point.graph.digest[:16]}" if isinstance(point.graph, GraphFile) else ""
        graphs.append(f"{point.graph.label}{sizes.get(point.digest, '')}{digest}")
        spec = point.spec
        presets.append(against_preset(_fixed(study, asdict(spec.configuration)), spec.config_name))
        profiles.append(against_profile(_fixed(study, spec.profile.describe(), MEMORY), spec.memory_name))
    return {name: _listed(list(dict.fromkeys(texts))) for name, texts in found.items()}


def _listed(texts: list[str]) -> str:
    more = f"; {len(texts) - _MOST_TEXTS:,} more" if len(texts) > _MOST_TEXTS else ""
    return "; ".join(texts[:_MOST_TEXTS]) + more


def _fixed(study: SweepStudy, values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of a machine or a memory that no axis of a study varies."""
    return {name: value for name, value in values.items() if f"{prefix}{name}" not in study.axes}
