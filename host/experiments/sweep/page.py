"""The page of a sweep: facts, the answer's tables, and charts of what each parameter does, area and causes."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cyscc.host.analysis.report.facts import against_preset, against_profile, computer_text, version_text
from cyscc.host.analysis.report.page import Section, render
from cyscc.host.answer.answer import Table
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.plan.plan import RESULTS
from cyscc.host.experiments.sweep.charts import area_chart, causes_chart, matrix_chart, parameter_chart, search_chart
from cyscc.host.experiments.sweep.definition import SweepStudy, value_text
from cyscc.host.experiments.sweep.rows import DONE, effects
from cyscc.host.experiments.sweep.search import Outcome
from cyscc.host.output.files import version
from cyscc.host.output.text import count_text, graph_text
from cyscc.host.record.tables import MODULES
from cyscc.host.runs.environment import run_environment
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.overrides import MEMORY
from cyscc.sim.notices import printable

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
        "effects": [parameter_chart(study, rows, each.name) for each in effects(study, rows)],
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
