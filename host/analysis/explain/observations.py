"""Observations on causes in some instructions: what was measured there, and what that rules out.

They state measured numbers. A sentence that blames something stands only where the numbers are far from the limit at
which it would become false, so that two runs that are nearly alike get nearly the same verdict.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cyscc.host.analysis.explain.evidence import BankUse, Evidence
from cyscc.host.analysis.explain.stacks import Group
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import DEPENDENT_WAITS, SATURATED
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK, cause_named

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
OUTSIDE: dict[str, dict[str, str]] = _TEXTS["outside"]
"""Text and advice on causes outside of instructions."""

_SAID_OF_BANK = 0.2
"""Least share of a bank's accesses with which an array is named."""
_ARRAYS = 2
"""Most arrays named for a bank."""

WAITS = ("refused", "credit", "response")
"""Causes of waiting for the memory: which of them a kernel meets depends on its queues."""

_UNLOADED = 1.25
"""Most mean latency, as a multiple of the least one, with which reads hardly wait for each other."""
_LOADED = 2.0
"""Least mean latency, as a multiple of the least one, with which most of it is waiting for others."""
_CARRYING = 0.9
"""Least use of a part of the memory, as a share of what it can carry, with which it can hardly serve more reads."""
_FREE = 0.5
"""Most use of a part of the memory, as a share of what it can carry, with which it could serve many more reads."""
SHORT = 0.5
"""Least share of a FIFO's places that are promised on average, with which all of them are at times."""
_ALIKE = 0.9
"""Use of a FIFO's places, as a share of the tightest one's, from which on it would be the next limit."""
_NAMED = 3
"""Most parts of the memory that are named with their use."""
_BLOCKED = ", since the head of a port's queue blocks those behind it"


class Observation(NamedTuple):
    """Title and text of a finding on some causes; what to change is found by runs.

    Parameters
    ----------
    title : str
        Name of the problem.
    text : str
        The observation.
    """

    title: str
    text: str


def diagnose(group: Group, evidence: Evidence) -> list[tuple[tuple[str, ...], Observation]]:
    """Return the findings that explain several causes at once, each with these causes.

    Parameters
    ----------
    group : Group
        The group.
    evidence : Evidence
        The evidence for the group's instructions.
    """
    if not _is_small(group, evidence):
        return [(WAITS, Observation("waiting for the memory", _memory(group, evidence)))]
    return [(("no_work", "ids", "response", "starting", "ending", "flush"), _small(group, evidence))]


def observe(cause: str, group: Group, evidence: Evidence) -> Observation:
    """Return the observation on a single cause in a group.

    Parameters
    ----------
    cause : str
        The cause.
    group : Group
        The group in which the cause was observed.
    evidence : Evidence
        The evidence for the group's instructions.
    """
    return Observation(
        cause_named(cause).title, _RULES[cause](group, evidence) if cause in _RULES else _TEXTS["said"].get(cause, "")
    )


def array_text(bank: BankUse) -> str:
    """Return the arrays in a bank with their shares of the bank's accesses."""
    return ", ".join(
        f"{name} {number / bank.accesses:.0%}"
        for name, number in list(bank.arrays.items())[:_ARRAYS]
        if number >= _SAID_OF_BANK * bank.accesses
    )


def _configured(evidence: Evidence, name: str) -> int | bool | float:
    value: int | bool | float = evidence.record.document["configuration"][name]
    return value


def _is_small(group: Group, evidence: Evidence) -> bool:
    """Whether instructions are too small to hide their fixed cost; the parts of a search tell it of levels."""
    if group.part:
        return group.part != SATURATED
    least = evidence.latency.least if evidence.latency is not None else 0
    return evidence.requests[1] < DEPENDENT_WAITS * least


def _small(group: Group, evidence: Evidence) -> Observation:
    most, mean = evidence.requests
    noun = "level" if group.part else "intersection"
    entries = f"{evidence.rows['frontier'].mean():,.1f} entries on average for {evidence.kernels} kernels"
    least, usual = (evidence.latency.least, evidence.latency.mean) if evidence.latency is not None else (0, 0.0)
    flush, reads = round(evidence.each("flush")), DEPENDENT_WAITS - 1
    return Observation(
        f"small {noun}s",
        f"They take {evidence.each(*CAUSE_NAMES):,.0f} cycles each, with {entries}. However small it is, "
        f"{'a level' if group.part else 'an intersection'} needs up to {reads * least + flush + evidence.turn}: "
        f"{reads} reads one after the other, of {least} cycles at best ({usual:.0f} on average), {flush} until its "
        f"writes are complete, and a turn of the token ({evidence.turn}). The kernel with most requests issues "
        f"{most:,.0f}, the mean one {mean:,.1f}; {_together(evidence)}.",
    )


def _together(evidence: Evidence) -> str:
    chunk = _configured(evidence, "edge_chunk")
    edges = f"an entry's edges, {chunk} at most," if chunk else "a vertex's edges"
    return f"{edges} stay on one kernel"


def _memory(group: Group, evidence: Evidence) -> str:
    latency = evidence.latency
    if latency is None:
        return "There were no reads."
    ordered = f", {evidence.ordering:.0f} of them waiting for earlier responses in order" if evidence.ordering else ""
    text = [f"Reads take {latency.mean:.0f} cycles on average, {latency.least} at best{ordered}."]
    parts = busiest(evidence)
    used = [f"{name} {use:.0%}" + (f" ({most:.0%} at most{_BLOCKED})" if most < 1 else "") for name, use, most in parts]
    text += [f"Busiest: {', '.join(used)} of the time."] if used else []
    if evidence.links is not None and evidence.bank is not None:
        waits = f"{evidence.links.waiting:.0f} cycles for its link"
        text.append(f"A request waits {waits}, an access to the busiest bank {evidence.bank.waiting:.0f} for it.")
    nearest = max((use / most for _, use, most in parts), default=0.0)
    text += _blamed(evidence, latency.mean / max(latency.least, 1), nearest)
    return " ".join(text)


