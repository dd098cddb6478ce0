"""The page of a sweep: its points, the effect of each parameter, and cycles against area."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cyscc.host.analysis.report.charts import Chart, bar_rows, new_figure
from cyscc.host.analysis.report.facts import against_preset, against_profile, computer_text, version_text
from cyscc.host.analysis.report.page import Section, render
from cyscc.host.answer.colours import RUN_COLOURS, STACK
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.sweep.definition import SweepStudy, is_logarithmic, is_ordered, is_wide, value_text
from cyscc.host.experiments.sweep.rows import (
    DONE,
    Effect,
    Row,
    best_by_input,
    best_rows,
    best_so_far,
    pareto,
    setting_effects,
    shares,
    study_effects,
)
from cyscc.host.output.files import version
from cyscc.host.output.text import count_text, graph_text
from cyscc.host.record.tables import MODULES
from cyscc.host.runs.environment import run_environment
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.overrides import MEMORY
from cyscc.sim.notices import printable

__all__ = ["sweep_page"]

_MOST_LINES = 24
_MOST_BARS = 60
_LEGEND = 70
"""Letters beside each other in a legend, on a narrow page."""
_MOST_TEXTS = 8
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_DASHES = ("solid", "dash", "dot", "dashdot")


def sweep_page(study: SweepStudy, rows: Sequence[Row], *, command: str = "") -> str:
    """Return the page of a sweep as self-contained HTML.

    Parameters
    ----------
    study : SweepStudy
        The study.
    rows : sequence of Row
        The rows of its points.
    command : str
        The command that made it, if one did.
    """
    done = [row for row in rows if row["status"] == DONE]
    sections = [Section(name="facts", title="Facts", facts=_facts(study, rows, command))]
    if study.search is not None:
        charts = [
            _best(study, rows, name) for name in study.search.minimise if any(row["within_budget"] for row in rows)
        ]
        sections.append(Section(name="search", title="Search", facts=_best_facts(study, rows), charts=charts))
    found = study_effects(study, rows)
    if found:
        settings = setting_effects(study, rows)
        charts = [_factors(settings)] if settings else []
        charts += [_effect(study, number, each) for number, each in enumerate(found)]
        sections.append(Section(name="effects", title="Effects", charts=charts))
    charts = [_front(study, done, name) for name in AREA if done and name in done[0]]
    if charts:
        sections.append(Section(name="pareto", title="Cycles and area", charts=charts))
    charts = [chart for module in MODULES if (chart := _causes(study, done, module)) is not None]
    if charts:
        sections.append(Section(name="causes", title="Causes", charts=charts))
    sections.append(_points(study, rows))
    failed = [(_name(study, row), [row["reason"]]) for row in rows if row["status"] != DONE]
    if failed:
        sections.append(Section(name="failures", title="Failures", facts=failed))
    said = "what each parameter does while the others stay as they are"
    if study.search is not None:
        said = f"chosen one batch after the other, for {study.search.text()}"
    about = f"{count_text(len(rows), 'point')}: {said}."
    return render(sections, title=study.title, about=about)


def _name(study: SweepStudy, row: Row) -> str:
    return study.label(row) or study.name


def _facts(study: SweepStudy, rows: Sequence[Row], command: str) -> list[tuple[str, list[str]]]:
    done = [row for row in rows if row["status"] == DONE]
    facts = [("points", f"{len(rows):,}, {len(rows) - len(done):,} of them failed")]
    facts += [(name, ", ".join(value_text(value) for value in values)) for name, values in study.axes.items()]
    fixed = [name for name in study.points[0].values if name not in (*study.axes, "graph")]
    for name in fixed:
        values = {value_text(each.values[name]) for each in study.points}
        facts.append((name, ", ".join(sorted(values - {""}))))
    for best in best_by_input(study, rows):
        settings = study.label(best, study.settings)
        facts.append((f"fewest cycles{best['input'] and ': '}{best['input']}", f"{best['cycles']:,}: {settings}"))
    if command:
        facts += [("command", command), ("in folder", str(Path.cwd()))]
    facts += _input_facts(study, done)
    environment = run_environment()
    program = {"version": version(), "program": sources_digest(), "environment": environment}
    facts += [
        ("version", version_text(program)),
        ("date", environment["date"]),
        ("computer", computer_text(environment)),
    ]
    return [(name, [printable(text)]) for name, text in facts if text]


def _input_facts(study: SweepStudy, done: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the facts about graphs, machines and memories, without the parameters that the study varies."""
    specs = [each.point.spec for each in study.points]
    graphs = [each.point.graph for each in study.points]
    sizes = {row["point"]: graph_text("", row["vertices"], row["edges"]) for row in done if "edges" in row}
    found = {
        "graphs" if "graph" in study.axes else "graph": [
            f"{graph.label}{sizes.get(each.point.digest, '')}"
            + (f", SHA-256 {graph.digest[:16]}" if isinstance(graph, GraphFile) else "")
            for each, graph in zip(study.points, graphs, strict=True)
        ],
        "preset": [against_preset(_fixed(study, asdict(spec.configuration)), spec.config_name) for spec in specs],
        "profile": [
            against_profile(_fixed(study, spec.profile.describe(), MEMORY), spec.memory_name) for spec in specs
        ],
    }
    facts = []
    for name, texts in found.items():
        shown = list(dict.fromkeys(texts))
        more = f"; {len(shown) - _MOST_TEXTS:,} more" if len(shown) > _MOST_TEXTS else ""
        facts.append((name, "; ".join(shown[:_MOST_TEXTS]) + more))
    return facts


