"""Text and JSON of the explanation of a record."""

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.evidence import NEAR_FULL, Evidence, evidence_of
from cyscc.host.analysis.explain.iterations import IterationGroup, Iterations, iterations_of
from cyscc.host.analysis.explain.observations import BUSY, CROWDED, array_text
from cyscc.host.analysis.explain.stacks import Group, stacks
from cyscc.host.analysis.explain.terminal import Bar, Cell, Noted, letter, section, table
from cyscc.host.analysis.explain.verdict import WHOLE, Finding, bound_of, bounds, findings_of
from cyscc.host.output.files import identity
from cyscc.host.output.text import count_text, plain_table
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
    "iteration_tables",
    "no_hot_bank",
    "numbers_text",
    "page",
    "rows_document",
    "run_document",
]

_LEVEL_BAR = 20
"""Longest bar in the table of levels, which leaves room for what bounds each."""
_SHOWN_CAUSE = 0.0005
"""Least share of the cycles with which a cause is listed."""

_NOT_WORK = [cause.name for cause in CAUSES if cause.name not in WORK]


def page(record: Record, rows: "pd.DataFrame", *, by: str | None, top: int) -> "list[RenderableType]":
    """Return the page of one record: its cycle stacks, iterations, hottest banks and verdict.

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
    iterations = iterations_of(record) if len(rows) == len(record.instructions) else None
    if iterations is not None:
        parts += _iteration_sections(record, iterations)
    parts += _cause_section(record, rows)
    parts += bank_section(record, rows, min(top, 5))
    return parts + _verdict_section(record, findings_of(record, rows), top, whole=len(rows) == len(record.instructions))


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
    parts = [f"{cycles[name]:,} {what}" for name, (what, *_) in _OUTSIDE.items() if cycles.get(name)]
    lines.append(f"{cycles['total']:,} cycles: {', '.join(parts)}")
    if len(rows) < len(record.instructions):
        taken = int(rows["cycles"].sum())
        lines.append(
            f"shown: {count_text(len(rows), 'instruction')} of {len(record.instructions):,}, {taken:,} cycles, "
            f"{taken / max(cycles['total'], 1):.1%} of the run"
        )
    return [Text(printable(line)) for line in lines]


_OUTSIDE = {
    "instructions": ("in instructions", "", ""),
    "host": ("of the host between them", "host", "host"),
    "restarted": ("of attempts given up", "given up", "restarted"),
    "readout": ("to read the result", "reading out", "host"),
    "unfinished": ("of instructions that are not complete in the record", "not complete", ""),
}
"""Parts of the cycles of a run: the text in the head, the row in the table of phases, and the cause, if it has one."""


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
    frame, keys, count = _stacks(record, rows, by)
    chosen, title = _chosen(frame, by, top)
    total = max(record.cycles, 1)
    lines: list[list[Cell]] = []
    for _, row in chosen.iterrows():
        stack = Bar({name: float(row[name]) for name in CAUSE_NAMES}, longest=_LEVEL_BAR if by == "level" else None)
        cells: list[Cell] = [*(_cell(row[name]) for name in [*keys, *count]), *_cycles(row["cycles"], total)]
        bound = bound_of(record, _row_of(rows, row)) if by == "level" else largest_cause(row)
        lines.append([*cells, stack, bound] if by == "level" else [*cells, bound, stack])
    if by == "phase" and len(rows) == len(record.instructions):
        lines += _outside_rows(record, len(keys) - 1 + len(count))
    heads = ["stack", "bound by, of the level"] if by == "level" else ["most", "stack"]
    shown = [*keys, *count, "cycles", "of run", *heads]
    return section(title, Noted(shown, lines) if by == "level" else table(shown, lines, last=True))


def numbers_text(record: Record, rows: "pd.DataFrame", by: str, top: int | None) -> str:
    """Return the stacks as a table of numbers: cycles of an average kernel by cause, which add up to a row's.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The selected instructions.
    by : str
        Grouping of the rows, see `STACKED`.
    top : int or None
        Most rows; None for all.
    """
    frame, keys, count = _stacks(record, rows, by)
    chosen, title = _chosen(frame, by, len(frame) if top is None else top)
    causes = [name for name in STACK if (chosen[name] > 0).any()]
    total = max(record.cycles, 1)
    lines = [
        [
            *(_cell(row[name]) for name in [*keys, *count]),
            *_cycles(row["cycles"], total),
            *(f"{row[name]:,.0f}" for name in causes),
        ]
        for row in chosen.to_dict("records")
    ]
    words = [place for place, name in enumerate(keys) if isinstance(chosen[name].iloc[0], str)]
    text = plain_table(lines, head=[*keys, *count, "cycles", "of run", *causes], words=words)
    return f"\n{title}, causes in cycles of an average kernel\n{text.rstrip()}"


def _stacks(record: Record, rows: "pd.DataFrame", by: str) -> "tuple[pd.DataFrame, list[str], list[str]]":
    """Return the stacks of a grouping, the names of its key columns that are shown, and those of counts."""
    frame = stacks(record, rows, by)
    if by == "phase":
        phases = zip(frame["phase"], frame["part"], strict=True)
        frame = frame.drop(columns="part").assign(phase=[Group(phase, part).short for phase, part in phases])
    keys = [name for name in frame.columns if name not in {"cycles", "instructions", *CAUSE_NAMES}]
    shown = [name for name in keys if name == keys[-1] or frame[name].nunique() > 1]
    return frame, shown, ["instructions"] if by in ("phase", "iteration") else []


def _row_of(rows: "pd.DataFrame", row: "pd.Series[Any]") -> "pd.DataFrame":
    """Return the instruction of a row of the stacks of levels."""
    same = (rows["iteration"] == row["iteration"]) & (rows["phase"] == row["phase"]) & (rows["level"] == row["level"])
    return rows[same]


def _cycles(cycles: int, total: int) -> list[str]:
    return [f"{cycles:,}", f"{cycles / total:.1%}"]


def _outside_rows(record: Record, empty: int) -> list[list[Cell]]:
    """Return the rows of the cycles outside of instructions, with which the table of phases adds up to the run."""
    cycles, total = record.document["cycles"], max(record.cycles, 1)
    return [
        [short, *[""] * empty, *_cycles(cycles[name], total), "", Bar({cause: 1.0} if cause else {})]
        for name, (_, short, cause) in _OUTSIDE.items()
        if cycles.get(name) and short
    ]


def iteration_tables(record: Record, iterations: Iterations) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the tables on the iterations, each with its title and heads: large ones and the rest; by component.

    Parameters
    ----------
    record : Record
        The record.
    iterations : Iterations
        Its iterations.
    """
    total = max(record.cycles, 1)

    def cells(name: str, group: IterationGroup) -> list[str]:
        each = group.cycles / max(group.iterations, 1)
        return [name, f"{group.iterations:,}", f"{group.instructions:,}", *_cycles(group.cycles, total), f"{each:,.0f}"]

    heads = ["number", "instructions", "cycles", "of run", "cycles each"]
    what, last = "with saturated levels" if iterations.saturated else "the longest", f"{iterations.last_large:,}"
    groups = {
        what: iterations.large,
        f"others up to iteration {last}": ~iterations.large & ~iterations.tail,
        f"the tail, after iteration {last}": iterations.tail,
    }
    by_size = {
        f"{least:,}" if least == most else f"{least:,} to {most:,}": group for least, most, group in iterations.sizes
    }
    return [
        (
            "iterations, without the host's cycles",
            ["iterations", *heads],
            [cells(name, iterations.group(chosen)) for name, chosen in groups.items() if chosen.any()],
        ),
        (
            "iterations by their component's vertices: at most as many as either search reached",
            ["vertices", *heads],
            [cells(name, group) for name, group in by_size.items()],
        ),
    ]


