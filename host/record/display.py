"""Display of a record: its run in a few words, its cycles, its result."""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import STACK_FORM, Answer, Table
from cyscc.host.answer.colours import CAUSE_COLOURS, STACK
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSES, cause_named

if TYPE_CHECKING:
    import pandas as pd

    from cyscc.host.record.reader import Record

__all__ = [
    "OUTSIDE",
    "cycles_text",
    "instruction_text",
    "record_answer",
    "record_title",
    "result_facts",
    "run_document",
    "run_question",
    "run_subject",
    "selection_facts",
    "stack_html",
]

OUTSIDE = {
    "instructions": ("in instructions", "", ""),
    "host": ("of the host between them", "host", "host"),
    "restarted": ("of attempts given up", "given up", "restarted"),
    "readout": ("to read the result", "reading out", "host"),
    "unfinished": ("of instructions that are not complete in the record", "not complete", ""),
}
"""Parts of the cycles of a run: the text in a line, the row in a table of phases, and the cause, if it has one."""

_WIDTH, _ROW, _LEFT = 720, 26, 90
"""Width of the cycle stack, height of a row, and room for its name, in pixels."""
_RUNNING = [cause.name for cause in CAUSES if cause.kind != "outside"]
"""Causes of cycles in which a module runs."""
_NAMED = 0.005
"""Least share of a module's cycles with which a cause is named below the stack."""


def run_question(document: Mapping[str, Any]) -> str:
    """Return what a run computes, in a few words: algorithm, graph and source."""
    run = document["run"]
    source = run["options"].get("source")
    return printable(f"{document['command']} of {run['graph']}{'' if source is None else f' from {source}'}")


def run_subject(document: Mapping[str, Any]) -> str:
    """Return a run in a few words: what it computes, machine and memory."""
    options = document["run"]["options"]
    changes = Overrides.of(options.get("set", {}))
    machine, memory = changes.config_text(str(options["config"])), changes.memory_text(str(options["memory"]))
    return f"{run_question(document)} on {printable(machine)}, memory {printable(memory)}"


