"""Proposals: settings whose change would make a recorded run take fewer cycles, and how many fewer."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from weakref import WeakKeyDictionary

from cyscc.host.analysis.explain.prediction import Predictor
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import MEMORY, Overrides
from cyscc.sim.configuration import PRESETS, AcceleratorConfig

__all__ = ["Proposal", "not_predicted", "proposals", "proposed_depths"]

_LEAST = 0.02
"""Least predicted gain of a proposal, as a share of the run's cycles: smaller ones are within the model's error."""

_NOISE = 0.02
"""Standard error of a predicted gain that is due to chance: the run's, and that of the synthetic traffic."""

_BESIDE = 0.5
"""Least predicted gain of a proposal, as a share of the largest one's: smaller ones often miss by a factor of two."""

_MANY_COPIES = 0.5
"""Share of the pushed vertices that were pushed before, from which on predicted gains are reduced: any change of timing
then changes the number of copies, level by level, in ways that the model follows only in part."""

_MOST = 10
"""Most proposals of a record."""

_SMALLER = ("engines", "bfs_kernels", "intersection_kernels")
"""Numbers whose decrease makes the machine smaller."""

_CAPACITIES = {
    "controllers": ("refused", "More controllers have more links and banks."),
    "channels": ("refused", "More pseudo-channels have more links and banks."),
    "groups": ("response", "More bank groups have more banks."),
    "banks": ("response", "More banks divide what several words bring to one."),
    "links": ("refused", "More links to each controller let pass more of what waits at the ports."),
    "reads_in_flight": ("refused", "A port may have more reads under way."),
    "writes_in_flight": ("refused", "A port may have more writes under way."),
    "port_queue": ("refused", "A port's longer queue takes bursts."),
}
"""Parameters of memories of which more may help: the cause that they lower, and the reason."""

_OPTIONS = PRESETS["fast"]
"""A machine with the values with which options are proposed to others."""

_LEAST_FILTER = 64
"""Least vertices of a filter."""

_NOT_TIMES = (
    *("controller_bit", "link_bit", "channel_bit", "low_groups", "low_columns"),
    *("machine_mhz", "memory_mhz", "seed", "columns", "t_refi", "refresh_stagger"),
)
"""Parameters of memories that are not proposed: what another map of addresses does is not known, as a record has the
accesses by bank alone; of the others neither more nor less is a change of its own."""

_BANK_TIMES = ("bank_busy", "burst")
"""Times for which a bank is busy."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A change of settings, with its predicted effect.

    Parameters
    ----------
    changes : mapping
        Values of the changed settings by name, as in a study: ``word_depth``, ``memory.banks``.
    cause : str
        The cause of which it lowers the cycles most.
    cycles : int
        Predicted cycles of the run with the change, in instructions.
    reason : str
        Why it would help, in a sentence.
    smaller : bool
        Whether the machine has fewer kernels.
    """

    changes: Mapping[str, Any]
    cause: str
    cycles: int
    reason: str
    smaller: bool = False


def proposals(record: Record) -> list[Proposal]:
    """Return the proposals for a recorded run, the one with the largest predicted gain first.

    Nothing is simulated but a model with synthetic traffic, see `cyscc.host.analysis.explain.prediction`.

    Parameters
    ----------
    record : Record
        The record.
    """
    if record not in _FOUND:
        _FOUND[record] = _proposed(record)
    return list(_FOUND[record])


def proposed_depths(record: Record) -> dict[str, int]:
    """Return the depths that are predicted to help by themselves, by parameter.

    Parameters
    ----------
    record : Record
        The record.
    """
    fifos = {fifo["parameter"] for its in record.machine["fifos"].values() for fifo in its}
    alone = (dict(each.changes) for each in proposals(record) if len(each.changes) == 1)
    return {name: depth for changes in alone for name, depth in changes.items() if name in fifos}


def not_predicted(record: Record) -> str:
    """Return the changes of a record's machine that are never proposed, in a sentence; empty if there are none.

    Parameters
    ----------
    record : Record
        The record.
    """
    config = AcceleratorConfig.from_mapping(record.document["configuration"])
    changes = []
    if config.exchange_kernels and config.engines > 1:
        changes.append("fewer engines")
    if config.edge_chunk:
        changes.append("another edge_chunk" if _intersects(record) else "a larger edge_chunk")
    return f"Not predicted, as a record tells too little: {', '.join(changes)}." if changes else ""


_FOUND: WeakKeyDictionary[Record, list[Proposal]] = WeakKeyDictionary()
"""The proposals for records that are in use: the verdict, its pages and its trials ask for the same ones."""