def _iteration_sections(record: Record, iterations: Iterations) -> "list[RenderableType]":
    """Return the sections on the iterations, with what would spare some of them."""
    from rich.text import Text

    first, second = iteration_tables(record, iterations)
    advice = [Text(f"-> {text}", style="italic") for text in iterations.advice]
    return [
        *section(first[0], table(first[1], first[2])),
        *section(second[0], table(second[1], second[2]), *advice),
    ]


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
        cool = no_hot_bank(evidence)
        parts += section(title, Text(cool) if cool else table(heads, lines, last=True))
    return parts


def no_hot_bank(evidence: Evidence) -> str:
    """Return the sentence that says that no bank is hot; an empty string if one is, or if there are no accesses.

    A hot bank has `CROWDED` times the accesses of the mean bank, and was nearly always busy for an interval.
    """
    bank = evidence.bank
    if bank is None or (bank.multiple >= CROWDED and bank.peak >= BUSY):
        return ""
    return (
        f"no hot bank: the busiest, {bank.controller}.{bank.bank}, has {bank.multiple:.1f}x the accesses of the mean, "
        f"is busy {min(bank.use, 1):.0%} of the time, and at most {min(bank.peak, 1):.0%} in "
        f"{count_text(evidence.record.interval, 'cycle')}"
    )