def result_facts(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about the result of a run, as texts by name; none of a run that did not end."""
    result = document.get("result")
    if result is None:
        return {}
    components = ""
    if "components" in result and "iterations" in result:
        components = f"{result['components']['count']:,}, in {count_text(result['iterations'], 'iteration')}"
    facts = {
        "simulated time": f"{result['seconds'] * 1e3:,.3f} ms at {document['clock_hz'] / 1e6:g} MHz",
        "cycles of the run": f"{result['cycles']['total']:,}",
        "throughput": f"{result['gteps']:.3f} GTEPS ({count_text(result['edges_traversed'], 'edge')} traversed)",
        "components": components,
        "verified": "yes" if result["verified"] else "not checked",
    }
    return {name: text for name, text in facts.items() if text}


def record_title(record: "Record") -> str:
    """Return a recorded run in a line: its folder, what it computes, graph, machine and memory."""
    run, options = record.document["run"], record.document["run"]["options"]
    changed = Overrides.of(options.get("set", {}))
    return printable(
        f"{record.folder}: {record.document['command']} of {run['graph']}, "
        f"{count_text(run['vertices'], 'vertex')}, {count_text(run['edges'], 'edge')}; "
        f"{changed.config_text(options['config'])}, memory {changed.memory_text(options['memory'])}"
    )


def cycles_text(record: "Record") -> str:
    """Return the cycles of a recorded run, and where they were."""
    cycles = record.document["cycles"]
    parts = [f"{cycles[name]:,} {what}" for name, (what, *_) in OUTSIDE.items() if cycles.get(name)]
    return f"{cycles['total']:,}: {', '.join(parts)}"


def selection_facts(record: "Record", rows: "pd.DataFrame") -> dict[str, str]:
    """Return the facts about a recorded run's cycles, and which of its instructions are selected."""
    facts = {"ending": record.ending, "cycles": cycles_text(record)}
    if len(rows) < len(record.instructions):
        taken = int(rows["cycles"].sum())
        facts["shown"] = (
            f"{count_text(len(rows), 'instruction')} of {len(record.instructions):,}, {taken:,} cycles, "
            f"{taken / max(record.cycles, 1):.1%} of the run"
        )
    return {name: printable(text) for name, text in facts.items() if text}


def instruction_text(row: "pd.Series[Any]") -> str:
    """Return the display name of an instruction, given its row of `Record.instructions`."""
    iteration = f"iteration {row['iteration']}, " if row["iteration"] else ""
    level = f"level {row['level']}" if row["level"] >= 0 else row["phase"]
    phase = f"{row['phase']} " if row["iteration"] and row["level"] >= 0 else ""
    return f"{iteration}{phase}{level}"


def run_document(record: "Record") -> dict[str, Any]:
    """Return the description of a recorded run, for documents on it."""
    document = record.document
    return {
        "record": str(record.folder),
        "command": document["command"],
        "run": document["run"],
        "machine": document["machine"],
        "cycles": document["cycles"],
        **({} if record.interrupted is None else {"interrupted": record.interrupted}),
        **({} if record.failed is None else {"failed": record.failed}),
    }


def record_answer(record: "Record") -> Answer:
    """Return a record as an answer: its run, its result, and the cycles of its kernels by cause."""
    import pandas as pd

    document = record.document
    run = document["run"]
    facts = {
        "record": str(record.folder),
        "graph": f"{count_text(run['vertices'], 'vertex')}, {count_text(run['edges'], 'edge')}",
        "ending": record.ending,
        **result_facts(document),
        "date": document.get("environment", {}).get("date", ""),
    }
    causes: Mapping[str, Mapping[str, int]] = document.get("causes", {})
    ran = [{"module": name, **its} for name, its in causes.items() if any(its.get(cause) for cause in _RUNNING)]
    return Answer(
        title=run_subject(document),
        facts={name: printable(text) for name, text in facts.items() if text},
        tables={
            "causes": Table(
                title="cycles of the kernels by cause",
                frame=pd.DataFrame(ran),
                columns={"module": "{}", "stack": STACK_FORM},
            )
        },
        fields=run_document(record),
    )


def stack_html(document: Mapping[str, Any]) -> str:
    """Return the cycle stack of each module that ran as an SVG element, with a legend; empty if the run did not end."""
    causes: Mapping[str, Mapping[str, int]] = document.get("causes", {})
    shown = {module: its for module, its in causes.items() if any(its.get(cause) for cause in _RUNNING)}
    if not shown:
        return ""
    totals = {module: sum(its.values()) for module, its in shown.items()}
    parts = []
    for row, (module, its) in enumerate(shown.items()):
        parts.append(f'<text x="0" y="{row * _ROW + 16}">{escape(module)}</text>')
        begin = float(_LEFT)
        for cause in STACK:
            share = its.get(cause, 0) / totals[module]
            width = share * (_WIDTH - _LEFT)
            if not width:
                continue
            title = f"{cause_named(cause).title}: {share:.1%}, {its[cause]:,} kernel-cycles"
            parts.append(
                f'<rect x="{begin:.1f}" y="{row * _ROW}" width="{width:.1f}" height="{_ROW - 4}" stroke="#6b7078" '
                f'stroke-width="0.3" fill="{CAUSE_COLOURS[cause]}"><title>{escape(title)}</title></rect>'
            )
            begin += width
    svg = (
        f'<svg width="{_WIDTH}" height="{_ROW * len(shown)}" viewBox="0 0 {_WIDTH} {_ROW * len(shown)}" '
        f'font-size="13" fill="currentColor" style="max-width: 100%" role="img" '
        f'aria-label="cycles of the kernels by cause">{"".join(parts)}</svg>'
    )
    names = [
        f'<span style="white-space: nowrap; margin-right: 1.2em"><span style="color: {CAUSE_COLOURS[cause]}; '
        f'-webkit-text-stroke: 0.3px #6b7078">&#9632;</span> {escape(cause_named(cause).title)}: '
        f"{', '.join(f'{share:.0%}' for share in shares)}</span>"
        for cause in STACK
        if max(shares := [its.get(cause, 0) / totals[module] for module, its in shown.items()], default=0) >= _NAMED
    ]
    of = f" ({', '.join(shown)})" if len(shown) > 1 else ""
    return f"<div>cycles of the kernels by cause{of}:</div>{svg}<div>{' '.join(names)}</div>"
