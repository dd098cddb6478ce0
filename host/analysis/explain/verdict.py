"""The verdict: what bounds each phase of a recorded run, what that costs, and what to try."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from host.analysis.explain.advice import advise, diagnose
from host.analysis.explain.evidence import Evidence
from host.analysis.explain.stacks import Group, groups_of
from host.analysis.explain.thresholds import BUSY, SAID_OF_GROUP, SAID_OF_RUN
from host.record.reader import Record
from host.words import counted
from sim.observation.causes import CAUSES, WORK, cause_named

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Finding", "findings", "findings_of"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that costs a run cycles.

    Parameters
    ----------
    phase : str
        Where: ``forward, saturated levels``, ``intersection``, ``whole run``.
    cause : str
        The cause of `sim.observation.causes.CAUSES` that it is about, the largest of several.
    title : str
        A line: where and what.
    text : str
        What was seen, in a few sentences.
    share : float
        Share of the run that it takes: of the kernel-cycles of the module that ran, over the whole run. Where only some
        instructions were asked about, over these.
    cycles : int
        The same in cycles of an average kernel: what the run would have been shorter by without it, at most.
    advice : str
        What to try, with the parameter named; empty where nothing would help.
    """

    phase: str
    cause: str
    title: str
    text: str
    share: float
    cycles: int
    advice: str


def findings(record: Record) -> list[Finding]:
    """Return what bounds each phase of a recorded run, what costs most first.

    Parameters
    ----------
    record : Record
        The record.
    """
    return findings_of(record, record.instructions)


def findings_of(record: Record, rows: "pd.DataFrame") -> list[Finding]:
    """Return what bounds some instructions, what costs most first; of a whole run, what is between them too.

    Parameters
    ----------
    record : Record
        The record.
    rows : pandas.DataFrame
        The instructions, rows of `Record.instructions`.
    """
    whole = len(rows) == len(record.instructions)
    found = _outside(record) if whole else []
    total = max(record.cycles if whole else int(rows["cycles"].sum()), 1)
    for group, its in groups_of(rows):
        found += _of_group(group, Evidence(record, its), total)
    return sorted(found, key=lambda finding: -finding.cycles)


def _of_group(group: Group, evidence: Evidence, total: int) -> list[Finding]:
    """Return what is worth saying about a group: what takes most of it, and what else can be felt in the run."""
    said = diagnose(group, evidence)
    explained = {cause for causes, _ in said for cause in causes}
    left = [(cause.name,) for cause in CAUSES if cause.name not in explained and cause.name not in WORK]
    said += [(causes, advise(causes[0], group, evidence)) for causes in left if evidence.share(*causes)]
    if evidence.share(*WORK) >= BUSY:
        said.append((WORK, advise(WORK[0], group, evidence)._replace(title="issuing requests")))
    ranked = sorted(said, key=lambda each: -evidence.share(*each[0]))
    found = []
    for place, (causes, advice) in enumerate(ranked):
        cycles = evidence.share(*causes) * evidence.cycles
        largest = place == 0 and evidence.cycles >= SAID_OF_GROUP * total
        if largest or cycles >= SAID_OF_RUN * total:
            found.append(
                Finding(
                    phase=str(group),
                    cause=max(causes, key=lambda cause: evidence.stack[cause]),
                    title=f"{str(group).capitalize()}: {advice.title}",
                    text=f"{_cost(group, evidence, causes)} {advice.text}".rstrip(),
                    share=cycles / total,
                    cycles=round(cycles),
                    advice=advice.proposal,
                )
            )
    return found


def _cost(group: Group, evidence: Evidence, causes: tuple[str, ...]) -> str:
    """Return what share of a group's kernel-cycles causes have."""
    noun = "level" if group.part else "intersection"
    parts = sorted(((evidence.share(cause), cause) for cause in causes), reverse=True)
    names = ", ".join(f"{cause} {share:.0%}" for share, cause in parts if share >= _NAMED)
    what = f" ({names})" if len(causes) > 1 else ""
    return f"{evidence.share(*causes):.0%} of the kernel-cycles of {counted(len(evidence.rows), noun)}{what}."


_NAMED = 0.005
"""Share of a group from which on a cause is named among others."""


def _outside(record: Record) -> list[Finding]:
    """Return what is worth saying about the cycles in which no instruction that counts ran."""
    total = max(record.cycles, 1)
    instructions = max(len(record.instructions), 1)
    host, restarted = (int(record.document["cycles"][name]) for name in ("host", "restarted"))
    said = [
        (
            "host",
            host,
            "Between instructions the host reads counts and writes registers: "
            f"{host / instructions:.0f} cycles for each of {counted(instructions, 'instruction')}.",
            "Only fewer, larger levels make it less.",
        ),
        (
            "restarted",
            restarted,
            "Queues overflowed, and the run began anew with larger ones.",
            "Give the queues room from the start: a larger --queue-slack.",
        ),
    ]
    return [
        Finding(
            phase="whole run",
            cause=name,
            title=f"Whole run: {cause_named(name).title}",
            text=text,
            share=cycles / total,
            cycles=cycles,
            advice=advice,
        )
        for name, cycles, text, advice in said
        if cycles >= SAID_OF_RUN * total
    ]
