"""The verdict on a recorded run: what bounds each phase, the cost, and what to try."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyscc.host.analysis.explain.advice import BUSY, advise, diagnose
from cyscc.host.analysis.explain.evidence import SAID_OF_RUN, Evidence
from cyscc.host.analysis.explain.stacks import Group, groups_of
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import CAUSES, WORK, cause_named

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Finding", "findings", "findings_of"]

_SAID_OF_GROUP = 0.01
"""Least share of a run with which a group always gets a finding on its largest cause."""
_NAMED = 0.005
"""Least share of a group with which one of several causes is named."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding: cycles that a run loses to a cause.

    Parameters
    ----------
    phase : str
        The group of instructions: ``forward, saturated levels``, ``intersection``, ``whole run``.
    cause : str
        The cause, one of `cyscc.sim.observation.causes.CAUSES`; the largest one if the finding explains several.
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
        The proposal, with the parameter's name; empty if there is none.
    """

    phase: str
    cause: str
    title: str
    text: str
    share: float
    cycles: int
    advice: str


def findings(record: Record) -> list[Finding]:
    """Return the findings on a recorded run, the most costly first.

    Parameters
    ----------
    record : Record
        The record.
    """
    return findings_of(record, record.instructions)


def findings_of(record: Record, rows: "pd.DataFrame") -> list[Finding]:
    """Return the findings on some instructions, the most costly first; for a whole run also on the time between them.

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
    """Return the findings on a group: its largest cause, and every other one of at least `SAID_OF_RUN` of the run."""
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
        largest = place == 0 and evidence.cycles >= _SAID_OF_GROUP * total
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
    """Return the sentence with the share of a group's kernel-cycles that these causes have."""
    noun = "level" if group.part else "intersection"
    parts = sorted(((evidence.share(cause), cause) for cause in causes), reverse=True)
    names = ", ".join(f"{cause} {share:.0%}" for share, cause in parts if share >= _NAMED)
    what = f" ({names})" if len(causes) > 1 else ""
    return f"{evidence.share(*causes):.0%} of the kernel-cycles of {count_text(len(evidence.rows), noun)}{what}."


def _outside(record: Record) -> list[Finding]:
    """Return the findings on the cycles outside of instructions."""
    total = max(record.cycles, 1)
    instructions = max(len(record.instructions), 1)
    host, restarted = (int(record.document["cycles"][name]) for name in ("host", "restarted"))
    said = [
        (
            "host",
            host,
            "Between instructions the host reads counts and writes registers: "
            f"{host / instructions:.0f} cycles for each of {count_text(instructions, 'instruction')}.",
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
