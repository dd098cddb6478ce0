"""The verdict on a recorded run: what bounds each phase, the cost, and what to try."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cyscc.host.analysis.explain.evidence import SAID_OF_RUN, Evidence
from cyscc.host.analysis.explain.observations import OUTSIDE, WAITS, Observation, busiest, diagnose, observe
from cyscc.host.analysis.explain.stacks import Group, groups_of
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import PHASES
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK, cause_named

_SAID_OF_GROUP = 0.01
"""Least share of a run with which a group always gets a finding on its largest cause."""
WHOLE = "whole run"
"""Phase of findings on the cycles outside of instructions."""
_NAMED = 0.005
"""Least share of a group with which one of several causes is named."""
_PART = 0.005
"""Least share of a run with which a group's cost is part of a finding."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding: cycles that a run loses to a cause.

    Parameters
    ----------
    phase : str
        The group of instructions: ``forward, saturated levels``, ``intersection``, ``whole run``; of a finding with
        parts, their phases.
    cause : str
        The cause, one of `cyscc.sim.observation.causes.CAUSES`; the largest one if the finding explains several.
    causes : dict of str to float
        All of its causes, with their cycles.
    title : str
        One line: the group and the cause.
    text : str
        The observation, in a few sentences.
    share : float
        Its share of the kernel-cycles of the modules while they ran, over the whole run or over the selected
        instructions.
    cycles : int
        The same in cycles of an average kernel: an upper bound of the gain without it.
    advice : str
        What can be done about it besides changing the machine's sizes: a line; empty if there is nothing.
    parts : tuple of Finding
        The findings of this kind for each group of instructions, the most costly first, if there are several groups;
        their cycles add up to those of the finding.
    """

    phase: str
    cause: str
    causes: dict[str, float]
    title: str
    text: str
    share: float
    cycles: int
    advice: str
    parts: "tuple[Finding, ...]" = ()


def findings(record: Record, rows: pd.DataFrame | None = None) -> list[Finding]:
    """Return the findings on some instructions, the most costly first; for a whole run also on the time between them.

    Findings of one kind are one finding, whose parts are those of the groups of instructions.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame, optional
        The instructions, rows of `Record.instructions`; by default all.
    """
    rows = record.instructions if rows is None else rows
    whole = len(rows) == len(record.instructions)
    found = _outside(record) if whole else []
    total = max(record.cycles if whole else int(rows["cycles"].sum()), 1)
    kinds: dict[object, list[_Cost]] = {}
    for group, its in groups_of(rows):
        for cost in _ranked(group, Evidence(record, its)):
            if cost.cycles >= _PART * total:
                kinds.setdefault(cost.kind, []).append(cost)
    for costs in kinds.values():
        largest = any(cost.largest and cost.evidence.cycles >= _SAID_OF_GROUP * total for cost in costs)
        if largest or sum(cost.cycles for cost in costs) >= SAID_OF_RUN * total:
            found.append(_summed(sorted(costs, key=lambda cost: -cost.cycles), total))
    return sorted([*found, *_repeated(record, rows, total)], key=lambda finding: -finding.cycles)


@dataclass(frozen=True, kw_only=True)
class _Cost:
    """Cycles that a group of instructions loses to causes with one reason.

    Parameters
    ----------
    group : Group
        The group.
    evidence : Evidence
        The evidence for its instructions.
    causes : tuple of str
        The causes.
    said : Observation or None
        The observation on several causes with one reason; None for a single cause.
    largest : bool
        Whether it is the largest of the group's.
    """

    group: Group
    evidence: Evidence
    causes: tuple[str, ...]
    said: Observation | None
    largest: bool

    @property
    def cycles(self) -> float:
        """The cycles, of an average kernel."""
        return sum(self.evidence.stack[cause] for cause in self.causes)

    @property
    def kind(self) -> object:
        """Key that is equal for costs that are summed: the causes, and what was said of several with one reason."""
        small = self.said is None or "no_work" in self.causes
        return self.causes if small or self.said is None else (self.causes, self.said.title)

    @property
    def title(self) -> str:
        """Name of the problem."""
        if self.said is not None:
            return self.said.title
        return "issuing requests" if self.causes == WORK else cause_named(self.causes[0]).title

    @property
    def observation(self) -> Observation:
        """The observation."""
        return observe(self.causes[0], self.group, self.evidence) if self.said is None else self.said

    @property
    def cause(self) -> str:
        """The cause with most cycles."""
        return max(self.causes, key=lambda cause: self.evidence.stack[cause])


def _ranked(group: Group, evidence: Evidence) -> list[_Cost]:
    """Return the costs of a group, the largest first; issuing requests is one if no other is larger."""
    said: list[tuple[tuple[str, ...], Observation | None]] = [*diagnose(group, evidence)]
    explained = {cause for causes, _ in said for cause in causes}
    said += [((name,), None) for name in CAUSE_NAMES if name not in explained and name not in WORK]
    ranked = sorted((each for each in said if evidence.share(*each[0])), key=lambda each: -evidence.share(*each[0]))
    if evidence.share(*WORK) >= max((evidence.share(*causes) for causes, _ in ranked), default=0.0):
        ranked.insert(0, (WORK, None))
    return [
        _Cost(group=group, evidence=evidence, causes=causes, said=observation, largest=place == 0)
        for place, (causes, observation) in enumerate(ranked)
    ]


def _summed(costs: list[_Cost], total: int) -> Finding:
    """Return the finding on costs of one kind; its parts are the findings on each, if there are several."""
    parts = tuple(_finding(str(cost.group), [cost], total) for cost in costs)
    if len(parts) == 1:
        return parts[0]
    phases = [name for name in PHASES if any(cost.group.phase == name for cost in costs)]
    found = _finding(", ".join(phases), costs, total)
    return replace(found, parts=parts)


def _finding(where: str, costs: list[_Cost], total: int) -> Finding:
    """Return the finding on costs of one kind."""
    cycles = sum(cost.cycles for cost in costs)
    what = costs[0].observation.text if len(costs) == 1 else _in_common(costs)
    return Finding(
        phase=where,
        cause=costs[0].cause,
        causes={name: sum(cost.evidence.stack[name] for cost in costs) for name in costs[0].causes},
        title=f"{where.capitalize()}: {costs[0].title}",
        text=f"{_cost(costs)} {what}".rstrip(),
        share=cycles / total,
        cycles=round(cycles),
        advice="",
    )


def _cost(costs: list[_Cost]) -> str:
    """Return the sentence with the share of some groups' kernel-cycles that these causes have."""
    cycles = max(sum(cost.evidence.cycles for cost in costs), 1)
    causes = costs[0].causes
    shares = {cause: sum(cost.evidence.stack[cause] for cost in costs) / cycles for cause in causes}
    parts = sorted(((share, cause) for cause, share in shares.items()), reverse=True)
    names = ", ".join(f"{cause} {share:.0%}" for share, cause in parts if share >= _NAMED)
    levels = sum(len(cost.evidence.rows) for cost in costs if cost.group.part)
    others = sum(len(cost.evidence.rows) for cost in costs if not cost.group.part)
    counted = [count_text(number, noun) for number, noun in ((levels, "level"), (others, "intersection")) if number]
    which = f" ({names})" if len(causes) > 1 else ""
    return f"{sum(shares.values()):.0%} of the kernel-cycles of {' and '.join(counted)}{which}."


