"""The explanation of one record as an answer: cycle stacks, iterations, hottest banks, FIFOs and the verdict."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import pandas as pd

from cyscc.host.analysis.explain.difference import FORMS, cause_cells
from cyscc.host.analysis.explain.evidence import Evidence, FifoUse, evidence_of
from cyscc.host.analysis.explain.iterations import Iterations, iterations_of
from cyscc.host.analysis.explain.observations import array_text
from cyscc.host.analysis.explain.stacks import Group, groups_of, stacks
from cyscc.host.analysis.explain.verdict import WHOLE, Finding, bound_of, findings
from cyscc.host.answer.answer import ROWS, Answer, Column, Table
from cyscc.host.answer.colours import STACK
from cyscc.host.record.display import OUTSIDE, instruction_text, record_title, run_document, selection_facts
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, CAUSES, WORK, cause_named

BY_DEFAULT = "level"
"""Grouping of the stacks, unless another one is wanted."""
_BANKS = 5
"""Most of a module's banks in an explanation of everything."""
_SHOWN_CAUSE = 0.0005
"""Least share of the cycles with which a cause is listed."""
_NOT_WORK = [cause.name for cause in CAUSES if cause.name not in WORK]
_FINDING = [each.name for each in fields(Finding)]
_GROUPED = ["which", "iterations", "instructions", "cycles", "vertices"]
_PARTS = {"numbers": "stacks", "banks": "banks", "fifos": "fifos"}
"""Table of each part that can be shown alone."""


def explanation(
    record: Record, rows: pd.DataFrame, *, by: str | None = None, only: Collection[str] = (), top: int | None = None
) -> Answer:
    """Return the explanation of a recorded run.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The selected instructions, rows of `Record.instructions`.
    by : str, optional
        Grouping of the stacks, one of `cyscc.host.analysis.explain.stacks.STACKED`.
    only : collection of str
        Parts that are shown alone: ``numbers``, ``banks``, ``fifos``.
    top : int, optional
        Most rows of a table.
    """
    whole = len(rows) == len(record.instructions)
    evidence, found, most = evidence_of(record, rows), findings(record, rows), top or ROWS
    iterations = iterations_of(record) if whole else None
    wanted = [_PARTS[name] for name in only] or [
        *("phases", "iteration_groups", "iteration_sizes", "causes", "banks"),
        *(["bounds"] if by == BY_DEFAULT or (by is None and len(rows) > 1) else []),
        *(["stacks"] if by not in (None, "phase", BY_DEFAULT) else []),
    ]
    tables = {
        "phases": _phases(record, rows, outside=whole),
        "bounds": _bounds(record, rows, most),
        "stacks": _stacks(record, rows, by or BY_DEFAULT, top, numbers="numbers" in only),
        **({} if iterations is None else iteration_tables(record, iterations)),
        "causes": causes_table({each.module: {name: each.share(name) for name in STACK} for each in evidence}),
        "banks": _banks(record, evidence, most, most if "banks" in only else min(most, _BANKS)),
        "fifos": fifo_table(record, [fifo for each in evidence for fifo in each.fifos]),
        "findings": FORMS.table("findings", pd.DataFrame(map(asdict, found), columns=_FINDING)),
    }
    searches = next((each for each in evidence if each.module == "bfs"), None)
    return Answer(
        title=record_title(record),
        facts=selection_facts(record, rows),
        said=[
            *(["this memory has no banks"] if record.memory is None and "banks" in wanted else []),
            *([] if only else _verdict(record, found[:most], whole=whole)),
        ],
        tables={name: replace(table, shown=name in wanted) for name, table in tables.items()},
        fields={
            **run_document(record),
            "by": by or BY_DEFAULT,
            "ids_read_per_edge": None if searches is None else searches.ids_per_edge,
            "modules": {each.module: _module(each) for each in evidence},
            **({} if iterations is None else {"last_large": iterations.last_large, "advice": iterations.advice}),
        },
    )