def _fixed(study: SweepStudy, values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of a machine or a memory that no axis of a study varies."""
    return {name: value for name, value in values.items() if f"{prefix}{name}" not in study.axes}


def _points(study: SweepStudy, rows: Sequence[Row]) -> Section:
    """Return the section with the table of points."""
    area = [title for name, title in AREA.items() if rows and name in rows[0]]
    heads = ["cycles", "GTEPS", *area, "folder"]
    facts = [(_name(study, row), [*_results(row), f"points/{row['point']}"]) for row in rows]
    return Section(name="points", title="Points", facts=facts, heads=heads)


def _results(row: Row) -> list[str]:
    """Return a point's results as texts."""
    area = [name for name in AREA if name in row]
    if row["status"] != DONE:
        return [row["status"], "", *("" for _ in area)]
    return [f"{row['cycles']:,}", f"{row['gteps']:.3f}", *(f"{row[name]:,}" for name in area)]


def _best_facts(study: SweepStudy, rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """Return the aim of a search, and its best points: the Pareto front of several results."""
    options = study.search
    assert options is not None, "the study searches"
    results = dict.fromkeys((*options.minimise, *options.budget))
    within = sum(row["within_budget"] for row in rows)
    facts = [("aim", options.text()), ("within the budget", f"{within:,} of {len(rows):,}")]
    facts += [
        (_name(study, row), ", ".join(f"{row[name]:,} {AREA.get(name, name)}" for name in results))
        for row in best_rows(study, rows)
    ]
    return [(name, [text]) for name, text in facts]


def _best(study: SweepStudy, rows: Sequence[Row], name: str) -> Chart:
    """Return the chart of a result by the number of points, with the best one so far."""
    title = AREA.get(name, name)
    figure = new_figure(height=420, x="points", y=title)
    numbers = list(range(1, len(rows) + 1))
    kept = "within the budget" if study.search is not None and study.search.budget else "point"
    within = {True: (kept, "#868680"), False: ("over the budget", RUN_COLOURS[2])}
    for inside, (text, colour) in within.items():
        shown = [(number, row) for number, row in zip(numbers, rows, strict=True) if row["within_budget"] == inside]
        shown = [(number, row) for number, row in shown if row.get(name) is not None]
        if shown:
            figure.add_scatter(
                x=[number for number, _ in shown],
                y=[row[name] for _, row in shown],
                mode="markers",
                name=text,
                marker={"color": colour, "size": 8},
                text=[_name(study, row) for _, row in shown],
                hovertemplate=f"%{{text}}<br>point %{{x}}: %{{y:,}} {title}<extra></extra>",
            )
    figure.add_scatter(
        x=numbers,
        y=best_so_far(rows, name),
        mode="lines",
        name="best so far",
        line={"color": RUN_COLOURS[1], "shape": "hv"},
        hovertemplate=f"after %{{x}} points: %{{y:,}} {title}<extra></extra>",
    )
    about = "The points in the order in which they were chosen."
    return Chart(name=f"best-{name}", title=f"Least {title} by number of points", about=about, figure=figure)


def _factors(found: Sequence[Effect]) -> Chart:
    """Return the chart of each parameter's effect factor."""
    figure = new_figure(height=120 + 36 * len(found), x="cycles of its worst value / cycles of its best")
    figure.add_scatter(
        y=[each.name for each in found],
        x=[each.factor for each in found],
        mode="markers+text",
        marker={"color": RUN_COLOURS[0], "size": 11},
        text=[f"{each.factor:.2f}, best: {value_text(each.best)}" for each in found],
        textposition="middle right",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
    # Names of values stand to the right of the points, those of parameters to the left.
    width = max(0.1, 1.5 * (max(each.factor for each in found) - 1))
    figure.update_xaxes(range=[1 - 0.04 * width, 1 + width])
    figure.update_yaxes(autorange="reversed", type="category", automargin=True)
    about = (
        "For each parameter, how many times the cycles of the best value those of the worst are while the others stay "
        "as they are: the geometric average over all of their values. 1 is no effect."
    )
    return Chart(name="effect-factors", title="What each parameter decides", about=about, figure=figure)


def _effect(study: SweepStudy, number: int, effect: Effect) -> Chart:
    """Return the chart of cycles by value of a parameter; values without an order are not joined by lines."""
    figure = new_figure(height=420, x=effect.name, y="cycles")
    shown = effect.series[:_MOST_LINES]
    values = list(dict.fromkeys(value for each in shown for value in each.values))
    ordered = is_ordered(effect.name, values)
    others, longest = [name for name in study.axes if name != effect.name], 0
    labels = study.labels[effect.name]
    cycles = [count for each in shown for count in each.cycles]
    for place, each in enumerate(shown):
        name = study.label(each.rows[0], others) or "cycles"
        longest = max(longest, len(name))
        points = sorted(zip(each.values, each.rows, strict=True), key=lambda point: point[0] if ordered else 0)
        figure.add_scatter(
            x=[value if ordered else labels[value] for value, _ in points],
            y=[row["cycles"] for _, row in points],
            mode="lines+markers" if ordered else "markers",
            name=name,
            line={"color": RUN_COLOURS[place % len(RUN_COLOURS)], "dash": _DASHES[place // len(RUN_COLOURS)]},
            marker={"symbol": _SYMBOLS[place // len(RUN_COLOURS)], "size": 8},
            customdata=[[row["gteps"]] for _, row in points],
            hovertemplate=f"{name}<br>%{{x}}: %{{y:,}} cycles, %{{customdata[0]:.3f}} GTEPS<extra></extra>",
        )
    if ordered:
        values.sort()
        scale = "log" if is_logarithmic(values) else "linear"
        figure.update_xaxes(type=scale, tickvals=values, ticktext=[f"{value:,}" for value in values])
    else:
        figure.update_xaxes(type="category", categoryorder="array", categoryarray=list(labels.values()))
        figure.update_layout(scattermode="group")  # points of other colours would hide each other
    if is_wide(cycles):
        figure.update_yaxes(type="log")
    else:
        figure.update_yaxes(rangemode="tozero")
    legend = 20 * -(-len(shown) // max(_LEGEND // (longest + 6), 1))
    figure.update_layout(height=420 + legend, showlegend=len(shown) > 1, legend={"maxheight": legend + 40})
    kind = "line" if ordered else "colour"
    about = f"Points of a {kind} have everything else in common."
    if len(effect.series) > len(shown):
        about += f" The first {len(shown)} of {len(effect.series)} {kind}s."
    return Chart(name=f"effect-{number}", title=effect.name, about=about, figure=figure)


def _causes(study: SweepStudy, points: Sequence[Row], module: str) -> Chart | None:
    """Return the chart of the kernels' cycles by cause at each point; None if no point has kernels of this module."""
    chosen = sorted((row for row in points if shares(row, module)), key=lambda row: row["cycles"])
    shown = chosen[:_MOST_BARS]
    if not shown:
        return None
    figure = new_figure(height=180 + 22 * len(shown), x="share of the cycles of all kernels")
    names = [_name(study, row) for row in shown]
    parts = {cause: [shares(row, module)[cause] for row in shown] for cause in STACK}
    bar_rows(figure, names, parts, form="%{y}<br>%{cause}: %{x:.1%}<extra></extra>")
    figure.update_yaxes(automargin=True)
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    about = "The points by their cycles, the fewest first."
    if len(chosen) > len(shown):
        about += f" The first {len(shown)} of {len(chosen)}."
    return Chart(name=f"causes-{module}", title=f"Cycles of the {module} kernels", about=about, figure=figure)


def _front(study: SweepStudy, rows: Sequence[Row], column: str) -> Chart:
    """Return the chart of cycles against a column of area, with the Pareto front."""
    title = AREA[column]
    figure = new_figure(height=460, x=f"{title}, all AEs", y="cycles")
    all_points = {"name": "all points", "mode": "markers", "marker": {"color": "#868680", "size": 8}}
    best = {
        "name": "no other point has fewer cycles and takes no more",
        "mode": "lines+markers",
        "line": {"color": RUN_COLOURS[1], "shape": "vh"},
        "marker": {"size": 10},
    }
    for shown, looks in ((rows, all_points), (pareto(rows, column), best)):
        figure.add_scatter(
            x=[row[column] for row in shown],
            y=[row["cycles"] for row in shown],
            text=[_name(study, row) for row in shown],
            hovertemplate=f"%{{text}}<br>%{{y:,}} cycles, %{{x:,}} {title}<extra></extra>",
            **looks,
        )
    budget = {} if study.search is None else study.search.budget
    if column in budget:
        figure.add_vline(x=budget[column], line={"color": RUN_COLOURS[2], "dash": "dash"}, annotation_text="budget")
    about = f"Cycles of each point against the {title} of its machine, as synthesised for a Virtex-5."
    return Chart(name=f"pareto-{column}", title=f"Cycles against {title}", about=about, figure=figure)