def _in_common(costs: list[_Cost]) -> str:
    """Return what the groups of a finding have in common, as far as numbers say it."""
    if "no_work" not in costs[0].causes:
        return ""
    entries = np.concatenate([cost.evidence.rows["frontier"].to_numpy() for cost in costs])
    each = sum(cost.evidence.cycles for cost in costs) / entries.size
    kernels = min(cost.evidence.kernels for cost in costs)
    median = int(np.quantile(entries, 0.5, method="lower"))
    return (
        f"Half of them have at most {count_text(median, 'entry')} for {kernels} kernels, the mean is "
        f"{entries.mean():,.1f}; each takes {each:,.0f} cycles on average."
    )


def bound_of(record: Record, row: pd.DataFrame) -> str:
    """Return what bounds a level or an intersection, with the share of its cycles, in a few words.

    Parameters
    ----------
    record : Record
        The record.
    row : pandas.DataFrame
        The instruction, a row of `Record.instructions`.
    """
    evidence = Evidence(record, row)
    ranked = _ranked(Group(row["phase"].iloc[0], row["part"].iloc[0]), evidence)
    first = next((cost for cost in ranked if cost.causes != WORK), None)
    work, share = evidence.share(*WORK), 0.0 if first is None else evidence.share(*first.causes)
    said = [f"issuing requests {work:.0%}"] if work >= share else []
    if first is not None and share >= _NAMED:
        said.append(f"{first.title} {share:.0%}: {_measured(first)}")
    return ", ".join(said)