def busiest(evidence: Evidence) -> list[tuple[str, float, float]]:
    """Return the parts of a memory that are nearest to what they can carry, each with its use, and the most it can be.

    Parameters
    ----------
    evidence : Evidence
        The evidence.
    """
    bank, links = evidence.bank, evidence.links
    found: list[tuple[str, float, float]] = []
    if bank is not None:
        arrays = array_text(bank)
        found += [(f"bank {bank.controller}.{bank.bank}{arrays and f' ({arrays})'}", min(bank.use, 1.0), 1.0)]
        found += [("all banks", evidence.banks_use, 1.0)]
    if links is not None:
        found += [(f"link {links.link} of AE {links.engine}", links.most, 1.0)]
        found += [("all links", links.mean, _carried(evidence))]
    return sorted(found, key=lambda part: -part[1] / part[2])[:_NAMED]


def busiest_bank(evidence: Evidence) -> str:
    """Return the sentence on the bank with most accesses; an empty string if there were none."""
    bank = evidence.bank
    if bank is None:
        return ""
    return (
        f"the busiest bank, {bank.controller}.{bank.bank}, has {bank.multiple:.1f}x the accesses of the mean, is busy "
        f"{min(bank.use, 1):.0%} of the time, and at most {min(bank.peak, 1):.0%} in "
        f"{count_text(evidence.record.interval, 'cycle')}"
    )


def _carried(evidence: Evidence) -> float:
    """Return the share of its links' bandwidth that a crossbar can carry; no request blocks another one in a switch."""
    if _configured(evidence, "link_queues") or not evidence.record.memory:
        return 1.0
    ports = max(evidence.record.machine["kernels"].values())
    return crossbar_share(int(evidence.record.memory["links"]) / ports)


def _blamed(evidence: Evidence, loaded: float, nearest: float) -> list[str]:
    """Return the sentence on latency or places for answers, where the record shows that these limit, or do not."""
    shares = {cause: evidence.share(cause) for cause in WAITS}
    most = max(shares, key=lambda cause: shares[cause])
    if most == "response" and loaded <= _UNLOADED:
        return ["Kernels have too little to read at once to hide this latency."]
    taking = {fifo.name: (fifo.under_way, fifo.depth) for fifo in evidence.fifos if fifo.under_way is not None}
    if most != "credit" or not taking:
        return []
    used = {name: under_way / depth for name, (under_way, depth) in taking.items()}
    tightest = max(used.values())
    alike = [name for name in taking if used[name] >= _ALIKE * tightest]
    named = ", ".join(f"{min(taking[name]):.0f} of the {taking[name][1]} of {name}" for name in alike)
    seen = f"while a kernel works, {named} are promised to reads"
    # Where nothing in the memory is shared, reads wait for no other one there.
    if tightest >= SHORT and (not nearest or (loaded <= _UNLOADED and nearest <= _FREE)):
        both = "" if len(alike) == 1 else " As each can limit alone, only more of all of them is sure to help."
        return [f"Places for answers are short: on average {seen}.{both}"]
    # Reads may be late for other reasons than others: a memory's own course, or the order of answers.
    if loaded >= _LOADED and nearest >= _CARRYING:
        return [f"On average {seen}; with more places, more reads would wait in the memory."]
    return [f"On average {seen}."]


def _slot(group: Group, evidence: Evidence) -> str:
    text = f"The token takes {evidence.turn} cycles for a turn."
    if _configured(evidence, "blocking_reservation"):
        return f"{text} A kernel reserves only when its last slot is used up, and then reads nothing."
    return text


def _no_work(group: Group, evidence: Evidence) -> str:
    most, mean = evidence.requests
    return (
        f"The last kernel works {evidence.unevenness:.2f} times as long as the mean one. The one with most requests "
        f"issues {most / mean if mean else 1:.2f} times those of the mean one; {_together(evidence)}."
    )


def _work(group: Group, evidence: Evidence) -> str:
    most = "of one in each at most"
    if _configured(evidence, "issue_interval") > 1:
        most = "and rest for a cycle after each, but between the writes of a visit"
    return f"The kernels issue a request in {evidence.share(*WORK):.0%} of their cycles, {most}."


def _ring(group: Group, evidence: Evidence) -> str:
    each = evidence.each("starting", "ending")
    noun = "level" if group.part else "intersection"
    return f"To begin and to end costs each {noun} {each:.0f} cycles; a turn of the token is {evidence.turn}."


def _flush(group: Group, evidence: Evidence) -> str:
    each = count_text(round(evidence.each("flush")), "cycle")
    return f"Until the last writes of all ports are complete {each} go by each time."


_RULES: dict[str, Callable[[Group, Evidence], str]] = {
    **dict.fromkeys(WAITS, _memory),
    "slot": _slot,
    "no_work": _no_work,
    "starting": _ring,
    "ending": _ring,
    "flush": _flush,
    **dict.fromkeys(WORK, _work),
}


def crossbar_share(links: float) -> float:
    """Return the share of its links' bandwidth that a large crossbar with one queue per port can carry.

    It holds for queues of any length (Karol, Hluchyj, Morgan 1987): 2 - 2**0.5 with as many links as ports. The
    roofline simulates a crossbar of the machine's own size, which takes as long as all else that is said of a record.

    Parameters
    ----------
    links : float
        Links per port.
    """
    return (1 + links - (1 + links * links) ** 0.5) / links if links else 0.0