def fifo_section(record: Record, rows: "pd.DataFrame") -> "list[RenderableType]":
    """Return the section on FIFOs: their high-water marks."""
    from rich.text import Text

    parts: list[RenderableType] = []
    for evidence in evidence_of(record, rows):
        lines: list[list[Cell]] = []
        for fifo in evidence.fifos:
            when = instruction_text(record.instructions.loc[fifo.instruction])
            numbers = [f"{fifo.most}", f"{fifo.most / fifo.depth:.0%}", f"{fifo.mean:.1f}"]
            full = f"at least {NEAR_FULL:.0%} full" if fifo.full else ""
            lines.append([fifo.parameter, f"{fifo.depth}", *numbers, f"{when}  {full}".rstrip()])
        heads = ["FIFO", "depth", "most", "of depth", "mean", "when most"]
        parts += section(f"FIFOs, {evidence.module}", table(heads, lines, last=True))
    return parts + section(
        "how to read it",
        Text("most: occupancy, not need; it includes the two registers behind a FIFO's places"),
        Text("whether another depth is faster: --try; whether smaller ones do: --depths"),
    )


def _verdict_section(record: Record, findings: list[Finding], top: int, *, whole: bool) -> "list[RenderableType]":
    """Return the section on the findings, and of a whole run the command that tries changes."""
    from rich.text import Text

    lines = [line for finding in findings[:top] for line in _finding_lines(finding)]
    if whole and record.interrupted is None and any(finding.phase != WHOLE for finding in findings):
        folder = printable(shlex.quote(str(record.folder)))
        lines.append(Text(f"cyscc explain {folder} --try measures which changes help, and how much"))
    return section("verdict", *(lines or [Text("no cause stands out")]))


def _finding_lines(finding: Finding, indent: int = 0) -> "list[RenderableType]":
    """Return the lines of a finding, those of its parts indented below it."""
    from rich.padding import Padding
    from rich.text import Text

    title = Text()
    title.append_text(letter(finding.cause))
    # What the parts have in common is in the line above them.
    name = finding.phase.capitalize() if indent else finding.title
    title.append(f" {name}", style="" if indent else "bold")
    title.append(f": {finding.share:.1%}, {finding.cycles:,} cycles")
    lines: list[RenderableType] = [Padding(title, (0, 0, 0, indent))]
    lines.append(Padding(Text(finding.text), (0, 0, 0, indent + 2)))
    for advice in finding.advice.splitlines():
        lines.append(Padding(Text(f"-> {advice}", style="italic"), (0, 0, 0, indent + 2)))
    return lines + [line for part in finding.parts for line in _finding_lines(part, indent + 2)]


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
        Number of hottest banks listed for each module, and of heaviest levels whose bounds are.
    """
    iterations = iterations_of(record) if len(rows) == len(record.instructions) else None
    modules = {}
    for evidence in evidence_of(record, rows):
        modules[evidence.module] = {
            "instructions": len(evidence.rows),
            "cycles": evidence.cycles,
            "causes": {name: round(cycles, 3) for name, cycles in evidence.stack.items()},
            "banks": [asdict(bank) for bank in evidence.hottest(banks)],
            "hot_bank": bool(evidence.bank) and not no_hot_bank(evidence),
            "links": None if evidence.links is None else asdict(evidence.links),
            "fifos": [asdict(fifo) for fifo in evidence.fifos],
            "latency": None if evidence.latency is None else asdict(evidence.latency),
        }
    return {
        **identity(),
        **run_document(record),
        "modules": modules,
        "by": by,
        "stacks": rows_document(stacks(record, rows, by)),
        "bounds": bounds(record, rows, banks),
        "findings": [asdict(finding) for finding in findings_of(record, rows)],
        **({} if iterations is None else {"iterations": iterations.document()}),
    }
