"""Answers as Markdown, as HTML for notebooks, and as a page."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from cyscc.host.answer.answer import Answer, Grid
from cyscc.host.answer.colours import CAUSE_COLOURS, STACK
from cyscc.sim.observation.causes import cause_named


def markdown(answer: Answer) -> str:
    """Return an answer as Markdown, which begins with a heading."""
    facts = [f"- {_marked(name)}: {_marked(text)}" for name, text in answer.facts.items()]
    parts = [f"# {_marked(answer.title)}", "\n".join(facts)]
    for table in answer.shown():
        heads, left, rows = table.grid(stacks=False)
        lines = [heads, ["---" if each else "---:" for each in left], *rows]
        text = "\n".join(f"| {' | '.join(_marked(str(cell)) for cell in line)} |" for line in lines)
        parts += [f"## {_marked(table.heading)}", text, _marked(table.note)]
    parts += ["\n".join(_marked(line.strip()) for line in each.splitlines()) for each in answer.said]
    return "\n\n".join(filter(None, parts)) + "\n"


def _marked(text: str) -> str:
    """Return a text as Markdown: nothing in it is markup."""
    for sign in "\\`*_|<[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split()) if "\n" in text else text


def notebook(answer: Answer) -> str:
    """Return an answer as an HTML element."""
    return f"<div><b>{escape(answer.title)}</b>{_body(answer, 'b')}</div>"


def page(answer: Answer) -> str:
    """Return an answer as a page: one self-contained HTML file, charts included."""
    charts = ""
    if answer.charts:
        from cyscc.host.answer.static import svg

        charts = "".join(f"<h2>{escape(chart.title)}</h2>{svg(chart.draw())}" for chart in answer.charts.values())
    frame = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return frame.format(title=escape(answer.title), body=_body(answer, "h2") + charts)


def _body(answer: Answer, heading: str) -> str:
    parts = [_html_table(answer.grid())] if answer.facts else []
    for table in answer.shown():
        note = f"<p><i>{escape(table.note)}</i></p>" if table.note else ""
        parts.append(f"<{heading}>{escape(table.heading)}</{heading}>{_html_table(table.grid())}{note}")
    parts += [f'<p style="white-space: pre-wrap">{escape(each)}</p>' for each in answer.said]
    return "\n".join(parts)


def _html_table(grid: Grid) -> str:
    """Return rows as HTML, in the colours of their surroundings."""

    def line(tag: str, cells: Sequence[str | Mapping[str, Any]]) -> str:
        made = [
            f'<{tag} style="text-align: {"left" if left else "right"}">'
            f"{escape(cell) if isinstance(cell, str) else _bar(cell)}</{tag}>"
            for left, cell in zip(grid.left, cells, strict=True)
        ]
        return f"<tr>{''.join(made)}</tr>"

    head = f"<thead>{line('th', grid.heads)}</thead>" if grid.heads else ""
    return f"<table>{head}<tbody>{''.join(line('td', row) for row in grid.rows)}</tbody></table>"


def _bar(cycles: Mapping[str, Any]) -> str:
    """Return cycles by cause as a bar."""
    whole = sum(float(cycles.get(name) or 0) for name in STACK)
    spans = [
        f'<span title="{escape(cause_named(name).title)} {share:.1%}" style="display: inline-block; height: 1em; '
        f'width: {share:.2%}; background: {CAUSE_COLOURS[name]}"></span>'
        for name in STACK
        if whole and (share := float(cycles.get(name) or 0) / whole) >= 0.001
    ]
    return f'<span style="display: inline-block; width: 20em; white-space: nowrap">{"".join(spans)}</span>'