def _proposed(record: Record) -> list[Proposal]:
    predictor = Predictor(record)
    if not predictor.cycles:
        return []
    trusted = 1 - max(predictor.copied - _MANY_COPIES, 0)
    found = []
    for changes, cause, reason in _candidates(predictor, searches_only=not _intersects(record)):
        overrides = Overrides.of(changes)
        try:
            config = overrides.applied_to(predictor.config)
            memory = None if predictor.memory is None else overrides.applied_to_memory(predictor.memory)
        except ValueError:
            continue
        gain = trusted * (1 - predictor.predicted(config, memory) / predictor.cycles)
        # Of many predictions with errors, the best ones are those that err to the good side.
        cycles = round(predictor.cycles * (1 - gain * gain * gain / (gain * gain + _NOISE * _NOISE)))
        if predictor.cycles - cycles >= _LEAST * predictor.cycles:
            smaller = any(getattr(config, name) < getattr(predictor.config, name) for name in _SMALLER)
            found.append(Proposal(changes=changes, cause=cause, cycles=cycles, reason=reason, smaller=smaller))
    found.sort(key=lambda each: each.cycles)
    return [
        each
        for each in found[:_MOST]
        if predictor.cycles - each.cycles >= _BESIDE * (predictor.cycles - found[0].cycles)
    ]


def _intersects(record: Record) -> bool:
    return bool((record.instructions["module"] == "intersection").any())


def _candidates(predictor: Predictor, *, searches_only: bool) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the changes that may help: settings, the cause that they lower, and the reason."""
    yield from _of_machine(predictor.config, searches_only=searches_only)
    yield from _of_options(predictor.config, predictor.vertices, searches_only=searches_only)
    if predictor.memory is None:
        return
    for name, value in asdict(predictor.memory).items():
        if name in _CAPACITIES:
            yield {MEMORY + name: 2 * value}, *_CAPACITIES[name]
        elif name in _BANK_TIMES:
            yield {MEMORY + name: value // 2}, "response", "A bank is free again sooner."
        elif name not in _NOT_TIMES:
            yield {MEMORY + name: value // 2}, "response", "Answers come sooner."


def _of_machine(config: AcceleratorConfig, *, searches_only: bool) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the changes of a machine that may help."""
    depths = ["frontier_depth", "neighbour_depth", "word_depth"]
    if not searches_only:
        depths += ["reach_depth", "colour_depth", "unvisit_depth"]
        yield {"intersection_kernels": 2 * config.intersection_kernels}, "response", "More kernels intersect."
    for name in depths:
        # Where kernels exchange ids, these wait for a place for their word.
        cause = "exchange" if name == "word_depth" and config.exchange_kernels else "credit"
        yield {name: 2 * getattr(config, name)}, cause, "More reads of a kernel can be under way."
    both = {name: 2 * getattr(config, name) for name in ("neighbour_depth", "word_depth")}
    yield both, "credit", "More reads of a kernel can be under way, of neighbours and of their words."
    yield {"visit_depth": 2 * config.visit_depth}, "slot", "A kernel reserves more slots in a turn of the token."
    if config.issue_interval > 1:
        yield {"issue_interval": 1}, "resting", "The multiplexer issues a request in every cycle."
    if config.blocking_reservation:
        yield {"blocking_reservation": False}, "slot", "Reads go on while a vertex waits for a slot."
    for name in ("link_cycles", "ring_stages"):
        if name != "link_cycles" or config.engines > 1:
            yield {name: getattr(config, name) // 2}, "no_work", "The token's turn is shorter."
    fewer = "Levels too small for so many kernels pay for a longer turn of the token."
    more = "More kernels share the work."
    # How often several AEs meet a vertex, and push it, is recorded as a sum.
    if not config.exchange_kernels:
        yield {"engines": config.engines // 2}, "no_work", fewer
        if config.engines > 2:
            yield {"engines": 1, "ring_stages": PRESETS["hc2-1ae"].ring_stages}, "no_work", fewer
    yield {"engines": 2 * config.engines}, "response", more
    yield {"bfs_kernels": config.bfs_kernels // 2}, "no_work", fewer
    yield {"bfs_kernels": 2 * config.bfs_kernels}, "response", more


def _of_options(
    config: AcceleratorConfig, vertices: int, *, searches_only: bool
) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the options that may help, switched on or changed, on a graph of so many vertices."""
    if not config.pair_reads:
        yield {"pair_reads": True}, "issue_2", "A read brings two ids."
    if not config.lean_visits:
        yield {"lean_visits": True}, "write", "Two visits write their ids together."
    if not config.short_ring:
        yield {"short_ring": True}, "no_work", "The token's turn is shorter."
    if config.link_queues:
        yield {"link_queues": 2 * config.link_queues}, "refused", "More of a kernel's requests wait for each link."
    else:
        yield {"link_queues": _OPTIONS.link_queues}, "refused", "No request waits behind one for another link."
    most = AcceleratorConfig.limits("visited_filter")[1]
    whole = min(max(1 << (vertices - 1).bit_length(), _LEAST_FILTER), most)
    if whole > config.visited_filter:
        yield {"visited_filter": whole}, "issue_3", "Each AE reads the word of a vertex only once."
    if searches_only:
        chunk = config.edge_chunk // 2 or _OPTIONS.edge_chunk
        yield {"edge_chunk": chunk}, "no_work", "More kernels share the edges of a vertex."
