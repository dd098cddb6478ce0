"""Observations on a cause in some instructions; one function for each cause."""

from collections.abc import Callable
from typing import NamedTuple

from cyscc.host.analysis.explain.evidence import BankUse, Evidence
from cyscc.host.analysis.explain.stacks import Group
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import DEPENDENT_WAITS, SATURATED
from cyscc.sim.observation.causes import WORK, cause_named

__all__ = ["BUSY", "CROWDED", "Observation", "array_text", "crossbar_share", "diagnose", "observe"]

# Thresholds of the findings, each with its reason.

_SAID_OF_BANK = 0.2
"""Least share of a bank's accesses with which an array is named."""

BUSY = 0.7
"""Least utilisation of a bank or link, over some levels, to count as the bottleneck: traffic is low at the beginning
and end of a level, and random traffic queues long before 100 %."""

_HEAD_OF_LINE = 0.85
"""Least throughput of the links, as a share of what the crossbar can carry (`crossbar_share`), to blame head-of-line
blocking for refusals: a little below 1, as traffic is low at the beginning and end of a level."""

CROWDED = 1.5
"""Least accesses of the busiest bank, as a multiple of the mean, to call it a hot bank: random traffic of a saturated
level stays below 1.2."""

_SLOWED = 1.5
"""Mean latency, as a multiple of the minimum, from which on requests queue in the memory."""

_SMALL = 3.0
"""Most cycles of a level, as a multiple of the smallest possible level's, for which the fixed cost is the reason."""

_UNEVEN = 1.2
"""Working time of the last kernel, as a multiple of the mean kernel's, from which on a few vertices with many edges are
suspected: with many similar vertices, the shares differ less."""

_ARRAYS = 2
"""Most arrays named for a bank."""
_ALIKE = 0.9
"""Use of a FIFO, as a share of the tightest one's, from which on it would be the next limit."""


class Observation(NamedTuple):
    """Title and text of a finding on some causes; what to change is said by the run's proposals.

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
    found: list[tuple[tuple[str, ...], Observation]] = []
    latency = evidence.latency
    if group.part != SATURATED:
        least = DEPENDENT_WAITS * (latency.least if latency is not None else 0)
        each = evidence.cycles / max(len(evidence.rows), 1)
        if each <= _SMALL * (least + evidence.turn):
            found.append(
                (("no_work", "ids", "response", "starting", "ending", "flush"), _small(group, evidence, each, least))
            )
    elif latency is not None and latency.mean >= _SLOWED * latency.least:
        contended = _contention(evidence)
        if contended is not None:
            slow = (
                f"{contended.text} Reads take {latency.mean:.0f} cycles on average, {latency.least} at best, and "
                "answers come in the order of the reads."
            )
            found.append((("refused", "response", "credit", "exchange"), contended._replace(text=slow)))
    return found


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
    return Observation(cause_named(cause).title, _RULES[cause](group, evidence) if cause in _RULES else "")


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


def _small(group: Group, evidence: Evidence, each: float, least: int) -> Observation:
    entries = float(evidence.rows["frontier"].mean())
    one = "a level" if group.part else "an intersection"
    return Observation(
        f"fixed cost of small {'levels' if group.part else 'intersections'}",
        f"They take {each:.0f} cycles each, with {entries:,.1f} entries on average. However small it is, {one} needs "
        f"up to {DEPENDENT_WAITS} ways to the memory and back, one after the other ({least} cycles), and turns of the "
        f"token, {evidence.turn} cycles each.",
    )


def _contention(evidence: Evidence) -> Observation | None:
    """Return the observation on the bottleneck in the memory; None if there is none."""
    bank, links = evidence.bank, evidence.links
    if bank is None or links is None:
        return None
    if bank.use >= BUSY and bank.multiple >= CROWDED:
        return Observation(
            "a hot bank",
            f"Bank {bank.bank} of controller {bank.controller} ({array_text(bank)}) is busy {min(bank.use, 1):.0%} of "
            f"the time, all banks {evidence.banks_use:.0%}; an access waits {bank.waiting:.0f} cycles for it.",
        )
    if evidence.banks_use >= BUSY:
        return Observation("all banks busy", f"All banks together are busy {evidence.banks_use:.0%} of the time.")
    if links.most >= BUSY and links.most >= CROWDED * links.mean:
        return Observation(
            "a busy link",
            f"Link {links.link} of AE {links.engine} is busy {links.most:.0%} of the time, all links {links.mean:.0%}.",
        )
    # Behind a switch no request waits for another one's link.
    if not _configured(evidence, "link_queues") and links.mean >= _HEAD_OF_LINE * _crossbar(evidence):
        return Observation(
            "head-of-line blocking in the crossbar",
            f"Links carry {links.mean:.0%} of what they could, and a request waits {links.waiting:.0f} cycles for its "
            "link: the one at the head of a port's queue blocks those behind it, and a crossbar with one queue a port "
            f"carries {_crossbar(evidence):.0%} at most.",
        )
    return None


def _crossbar(evidence: Evidence) -> float:
    """Return the share of its links' bandwidth that the crossbar, with one queue per port, can carry."""
    machine = evidence.record.machine
    links = int(evidence.record.memory["links"]) if evidence.record.memory else 0
    return crossbar_share(links / max(machine["kernels"].values()))


