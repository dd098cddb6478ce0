"""Answers as Markdown, as HTML for notebooks, and as a page."""

import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import STACK_FORM, Answer, Table
from cyscc.host.answer.colours import CAUSE_COLOURS, STACK
from cyscc.sim.observation.causes import cause_named

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Chart

__all__ = ["markdown", "notebook", "page"]

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }}
h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }}
th, td {{ padding: 0.15rem 0.8rem 0.15rem 0; border-bottom: 1px solid #8884; vertical-align: top; }}
svg {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}</body>
</html>
"""


def markdown(answer: Answer) -> str:
    """Return an answer as Markdown, which begins with a heading."""
    facts = [f"- {_marked(name)}: {_marked(text)}" for name, text in answer.facts.items()]
    parts = [f"# {_marked(answer.title)}", "\n".join(facts)]
    for table in answer.shown():
        heads, rows, sides = _without_stacks(table)
        lines = [heads, ["---" if left else "---:" for left in sides], *rows]
        text = "\n".join(f"| {' | '.join(map(_marked, line))} |" for line in lines)
        parts += [f"## {_marked(table.heading)}", text, _marked(table.note)]
    parts += [_paragraph(each) for each in answer.said]
    return "\n\n".join(filter(None, parts)) + "\n"


def _marked(text: str) -> str:
    """Return a text as Markdown: nothing in it is markup."""
    for sign in "\\`*_|<[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split()) if "\n" in text else text


def _paragraph(sentence: str) -> str:
    return "\n".join(_marked(line.strip()) for line in sentence.splitlines())


def _without_stacks(table: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return heads, rows and sides of the columns that are texts or numbers."""
    shown = table.visible()
    kept = [place for place, (_, column, _) in enumerate(shown) if column.form != STACK_FORM]
    heads = [shown[place][1].head or "" for place in kept]
    return heads, [[row[place] for place in kept] for row in table.cells()], [shown[place][2] for place in kept]


def notebook(answer: Answer) -> str:
    """Return an answer as an HTML element."""
    return f"<div><b>{escape(answer.title)}</b>{_body(answer, 'b')}</div>"


def page(answer: Answer) -> str:
    """Return an answer as a page: one self-contained HTML file, charts included."""
    charts = "".join(f"<h2>{escape(chart.title)}</h2>{_drawn(chart)}" for chart in answer.charts.values())
    return _PAGE.format(title=escape(answer.title), body=_body(answer, "h2") + charts)


def _body(answer: Answer, heading: str) -> str:
    parts = [_html_table((), answer.facts.items(), (True, True))] if answer.facts else []
    for table in answer.shown():
        note = f"<p><i>{escape(table.note)}</i></p>" if table.note else ""
        parts.append(f"<{heading}>{escape(table.heading)}</{heading}>{_of_table(table)}{note}")
    parts += [f'<p style="white-space: pre-wrap">{escape(each)}</p>' for each in answer.said]
    return "\n".join(parts)


def _of_table(table: Table) -> str:
    shown = table.visible()
    rows: list[list[str]] = table.cells()
    stacks = {
        place: [_bar(row) for row in table.records()]
        for place, (_, column, _) in enumerate(shown)
        if column.form == STACK_FORM
    }
    heads, sides = [column.head or "" for _, column, _ in shown], [left for _, _, left in shown]
    return _html_table(heads, rows, sides, stacks)


def _html_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    sides: Sequence[bool],
    stacks: "dict[int, list[str]] | None" = None,
) -> str:
    """Return a table as HTML, in the colours of its surroundings; some columns are bars."""

    def cell(tag: str, place: int, content: str) -> str:
        return f'<{tag} style="text-align: {"left" if sides[place] else "right"}">{content}</{tag}>'

    top = "".join(cell("th", place, escape(head)) for place, head in enumerate(heads))
    body = [
        "".join(
            cell("td", place, stacks[place][number] if stacks and place in stacks else escape(text))
            for place, text in enumerate(row)
        )
        for number, row in enumerate(rows)
    ]
    head = f"<thead><tr>{top}</tr></thead>" if heads else ""
    return f"<table>{head}<tbody>{''.join(f'<tr>{each}</tr>' for each in body)}</tbody></table>"


def _bar(cycles: dict[Any, Any]) -> str:
    """Return cycles by cause as a bar."""
    whole = sum(float(cycles.get(name) or 0) for name in STACK)
    spans = [
        f'<span title="{escape(cause_named(name).title)} {share:.1%}" style="display: inline-block; height: 1em; '
        f'width: {share:.2%}; background: {CAUSE_COLOURS[name]}"></span>'
        for name in STACK
        if whole and (share := float(cycles.get(name) or 0) / whole) >= 0.001
    ]
    return f'<span style="display: inline-block; width: 20em; white-space: nowrap">{"".join(spans)}</span>'


def _drawn(chart: "Chart") -> str:
    """Return a chart as SVG."""
    from cyscc.host.output.figures import draw_plot

    file = io.BytesIO()
    draw_plot(chart.draw, file, "svg")
    return file.getvalue().decode().partition("?>")[2]