def _phases(record: Record, rows: pd.DataFrame, *, outside: bool) -> Table:
    """Return the stacks of the phases; of a whole run also the cycles outside of them, with which it adds up."""
    frame = stacks(record, rows, "phase")
    groups = {(group.phase, group.part): (group.short, Evidence(record, its)) for group, its in groups_of(rows)}
    its = [groups[key] for key in zip(frame["phase"], frame["part"], strict=True)]
    frame = frame.assign(phase=[name for name, _ in its], ids_per_edge=[each.ids_per_edge for _, each in its])
    cycles = record.document["cycles"]
    rest = [
        {
            "phase": short,
            "cycles": cycles[name],
            **dict.fromkeys(CAUSE_NAMES, 0.0),
            **({cause: cycles[name]} if cause else {}),
        }
        for name, (_, short, cause) in OUTSIDE.items()
        if outside and short and cycles.get(name)
    ]
    if rest:
        frame = pd.concat([frame, pd.DataFrame(rest)], ignore_index=True)
        frame["instructions"] = frame["instructions"].astype("Int64")
    frame["most"] = [_largest(row) for row in frame[: len(its)].to_dict("records")] + [""] * len(rest)
    return FORMS.table("phases", _of_run(record, frame))


def _of_run(record: Record, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its cycles as a share of those of the run."""
    return frame.assign(of_run=frame["cycles"] / max(record.cycles, 1))


def _largest(stack: dict[str, Any]) -> str:
    """Return the name and share of the largest cause of a stack."""
    total = sum(stack[name] for name in CAUSE_NAMES)
    name = max(CAUSE_NAMES, key=lambda cause: stack[cause])
    return f"{name} {stack[name] / total:.0%}" if total else ""


def _bounds(record: Record, rows: pd.DataFrame, count: int) -> Table:
    """Return the heaviest instructions in their order, each with what bounds it."""
    heaviest = rows.loc[rows["cycles"].nlargest(count).index].sort_index()
    frame = stacks(record, heaviest, "level")
    frame["where"] = [instruction_text(row) for _, row in heaviest.iterrows()]
    frame["bound"] = [bound_of(record, heaviest.iloc[[place]]) for place in range(len(heaviest))]
    share = heaviest["cycles"].sum() / max(rows["cycles"].sum(), 1)
    some = (
        f": the {len(frame)} heaviest of {len(rows):,}, {share:.0%} of these cycles" if len(frame) < len(rows) else ""
    )
    return FORMS.table("bounds", _of_run(record, frame), {"some": some})


def _stacks(record: Record, rows: pd.DataFrame, by: str, top: int | None, *, numbers: bool) -> Table:
    """Return the stacks of a grouping: those with most cycles, or, where all have as many, those that issue least."""
    frame, heavy = _of_run(record, stacks(record, rows, by)), by in ("phase", BY_DEFAULT, "iteration")
    left_out = [] if by in ("phase", "iteration") else ["instructions"]
    if by == BY_DEFAULT:
        frame["where"] = [instruction_text(row) for _, row in frame.iterrows()]
    elif by == "phase":
        frame["where"] = [Group(row["phase"], row["part"]).short for row in frame.to_dict("records")]
    if "where" in frame:
        left_out += ["iteration", "phase"]
    most = top or (len(frame) if numbers else ROWS)
    weight = frame["cycles"] if heavy else frame[_NOT_WORK].sum(axis=1)
    which = "" if len(frame) <= most else ", the heaviest" if heavy else ", those that issue least"
    told = [name for name in STACK if numbers and (frame[name] > 0).any()]
    return FORMS.table(
        "stacks",
        frame,
        {"by": by, "unit": ", causes in cycles of an average kernel" if numbers else "", "which": which},
        columns={name: Column(name, "{:,.0f}") for name in told},
        without=[*left_out, *(["stack"] if numbers else [])],
        rows=weight.nlargest(most).index.sort_values().tolist(),
    )


def iteration_tables(record: Record, iterations: Iterations) -> dict[str, Table]:
    """Return the tables on the iterations: each, large ones and the rest, by component.

    Parameters
    ----------
    record : Record
        The record.
    iterations : Iterations
        Its iterations.
    """

    def table(name: str, groups: dict[str, dict[str, int]], **more: Any) -> Table:
        frame = pd.DataFrame([{"which": which, **group} for which, group in groups.items()], columns=_GROUPED)
        frame["cycles_each"] = frame["cycles"] / frame["iterations"].clip(lower=1)
        return FORMS.table(name, _of_run(record, frame), **more)

    what, last = "with saturated levels" if iterations.saturated else "the longest", f"{iterations.last_large:,}"
    groups = {
        what: iterations.large,
        f"others up to iteration {last}": ~iterations.large & ~iterations.tail,
        f"the tail, after iteration {last}": iterations.tail,
    }
    sizes = {
        f"{least:,}" if least == most else f"{least:,} to {most:,}": group for least, most, group in iterations.sizes
    }
    divided = {name: iterations.group(chosen) for name, chosen in groups.items() if chosen.any()}
    return {
        "iterations": FORMS.table("iterations", iterations.frame.reset_index()),
        "iteration_groups": table("iteration_groups", divided),
        "iteration_sizes": table("iteration_sizes", sizes, note="\n".join(iterations.advice)),
    }


def causes_table(shares: Mapping[str, Mapping[str, float]], *, of: str = "") -> Table:
    """Return the causes with their shares of kernel-cycles.

    Parameters
    ----------
    shares : mapping of str to mapping
        The share of each cause, by the column's name: those of modules, or of groups of runs.
    of : str
        What the shares are, behind the title.
    """
    frame = pd.DataFrame([cause_cells(name) | {of: its[name] for of, its in shares.items()} for name in STACK])
    heads = {name: Column(name, "{:.1%}") for name in shares}
    return FORMS.table("causes", frame[(frame[list(shares)] >= _SHOWN_CAUSE).any(axis=1)], {"of": of}, columns=heads)


def _banks(record: Record, evidence: Sequence[Evidence], count: int, most: int) -> Table:
    """Return the hottest banks of each module, of which some are shown."""
    rows = []
    for each in evidence:
        for place, bank in enumerate(each.hottest(count)):
            when = f"{instruction_text(record.instructions.loc[bank.instruction])}, cycle {bank.cycle:,}"
            named = {"name": f"{bank.controller}.{bank.bank}", "contents": array_text(bank), "when_most": when}
            busy = {"busy": min(bank.use, 1.0), "at_most": min(bank.peak, 1.0)}
            rows.append({"place": place, "module": each.module, **asdict(bank), **named, **busy})
    frame = pd.DataFrame(rows)
    together = ", ".join(f"{each.module} {each.banks_use:.0%}" for each in evidence)
    return FORMS.table(
        "banks",
        frame.drop(columns="place", errors="ignore"),
        without=_alone(evidence),
        rows=[] if frame.empty else frame.index[frame["place"] < most].tolist(),
        note=f"all banks together are busy: {together}; at most: in an interval of {record.interval:,} cycles",
    )


def _alone(modules: Collection[Any]) -> list[str]:
    """Return the column that says nothing if there is one module only."""
    return [] if len(modules) > 1 else ["module"]


def fifo_table(record: Record, fifos: Sequence[FifoUse]) -> Table:
    """Return the occupancy of each kind of FIFO of a recorded machine."""
    frame = pd.DataFrame([asdict(fifo) for fifo in fifos])
    frame["of_depth"] = [fifo.most / fifo.depth for fifo in fifos]
    frame["when_most"] = [instruction_text(record.instructions.loc[fifo.instruction]) for fifo in fifos]
    return FORMS.table("fifos", frame, without=_alone(frame["module"].unique()))


def _verdict(record: Record, found: Sequence[Finding], *, whole: bool) -> list[str]:
    """Return the findings as sentences, what their shares are, and of a whole run the command that tries changes."""
    if not found:
        return ["verdict", "  no cause stands out"]
    most = "A share is the most that less of its cause can save: kernels may then wait for something else."
    lines = ["verdict", *(_told(finding, finding.title) for finding in found), most]
    if whole and record.interrupted is None and any(finding.phase != WHOLE for finding in found):
        folder = printable(shlex.quote(str(record.folder)))
        lines.append(f"cyscc explain {folder} --try measures which changes help, and how much")
    return lines


def _told(finding: Finding, title: str) -> str:
    """Return a finding, with its parts indented below it; what these have in common is in the line above them."""
    mark = cause_named(finding.cause).letter
    lines = [f"{mark} {title}: {finding.share:.1%}, {finding.cycles:,} cycles", f"  {finding.text}"]
    lines += [f"  -> {line}" for line in finding.advice.splitlines()]
    parts = [_told(part, part.phase.capitalize()).splitlines() for part in finding.parts]
    return "\n".join([*lines, *(f"  {line}" for part in parts for line in part)])


def _module(evidence: Evidence) -> dict[str, Any]:
    """Return what a module did, besides what is in tables."""
    return {
        "instructions": len(evidence.rows),
        "cycles": evidence.cycles,
        "causes": {name: round(cycles, 3) for name, cycles in evidence.stack.items()},
        "links": None if evidence.links is None else asdict(evidence.links),
        "latency": None if evidence.latency is None else {**asdict(evidence.latency), "ordering": evidence.ordering},
    }