def _response(group: Group, evidence: Evidence) -> str:
    latency = evidence.latency
    least = latency.least if latency is not None else 0
    return f"Latency bounds them: the kernels have too little to read at once to hide the {least} cycles of a read."


def _credit(group: Group, evidence: Evidence) -> str:
    taking = [(fifo, fifo.under_way) for fifo in evidence.fifos if fifo.under_way is not None]
    if not taking:
        return ""
    shares = {fifo.name: under_way / fifo.depth for fifo, under_way in taking}
    tightest = max(shares.values())
    seen = ", ".join(
        f"{min(under_way, fifo.depth):.0f} of the {fifo.depth} of {fifo.name}"
        for fifo, under_way in taking
        if shares[fifo.name] >= _ALIKE * tightest
    )
    return f"Places for answers are short: on average while a kernel works, {seen} are promised to reads under way."


def _refused(group: Group, evidence: Evidence) -> str:
    contended = _contention(evidence)
    if contended is not None:
        return contended.text
    links = evidence.links
    if links is None:
        return "This memory refuses by its own rules."
    queues = "switch's queues" if _configured(evidence, "link_queues") else "ports' queues"
    return (
        f"Links carry {links.mean:.0%} of what they could, and a request waits {links.waiting:.0f} cycles for its "
        f"link: bursts fill the {queues}."
    )


def _slot(group: Group, evidence: Evidence) -> str:
    text = f"The token takes {evidence.turn} cycles for a turn."
    if _configured(evidence, "blocking_reservation"):
        return f"{text} A kernel reserves only when its last slot is used up, and then reads nothing."
    return text


def _no_work(group: Group, evidence: Evidence) -> str:
    chunk = _configured(evidence, "edge_chunk")
    if group.part and evidence.starved > 0.5:
        edges = f"an entry's edges, {chunk} at most," if chunk else "a vertex's edges"
        return (
            f"In {evidence.short} of {count_text(len(evidence.rows), 'level')} the queue has fewer entries than there "
            f"are kernels ({evidence.kernels}), and {edges} stay on one kernel."
        )
    text = f"The last kernel works {evidence.unevenness:.2f} times as long as the mean one."
    if not group.part:
        return text
    if evidence.unevenness < _UNEVEN:
        return f"{text} Shares differ by chance; larger levels even them out."
    if chunk:
        return f"{text} An entry has {chunk} edges at most, which stay on one kernel."
    return f"{text} A vertex's edges stay on one kernel, so a hub serialises its level."


def _exchange(group: Group, evidence: Evidence) -> str:
    return (
        "Ids wait for the kernels that own them: these have no place for another word, or get ids more quickly than "
        "the one a cycle whose word a kernel can read."
    )


def _ids(group: Group, evidence: Evidence) -> str:
    return "Kernels have read the ids of their own entries, and others of their AE are still reading."


def _resting(group: Group, evidence: Evidence) -> str:
    text = "The multiplexer needs a cycle between two requests."
    contended = _contention(evidence)
    return text if contended is None else f"{text} There is {contended.title}, too."


def _work(group: Group, evidence: Evidence) -> str:
    issued = evidence.share(*WORK)
    ports = "ways into the switch" if _configured(evidence, "link_queues") else "ports"
    return f"The kernels issue a request in {issued:.0%} of their cycles: their {ports} are the limit."


def _ring(group: Group, evidence: Evidence) -> str:
    each = evidence.cycles * evidence.share("starting", "ending") / max(len(evidence.rows), 1)
    noun = "level" if group.part else "intersection"
    return f"To begin and to end costs each {noun} {each:.0f} cycles; a turn of the token is {evidence.turn}."


def _flush(group: Group, evidence: Evidence) -> str:
    each = evidence.cycles * evidence.share("flush") / max(len(evidence.rows), 1)
    return f"Until the last writes of all ports are complete {count_text(round(each), 'cycle')} go by each time."


_RULES: dict[str, Callable[[Group, Evidence], str]] = {
    "response": _response,
    "credit": _credit,
    "refused": _refused,
    "slot": _slot,
    "exchange": _exchange,
    "ids": _ids,
    "no_work": _no_work,
    "resting": _resting,
    "starting": _ring,
    "ending": _ring,
    "flush": _flush,
    **dict.fromkeys(WORK, _work),
}


def crossbar_share(links: float) -> float:
    """Return the share of its links' bandwidth that a large crossbar with one queue per port can carry.

    It holds for queues of any length (Karol, Hluchyj, Morgan 1987): 2 - 2**0.5 with as many links as ports.

    Parameters
    ----------
    links : float
        Links per port.
    """
    return (1 + links - (1 + links * links) ** 0.5) / links if links else 0.0
