"""Proposals: settings whose change would make a recorded run take fewer cycles, and how many fewer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import profile_from

__all__ = ["Proposal", "proposals"]


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A change of settings, with its predicted effect.

    Parameters
    ----------
    changes : mapping
        Values of the changed settings by name, as in a study: ``word_depth``, ``memory.banks``, ``simplify``.
    cause : str
        The cause of which it lowers the cycles most.
    cycles : int
        Predicted cycles of the run with the change, in instructions.
    reason : str
        Why it would help, in a sentence.
    smaller : bool
        Whether the machine becomes smaller, at nearly the same cycles, rather than faster.
    """

    changes: Mapping[str, Any]
    cause: str
    cycles: int
    reason: str
    smaller: bool = False


_LEAST = 0.015
"""Least predicted gain, as a share of the run's cycles, of a proposal."""

_MOST = 10
"""Most proposals of a record."""

_HALVES = {
    "request_travel": ("response", "no_work", "ending", "starting", "flush", "credit"),
    "response_travel": ("response", "no_work", "ending", "starting", "flush", "credit"),
    "bank_busy": ("refused", "response", "credit"),
    "latency": ("response", "no_work", "credit"),
}
_DOUBLES = {
    "banks": ("refused", "response", "credit"),
    "links": ("refused",),
}


def proposals(record: Record) -> list[Proposal]:
    """Return the proposals for a recorded run, the one with the largest predicted gain first.

    Parameters
    ----------
    record : Record
        The record.
    """
    document = record.document
    stacks = record.stacks.reindex(record.instructions.index)
    kernels = record.instructions["module"].map(record.kernels)
    cycles = int(record.instructions["cycles"].sum())
    spent = stacks.div(kernels, axis=0).sum()
    config = AcceleratorConfig.from_mapping(document["configuration"])
    values = {name: value for name, value in document["memory_profile"].items() if name != "source"}
    tried: list[tuple[dict[str, Any], tuple[str, ...], float]] = [
        ({name: 2 * getattr(config, name)}, ("credit",), 0.5) for name in ("neighbour_depth", "word_depth")
    ]
    if config.issue_interval > 1:
        tried.append(({"issue_interval": 1}, ("resting",), 0.8))
    if config.blocking_reservation:
        tried.append(({"blocking_reservation": False}, ("slot",), 0.8))
    tried += [
        ({f"memory.{name}": change(values[name])}, causes, 0.25)
        for names, change in ((_HALVES, lambda value: value // 2), (_DOUBLES, lambda value: 2 * value))
        for name, causes in names.items()
        if values.get(name)
    ]
    found = []
    for changes, causes, share in tried:
        gain = share * sum(float(spent[cause]) for cause in causes)
        if gain >= _LEAST * cycles and _possible(config, values, changes):
            cause = max(causes, key=lambda name: float(spent[name]))
            found.append(
                Proposal(changes=changes, cause=cause, cycles=round(cycles - gain), reason=f"Less of {cause}.")
            )
    return sorted(found, key=lambda each: each.cycles)[:_MOST]


def _possible(config: AcceleratorConfig, memory: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    """Return whether a machine and its memory can have these settings."""
    overrides = Overrides.of(changes)
    try:
        overrides.applied_to(config)
        overrides.applied_to_memory(profile_from(memory))
    except (ValueError, InputError):
        return False
    return True
