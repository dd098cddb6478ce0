"""Display of a record: its run in a few words, its cycles, its result."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import STACK_FORM, Answer, Table
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pandas as pd

    from cyscc.host.record.reader import Record

OUTSIDE = {
    "instructions": ("in instructions", "", ""),
    "host": ("of the host between them", "host", "host"),
    "restarted": ("of attempts given up", "given up", "restarted"),
    "readout": ("to read the result", "reading out", "host"),
    "unfinished": ("of instructions that are not complete in the record", "not complete", ""),
}
"""Parts of the cycles of a run: the text in a line, the row in a table of phases, and the cause, if it has one."""

_RUNNING = [cause.name for cause in CAUSES if cause.kind != "outside"]
"""Causes of cycles in which a module runs."""


def run_question(document: Mapping[str, Any]) -> str:
    """Return what a run computes, in a few words: algorithm, graph and source."""
    run = document["run"]
    source = run["options"].get("source")
    return printable(f"{document['command']} of {run['graph']}{'' if source is None else f' from {source}'}")


def _machine(document: Mapping[str, Any]) -> str:
    """Return machine and memory of a run, with what was changed of them."""
    options = document["run"]["options"]
    changes = Overrides.of(options.get("set", {}))
    return f"{changes.config_text(str(options['config']))}, memory {changes.memory_text(str(options['memory']))}"


def graph_size(run: Mapping[str, Any]) -> str:
    """Return the size of a run's graph."""
    return f"{count_text(run['vertices'], 'vertex')}, {count_text(run['edges'], 'edge')}"


def run_subject(document: Mapping[str, Any]) -> str:
    """Return a run in a few words: what it computes, machine and memory."""
    return f"{run_question(document)} on {printable(_machine(document))}"


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
    document, run = record.document, record.document["run"]
    what = f"{record.folder}: {document['command']} of {run['graph']}, {graph_size(run)}"
    return printable(f"{what}; {_machine(document)}")


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
    facts = {
        "record": str(record.folder),
        "graph": graph_size(document["run"]),
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
