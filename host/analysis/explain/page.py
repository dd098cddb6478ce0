"""Text and JSON of the explanation of a record."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.advice import array_text
from cyscc.host.analysis.explain.evidence import evidence_of
from cyscc.host.analysis.explain.stacks import Group, stacks
from cyscc.host.analysis.explain.terminal import Bar, Cell, letter, section, table
from cyscc.host.analysis.explain.verdict import Finding, findings_of
from cyscc.host.output.files import identity
from cyscc.host.output.text import count_text
from cyscc.host.record.colours import STACK
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, CAUSES, WORK, cause_named

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = [
    "bank_section",
    "explanation_document",
    "fifo_section",
    "head",
    "page",
    "rows_document",
    "run_document",
]

_SHOWN_CAUSE = 0.0005
"""Least share of the cycles with which a cause is listed."""

_NOT_WORK = [cause.name for cause in CAUSES if cause.name not in WORK]


def page(record: Record, rows: "pd.DataFrame", *, by: str | None, top: int) -> "list[RenderableType]":
    """Return the page of one record: its cycle stacks, hottest banks and verdict.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The selected instructions.
    by : str or None
        Grouping of an additional table of stacks, see `STACKED`; None for levels.
    top : int
        Most rows of each table.
    """
    parts = head(record, rows)
    parts += _stack_section(record, rows, "phase", top)
    if by != "phase" and (by is not None or len(rows) > 1):
        parts += _stack_section(record, rows, by or "level", top)
    parts += _cause_section(record, rows)
    parts += bank_section(record, rows, min(top, 5))
    return parts + _verdict_section(findings_of(record, rows), top)


def head(record: Record, rows: "pd.DataFrame") -> "list[RenderableType]":
    """Return the head of a page: the run, its cycles, and the share of them in the selected instructions."""
    from rich.text import Text

    document = record.document
    run, cycles = document["run"], document["cycles"]
    options = run["options"]
    changed = Overrides.of(options.get("set", {}))
    lines = [
        f"{record.folder}: {document['command']} of {run['graph']}, "
        f"{count_text(run['vertices'], 'vertex')}, {count_text(run['edges'], 'edge')}; "
        f"{changed.config_text(options['config'])}, memory {changed.memory_text(options['memory'])}"
    ]
    if record.interrupted is not None:
        lines.append(record.ending)
    parts = [f"{cycles[name]:,} {what}" for name, what in _OUTSIDE if cycles.get(name)]
    lines.append(f"{cycles['total']:,} cycles: {', '.join(parts)}")
    if len(rows) < len(record.instructions):
        taken = int(rows["cycles"].sum())
        lines.append(
            f"shown: {count_text(len(rows), 'instruction')} of {len(record.instructions):,}, {taken:,} cycles, "
            f"{taken / max(cycles['total'], 1):.1%} of the run"
        )
    return [Text(printable(line)) for line in lines]


_OUTSIDE = (
    ("instructions", "in instructions"),
    ("host", "of the host between them"),
    ("restarted", "of attempts given up"),
    ("readout", "to read the result"),
    ("unfinished", "of instructions that are not complete in the record"),
)


def largest_cause(stack: "dict[str, float] | pd.Series[Any]") -> str:
    """Return the name and share of the largest cause of a stack."""
    total = sum(float(stack[name]) for name in CAUSE_NAMES)
    if total <= 0:
        return ""
    name = max(CAUSE_NAMES, key=lambda cause: float(stack[cause]))
    return f"{name} {float(stack[name]) / total:.0%}"


def instruction_text(row: "pd.Series[Any]") -> str:
    """Return the display name of an instruction, given its row of `Record.instructions`."""
    iteration = f"iteration {row['iteration']}, " if row["iteration"] else ""
    level = f"level {row['level']}" if row["level"] >= 0 else row["phase"]
    phase = f"{row['phase']} " if row["iteration"] and row["level"] >= 0 else ""
    return f"{iteration}{phase}{level}"


def _stack_section(record: Record, rows: "pd.DataFrame", by: str, top: int) -> "list[RenderableType]":
    frame = stacks(record, rows, by)
    if by == "phase":
        phases = zip(frame["phase"], frame["part"], strict=True)
        frame = frame.drop(columns="part").assign(phase=[Group(phase, part).short for phase, part in phases])
    chosen, title = _chosen(frame, by, top)
    keys = [name for name in frame.columns if name not in {"cycles", "instructions", *CAUSE_NAMES}]
    shown = [name for name in keys if name == keys[-1] or frame[name].nunique() > 1]
    count = ["instructions"] if by in ("phase", "iteration") else []
    total = max(record.cycles, 1)
    lines: list[list[Cell]] = [
        [
            *(_cell(row[name]) for name in [*shown, *count]),
            f"{row['cycles']:,}",
            f"{row['cycles'] / total:.1%}",
            largest_cause(row),
            Bar({name: float(row[name]) for name in CAUSE_NAMES}),
        ]
        for _, row in chosen.iterrows()
    ]
    return section(title, table([*shown, *count, "cycles", "of run", "most", "stack"], lines, last=True))


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    number = int(str(value))
    return f"{number:,}" if number >= 0 else ""  # an intersection has no level


def _chosen(frame: "pd.DataFrame", by: str, top: int) -> "tuple[pd.DataFrame, str]":
    """Return the rows to show and their description: all rows, or the heaviest ones in their original order."""
    title = f"cycles by {by}"
    if len(frame) <= top:
        return frame, title
    # All intervals, and all kernels, have the same number of cycles: show those that worked least.
    heavy = by in ("phase", "level", "iteration")
    weight = frame["cycles"] if heavy else frame[_NOT_WORK].sum(axis=1)
    chosen = frame.loc[weight.nlargest(top).index].sort_index()
    of = f"the {top} {'heaviest' if heavy else 'that issue least'}"
    share = chosen["cycles"].sum() / max(frame["cycles"].sum(), 1)
    return chosen, f"{title}: {of} of {len(frame):,}, {share:.0%} of these cycles"


def _cause_section(record: Record, rows: "pd.DataFrame") -> "list[RenderableType]":
    evidence = {each.module: each for each in evidence_of(record, rows)}
    lines: list[list[Cell]] = []
    for name in STACK:
        shares = [each.share(name) for each in evidence.values()]
        if max(shares, default=0.0) >= _SHOWN_CAUSE:
            lines.append([letter(name), name, cause_named(name).title, *(f"{share:.1%}" for share in shares)])
    return section("causes, of the instructions' kernel-cycles", table(["", "cause", "", *evidence], lines, words=3))


def bank_section(record: Record, rows: "pd.DataFrame", top: int) -> "list[RenderableType]":
    """Return the section on the hottest banks: utilisation, arrays and busiest interval."""
    from rich.text import Text

    if record.memory is None:
        return section("hottest banks", Text("this memory has no banks"))
    parts: list[RenderableType] = []
    for evidence in evidence_of(record, rows):
        lines: list[list[Cell]] = []
        for bank in evidence.hottest(top):
            instruction = record.instructions.loc[bank.instruction]
            lines.append(
                [
                    f"{bank.controller}.{bank.bank}",
                    f"{bank.accesses:,}",
                    f"{bank.multiple:.1f}x",
                    f"{min(bank.use, 1):.0%}",
                    f"{bank.waiting:.0f}",
                    array_text(bank),
                    f"{instruction_text(instruction)}, cycle {bank.cycle:,}",
                ]
            )
        title = (
            f"hottest banks, {evidence.module} (controller.bank; all banks together are {evidence.banks_use:.0%} busy)"
        )
        heads = ["bank", "accesses", "of mean", "busy", "wait", "arrays", "when most"]
        parts += section(title, table(heads, lines, last=True))
    return parts


def fifo_section(record: Record, rows: "pd.DataFrame") -> "list[RenderableType]":
    """Return the section on FIFOs: high-water marks and proposed depths."""
    parts: list[RenderableType] = []
    for evidence in evidence_of(record, rows):
        lines: list[list[Cell]] = []
        for fifo in evidence.fifos:
            when = instruction_text(record.instructions.loc[fifo.instruction])
            numbers = [f"{fifo.most}", f"{fifo.most / fifo.depth:.0%}", f"{fifo.mean:.1f}"]
            advice = "full" if fifo.full else ""
            lines.append([fifo.parameter, f"{fifo.depth}", *numbers, f"{fifo.proposed}", f"{when}  {advice}".rstrip()])
        heads = ["FIFO", "depth", "most", "of depth", "mean", "try", "when most"]
        parts += section(f"FIFOs, {evidence.module}", table(heads, lines, last=True))
    return parts


def _verdict_section(findings: list[Finding], top: int) -> "list[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    lines: list[RenderableType] = []
    for finding in findings[:top]:
        title = Text()
        title.append_text(letter(finding.cause))
        title.append(f" {finding.title}", style="bold")
        title.append(f": {finding.share:.1%}, {finding.cycles:,} cycles")
        lines.append(title)
        lines.append(Padding(Text(finding.text), (0, 0, 0, 2)))
        if finding.advice:
            lines.append(Padding(Text(f"-> {finding.advice}", style="italic"), (0, 0, 0, 2)))
    if not lines:
        lines.append(Text("no cause stands out"))
    return section("verdict", *lines)


def run_document(record: Record) -> dict[str, Any]:
    """Return the description of the run."""
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


def rows_document(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows as JSON objects, with the causes as an object of their own."""
    rows: list[dict[str, Any]] = frame.drop(columns=CAUSE_NAMES).to_dict("records")
    causes = frame[CAUSE_NAMES].round(3).to_dict("records")
    return [{**row, "causes": by_cause} for row, by_cause in zip(rows, causes, strict=True)]


def explanation_document(record: Record, rows: "pd.DataFrame", by: str, *, banks: int) -> dict[str, Any]:
    """Return the explanation of one record as a JSON document.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The selected instructions.
    by : str
        Grouping of the stacks, one of `cyscc.host.analysis.explain.stacks.STACKED`.
    banks : int
        Number of hottest banks listed for each module.
    """
    modules = {}
    for evidence in evidence_of(record, rows):
        modules[evidence.module] = {
            "instructions": len(evidence.rows),
            "cycles": evidence.cycles,
            "causes": {name: round(cycles, 3) for name, cycles in evidence.stack.items()},
            "banks": [asdict(bank) for bank in evidence.hottest(banks)],
            "links": None if evidence.links is None else asdict(evidence.links),
            "fifos": [{**asdict(fifo), "proposed": fifo.proposed} for fifo in evidence.fifos],
            "latency": None if evidence.latency is None else asdict(evidence.latency),
        }
    return {
        **identity(),
        **run_document(record),
        "modules": modules,
        "by": by,
        "stacks": rows_document(stacks(record, rows, by)),
        "findings": [asdict(finding) for finding in findings_of(record, rows)],
    }
