"""The report page: its sections, rendered into one HTML file."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import jinja2

from cyscc.host.analysis.explain.comparison import compare
from cyscc.host.analysis.explain.difference import conclusion
from cyscc.host.analysis.explain.explanation import fifo_table, iteration_tables
from cyscc.host.analysis.explain.groups import compare_groups, groups_conclusion, groups_of_runs
from cyscc.host.analysis.explain.iterations import iterations_of
from cyscc.host.analysis.explain.verdict import Finding, findings
from cyscc.host.analysis.report.comparison import AlignedRuns, comparison_charts
from cyscc.host.analysis.report.facts import Fact, run_names, shared_facts
from cyscc.host.analysis.report.figures import chart_sections
from cyscc.host.analysis.report.frames import Frames
from cyscc.host.answer.answer import Table
from cyscc.host.answer.charts import DARK, TEMPLATE, Chart, legend, library
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import version
from cyscc.host.record.display import run_question, run_subject
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable

_COLUMNS = 420
"""Time columns of the charts of a single run; several runs share them, each with at least `_FEWEST_COLUMNS`."""
_FEWEST_COLUMNS = 120
_LEVELS = 48
_CONFIG = {
    "displaylogo": False,
    "responsive": True,
    # A page is never uploaded.
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "sendChartToCloud"],
}


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    name, title : str
        Anchor for links; heading.
    run : str
        Name of the run that it is about; empty for all runs.
    facts : list of Fact
        A table: each row's name and its text for each run; a single text is that of all runs.
    heads : list of str
        Names of the runs as column heads of that table, if there are several.
    findings : list of Finding
        The findings of the verdict.
    tables : list of Table
        Tables, each with its notes below it; those without rows are left out.
    texts : list of str
        Paragraphs.
    charts : list of Chart
        The charts.
    record : str
        Folder of the run's record, quoted for a shell; empty for all runs.
    """

    name: str
    title: str
    run: str = ""
    facts: list[Fact] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    record: str = ""


def _of_run(record: Record, number: int, name: str, *, columns: int) -> list[Section]:
    """Return the sections of one run."""
    run = f"run{number}"
    record.select()
    frames = Frames(record, columns=columns, levels=_LEVELS)

    def section(what: str, title: str, charts: Sequence[Chart] = (), **more: Any) -> Section:
        own = [chart.of_run(run) for chart in charts]
        return Section(
            name=f"{run}-{what}", title=title, run=name, record=shlex.quote(str(record.folder)), charts=own, **more
        )

    found = [section("verdict", "Verdict", findings=findings(record))]
    if (iterations := iterations_of(record)) is not None:
        shown = [each for each in iteration_tables(record, iterations).values() if each.columns]
        found.append(section("components", "Iterations", tables=shown))
    for what, title, charts in chart_sections(frames):
        tables = [fifo_table(record, frames.fifos)] if what == "fifos" else []
        found.append(section(what, title, charts, tables=tables))
    return found


def _conclusions(records: Sequence[Record]) -> list[str]:
    """Return the conclusions on several runs: of groups, if some differ only in their inputs, else of each run."""
    try:
        groups = groups_of_runs(records)
        if len(groups) < len(records) and len(records) > 2:
            return [" ".join(groups_conclusion(groups, compare_groups(groups)))]
    except InputError:
        pass  # They form no groups.
    return [" ".join(conclusion(compare(records[0], record))) for record in records[1:]]


def sections(records: Sequence[Record], *, on_run: Callable[[int], None] | None = None) -> list[Section]:
    """Return the sections of the page.

    Parameters
    ----------
    records : sequence of Record
        The runs; several are compared with the first one.
    on_run : callable, optional
        Called after each run with the number of runs done.
    """
    names = run_names(records)
    columns = max(_FEWEST_COLUMNS, _COLUMNS // len(records))
    heads = names if len(names) > 1 else []
    facts = Section(name="facts", title="Facts", facts=shared_facts(records), heads=heads)
    found = []
    if len(records) > 1:
        charts = comparison_charts(AlignedRuns(records, most=_LEVELS // 2), names)
        found = [Section(name="comparison", title="Comparison", texts=_conclusions(records), charts=charts), facts]
    for number, (record, name) in enumerate(zip(records, names, strict=True)):
        found += _of_run(record, number, name, columns=columns)
        if on_run is not None:
            on_run(number + 1)
    # Those on one run follow all that is said on it.
    return found if len(records) > 1 else [*found, facts]


def _code(text: str) -> str:
    """Return JavaScript that is safe inside a script element: no string in it ends the element or begins a comment."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _json(value: object) -> str:
    """Return a value as JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _about(records: Sequence[Record]) -> str:
    """Return the description of a page: the run, or what several have in common, and what the page says about them."""
    if len(records) == 1:
        return f"{run_subject(records[0].document)}: where its {records[0].cycles:,} cycles went, and why."
    questions = {run_question(record.document) for record in records}
    commands = {record.document["command"] for record in records}
    common = next((f" of {what}" for kind in (questions, commands) if len(kind) == 1 for what in kind), "")
    return f"{len(records)} runs{common}, each compared with the first: where their cycles went, and why."


def page(records: Sequence[Record], *, on_run: Callable[[int], None] | None = None) -> str:
    """Return the report on some runs as a self-contained HTML page.

    Parameters
    ----------
    records, on_run
        As of `sections`.

    Raises
    ------
    cyscc.host.output.errors.InputError
        A record cannot be read.
    """
    names = run_names(records)
    return render(
        sections(records, on_run=on_run),
        title=" and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} others",
        about=_about(records),
        several=len(records) > 1,
    )


def render(made: Sequence[Section], *, title: str, about: str, several: bool = False) -> str:
    """Return sections as a self-contained HTML page.

    Parameters
    ----------
    made : sequence of Section
        The sections; those of a run are adjacent.
    title, about : str
        Heading and description of the page.
    several : bool
        Whether the sections are grouped under headings of their runs.
    """
    here = files("cyscc.host.analysis.report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["printable"] = printable
    # JSON that is safe inside a script element.
    environment.filters["chart"] = lambda chart: chart.data.replace("<", "\\u003c")
    environment.filters["points"] = lambda points: json.dumps(points, separators=(",", ":"))
    template = environment.from_string((here / "page.html").read_text(encoding="utf-8"))
    runs = list(dict.fromkeys(section.run for section in made))
    causes, phases = legend(chart for section in made for chart in section.charts)
    return template.render(
        title=title,
        about=about,
        runs=[(run, [section for section in made if section.run == run]) for run in runs],
        several=several,
        causes=causes,
        phases=phases,
        version=version(),
        style=(here / "page.css").read_text(encoding="utf-8"),
        behaviour=_code((here / "page.js").read_text(encoding="utf-8")),
        library=_code(library()),
        config=_json(_CONFIG),
        dark=_json(DARK),
        template=_json(TEMPLATE.to_plotly_json()),
    )