def _measured(cost: _Cost) -> str:
    """Return the measurement behind the largest cost of a single instruction, in a few words."""
    evidence = cost.evidence
    if "no_work" not in cost.causes and set(cost.causes) & set(WAITS) and evidence.latency is not None:
        used = "".join(f", {name.partition(' (')[0]} {use:.0%} busy" for name, use, _ in busiest(evidence)[:1])
        return f"reads take {evidence.latency.mean:.0f} cycles, {evidence.latency.least} at best{used}"
    if "no_work" in cost.causes:
        most, mean = evidence.requests
        entries = count_text(int(evidence.rows["frontier"].sum()), "entry")
        return f"{entries}, {most:,.0f} requests of one kernel, {mean:,.0f} of the mean one"
    if cost.causes[0] == "slot":
        return f"a turn of the token is {count_text(evidence.turn, 'cycle')}"
    return count_text(round(cost.cycles), "cycle")


def _repeated(record: Record, rows: pd.DataFrame, total: int) -> list[Finding]:
    """Return the finding on edges whose ids were read more than once, if these reads are a noticeable part."""
    searches = rows[rows["module"] == "bfs"]
    # The edges of a search are known at its end.
    if searches.empty or record.interrupted is not None:
        return []
    evidence, edges = Evidence(record, searches), int(searches["edges"].sum())
    per_edge = evidence.ids_per_edge
    if per_edge is None or per_edge <= 1 or evidence.ids is None:
        return []
    cycles = evidence.cycles * (1 - 1 / per_edge)
    if cycles < SAID_OF_RUN * total:
        return []
    pushed, again = int(searches["pushed"].sum()), int(searches["duplicates"].sum())
    config = AcceleratorConfig.from_mapping(record.document["configuration"])
    same = "remembered_ids drops ids that come again to the same kernel, visited_filter those that come again to its AE"
    ways = [] if config.filters_copies else [same]
    if not record.document["run"]["options"]["simplify"]:
        ways.append("--simplify drops edges that the graph has more than once")
    return [
        Finding(
            phase=", ".join(phase for phase in PHASES if (searches["phase"] == phase).any()),
            cause="issue_2",
            causes={},
            title=f"Repeated work: {per_edge:.2f} ids read for each edge",
            text=f"Kernels read {evidence.ids:,} ids for {edges:,} edges: {again:,} of {count_text(pushed, 'entry')} "
            "pushed are for vertices that are in the queue already, and their edges are read again. In proportion that "
            "is this part of the searches' cycles, which other findings have, too.",
            share=cycles / total,
            cycles=round(cycles),
            advice="; ".join(ways),
        )
    ]


def _outside(record: Record) -> list[Finding]:
    """Return the findings on the cycles outside of instructions."""
    total = max(record.cycles, 1)
    instructions = max(len(record.instructions), 1)
    each = int(record.document["cycles"]["host"]) / instructions
    words = {"each": each, "instructions": count_text(instructions, "instruction")}
    return [
        Finding(
            phase=WHOLE,
            cause=name,
            causes={name: float(cycles)},
            title=f"{WHOLE.capitalize()}: {cause_named(name).title}",
            text=said["text"].format(**words),
            share=cycles / total,
            cycles=cycles,
            advice=said["advice"],
        )
        for name, said in OUTSIDE.items()
        if (cycles := int(record.document["cycles"][name])) >= SAID_OF_RUN * total
    ]
