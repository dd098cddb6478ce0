"""What a cause means where it was seen, and what to try: one function a cause, from the evidence."""

from collections.abc import Callable

from host.explain.evidence import BankUse, Evidence
from host.explain.thresholds import BUSY, CROWDED, HEAD_OF_LINE, SAID_OF_BANK, SLOWED
from host.explain.view import SATURATED, Group

_NAMED = 2  # arrays of a bank

__all__ = ["advise", "array_text"]


def advise(cause: str, group: Group, evidence: Evidence) -> tuple[str, str]:
    """Return what a cause means in a group, and what to try; either may be empty.

    Parameters
    ----------
    cause : str
        The cause.
    group : Group
        The group that it was seen in.
    evidence : Evidence
        All that was seen there.
    """
    rule = _RULES.get(cause)
    return rule(group, evidence) if rule is not None else ("", "")


def array_text(bank: BankUse) -> str:
    """Return the arrays that a bank was accessed for, with their shares of the accesses."""
    return ", ".join(
        f"{name} {number / bank.accesses:.0%}"
        for name, number in list(bank.arrays.items())[:_NAMED]
        if number >= SAID_OF_BANK * bank.accesses
    )


def bank_text(bank: BankUse) -> str:
    """Return a bank and what it is busy with."""
    return f"bank {bank.bank} of controller {bank.controller} ({array_text(bank)})"


def _configured(evidence: Evidence, name: str) -> int | bool | float:
    value: int | bool | float = evidence.view.record.document["configuration"][name]
    return value


def _hot(evidence: Evidence) -> BankUse | None:
    """Return the busiest bank if it is a bottleneck by itself."""
    bank = evidence.bank
    return bank if bank is not None and bank.use >= BUSY and bank.multiple >= CROWDED else None


def _hot_bank(bank: BankUse, evidence: Evidence) -> tuple[str, str]:
    text = (
        f"One bank is the bottleneck: {bank_text(bank)} was busy {min(bank.use, 1):.0%} of the time, "
        f"{bank.multiple:.0f} times the mean."
    )
    if bank.array == "words" and not _configured(evidence, "remembered_ids"):
        return text, (
            "All kernels read the word of the same hub: drop the copies that a kernel sees (remembered_ids), or "
            "repeated edges beforehand (--simplify). More banks do not divide one word; a shorter bank_busy does help."
        )
    return text, "More banks help only where the accesses are to several words; a shorter bank_busy always does."


def _response(group: Group, evidence: Evidence) -> tuple[str, str]:
    latency, bank = evidence.latency, _hot(evidence)
    if bank is not None:
        return _hot_bank(bank, evidence)
    if latency is not None and group.part == SATURATED and latency.mean >= SLOWED * latency.least:
        return (
            f"Reads take {latency.mean:.0f} cycles on average, {latency.least} at best: they queue in the memory.",
            "See the busiest banks and links: more links or banks, a shorter bank_busy.",
        )
    least = latency.least if latency is not None else 0
    return (
        f"Latency bounds them: the kernels have too little to read at once to hide the {least} cycles of a read.",
        "Only a shorter way to the memory helps (request_travel, response_travel, bank_busy); deeper FIFOs and more "
        "kernels do not.",
    )


def _credit(group: Group, evidence: Evidence) -> tuple[str, str]:
    full = [fifo for fifo in evidence.fifos if fifo.full]
    if not full:
        return "Answers that are on their way hold all places.", ""
    tight = max(full, key=lambda fifo: fifo.mean / fifo.depth)
    text = f"FIFO {tight.name} was full: {tight.most} of {tight.depth} entries, {tight.mean:.1f} on average."
    bank = _hot(evidence)
    if bank is not None:
        return f"{text} {_hot_bank(bank, evidence)[0]}", _hot_bank(bank, evidence)[1]
    return text, f"Try {tight.parameter} = {2 * tight.depth}."


def _refused(group: Group, evidence: Evidence) -> tuple[str, str]:
    bank, links = _hot(evidence), evidence.links
    if bank is not None:
        return _hot_bank(bank, evidence)
    if evidence.banks_use >= BUSY:
        return (
            f"All banks are busy {evidence.banks_use:.0%} of the time.",
            "More banks or controllers, or a shorter bank_busy.",
        )
    if links is None:
        return "This memory refuses by its own rules.", ""
    if links.most >= BUSY and links.most >= 1.5 * links.mean:
        return (
            f"Link {links.link} of AE {links.engine} is busy {links.most:.0%} of the time, all links {links.mean:.0%}.",
            "Divide the addresses otherwise over the links (link_bit, controller_bit).",
        )
    text = (
        f"Links carry {links.mean:.0%} of what they could, and a request waits {links.waiting:.1f} cycles for its own."
    )
    if links.mean >= HEAD_OF_LINE:
        return (
            f"{text} A request that waits at the head of its port's queue blocks those behind it; a crossbar with "
            "one queue a port ends at 59 %.",
            "More links to each controller (links). A longer queue (port_queue) does not raise that limit.",
        )
    return text, "Bursts fill the ports' queues: try a longer port_queue."


def _slot(group: Group, evidence: Evidence) -> tuple[str, str]:
    turn = evidence.turn
    text = "" if turn is None else f"The token takes {turn:.0f} cycles for a turn."
    if _configured(evidence, "blocking_reservation"):
        return text, "Try blocking_reservation = false: reads go on, and the next reservation is made ahead."
    depth = _configured(evidence, "visit_depth")
    return text, f"More slots a turn (visit_depth, now {depth}), or a shorter turn (ring_stages, link_cycles)."


def _no_work(group: Group, evidence: Evidence) -> tuple[str, str]:
    if group.part and evidence.frontier < evidence.kernels:
        return (
            f"A frontier of {evidence.frontier:.1f} entries on average cannot feed {evidence.kernels} kernels.",
            "Fewer kernels or AEs would be as fast here.",
        )
    text = f"The last kernel works {evidence.unevenness:.2f} times as long as the mean one."
    if group.part:
        return text, "A vertex's edges stay on one kernel, so a hub serialises its level: divide hubs, or --simplify."
    return text, ""


def _resting(group: Group, evidence: Evidence) -> tuple[str, str]:
    return "The multiplexer needs a cycle between two requests.", "Try issue_interval = 1."


def _work(group: Group, evidence: Evidence) -> tuple[str, str]:
    issued = evidence.share("issue_1", "issue_2", "issue_3", "write")
    return (
        f"The kernels issue a request in {issued:.0%} of their cycles: their ports are the limit.",
        "More kernels or AEs; nothing in a kernel makes it faster.",
    )


def _fixed(group: Group, evidence: Evidence) -> tuple[str, str]:
    each = evidence.cycles * evidence.share("starting", "ending", "flush") / max(len(evidence.rows), 1)
    return (
        f"Start, end and flush cost each of them {each:.0f} cycles, however small it is.",
        "A shorter ring (ring_stages, link_cycles) or fewer AEs make it less.",
    )


_RULES: dict[str, Callable[[Group, Evidence], tuple[str, str]]] = {
    "response": _response,
    "credit": _credit,
    "refused": _refused,
    "slot": _slot,
    "no_work": _no_work,
    "resting": _resting,
    "starting": _fixed,
    "ending": _fixed,
    "flush": _fixed,
    **dict.fromkeys(("issue_1", "issue_2", "issue_3", "write"), _work),
}
