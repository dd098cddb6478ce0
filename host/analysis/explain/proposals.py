"""Proposals: changes of a recorded run's settings, with the share of its cycles that each can save at most.

They follow from the record alone: causes, banks, links, FIFOs, levels and repeated work. What a change really brings is
measured by a run with it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cyscc.host.analysis.explain.evidence import Evidence, evidence_of
from cyscc.host.analysis.explain.observations import SHORT
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import MEMORY, Overrides
from cyscc.sim.configuration import PRESETS, AcceleratorConfig
from cyscc.sim.memory import Profile, profile_from
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK

_LEAST = 0.005
"""Least share that a proposal can save at most: less would not count as faster."""

_REMEMBERED = 128
"""Ids that kernels are proposed to remember."""

_REPEATED = 0.05
"""Least share of repeated work with which ways to avoid it are proposed."""

_LACKING = PRESETS["fast"]
"""A machine with the values with which options are proposed to others."""

_READS = ("response", "credit", "exchange", "refused", "flush")
"""Causes of waiting for the memory, or for a place for what it answers."""

_WAITS = (*_READS, "slot")
"""Causes of waiting for anything."""

_TURNS = ("starting", "slot")
"""Causes that last as long as the token takes."""

_FOLLOWING = ("ending", "ids", "no_work")
"""Causes of waiting for others, which every change may lower: these are done sooner."""

_INTERSECTING = ("reach_depth", "colour_depth", "unvisit_depth")
"""FIFOs of intersection kernels."""

_NOT_BUILT = 2
"""How many times as much a proposal must promise to come before one for which no machine is built."""

_OTHERWISE = 0.02
"""Assumed saving of a change without evidence in the record, as a share of the most that it can save."""

_NO_NUMBERS = ("clock_mhz", *(MEMORY + name for name in ("machine_mhz", "memory_mhz", "seed")))
"""Settings of which neither more nor less is a change of its own: they change the unit of time, or choose by chance."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A change of settings that may save cycles.

    Parameters
    ----------
    changes : mapping
        Values of the changed settings by name, as in a study: ``word_depth``, ``memory.banks``.
    cause : str
        The cause with most of the cycles that it can save.
    most : float
        Share of the cycles in instructions that it can save at most: those of the causes that it lowers, in the kernel
        that is done last in each level and intersection; of changes that share the work anew, in the mean kernel.
        Work that is repeated is among them, since other timing alone may avoid it.
    promise : float
        The part of these that the record speaks for, by which proposals are ordered.
    reason : str
        Why it may help, in a sentence.
    smaller : bool
        Whether the machine has fewer kernels.
    """

    changes: Mapping[str, Any]
    cause: str
    most: float
    promise: float
    reason: str
    smaller: bool = False

    @property
    def builds(self) -> bool:
        """Whether it is another machine, which is built first."""
        return any(name != "simplify" and not name.startswith(MEMORY) for name in self.changes)


def proposals(record: Record) -> list[Proposal]:
    """Return the proposals for a recorded run, the most promising for their time first. Nothing is simulated.

    Parameters
    ----------
    record : Record
        The record.
    """
    if not len(record.instructions):
        return []
    seen = _Seen(record)
    found: dict[tuple[tuple[str, Any], ...], Proposal] = {}
    for change in (*_of_machine(seen), *_of_memory(seen), *_others(seen)):
        key = tuple(change.settings.items())
        proposal = seen.proposal(change)
        if key not in found and proposal.most >= _LEAST and seen.possible(change.settings):
            found[key] = proposal
    return sorted(found.values(), key=lambda each: -each.promise * (1 if each.builds else _NOT_BUILT))


class _Change(NamedTuple):
    """A change, and what it lowers.

    Parameters
    ----------
    settings : dict
        The changed settings.
    parts : dict of str to float
        The part of each cause's cycles that it saves at most.
    likely : float
        The part of these that the record speaks for.
    reason : str
        Why it may help.
    modules : tuple of str
        The kinds of kernels that it is about.
    shares : bool
        Whether it shares the work anew between kernels.
    smaller : bool
        Whether the machine has fewer kernels.
    """

    settings: dict[str, Any]
    parts: dict[str, float]
    likely: float
    reason: str
    modules: tuple[str, ...] = ("bfs", "intersection")
    shares: bool = False
    smaller: bool = False


class _Seen:
    """Evidence of a record: the machine of its run, and shares of the cycles.

    Parameters
    ----------
    record : Record
        The record.

    Attributes
    ----------
    config : AcceleratorConfig
        The machine.
    memory : Profile or None
        Its memory; None if its rules are not in the record.
    searches_only : bool
        Whether it intersected nothing.
    vertices : int
        Vertices of the graph.
    """

    def __init__(self, record: Record) -> None:
        self.config = AcceleratorConfig.from_mapping(record.document["configuration"])
        self.memory = _recorded_memory(record.document["memory_profile"])
        self.simplified = bool(record.document["run"]["options"].get("simplify"))
        self.vertices = int(record.document["run"]["vertices"])
        self._rows = record.instructions
        self._evidence = {each.module: each for each in evidence_of(record)}
        self.searches_only = "intersection" not in self._evidence
        cycles = max(int(self._rows["cycles"].sum()), 1)
        kernels = record.of_instructions("instruction_kernels", self._rows).reset_index(drop=True)
        last = kernels.loc[kernels.groupby("instruction")["done"].idxmax()]
        sums = last.groupby("module", observed=True)[CAUSE_NAMES].sum() / cycles
        self._last = {str(module): row for module, row in sums.to_dict("index").items()}
        self._mean = {
            module: {name: each.stack[name] / cycles for name in CAUSE_NAMES} for module, each in self._evidence.items()
        }

    def proposal(self, change: _Change) -> Proposal:
        """Return the proposal of a change."""
        shares = self._mean if change.shares else self._last
        whole = {
            cause: sum(shares[module][cause] for module in change.modules if module in shares) for cause in CAUSE_NAMES
        }
        own = {cause: part * whole[cause] for cause, part in change.parts.items()}
        # Every change is other timing, which may lower these: others are done sooner, fewer vertices are pushed twice.
        besides = {**dict.fromkeys(_FOLLOWING, 1.0), **dict.fromkeys((*_WAITS, *WORK), self.again)}
        others = {cause: part * whole[cause] for cause, part in besides.items()}
        return Proposal(
            changes=change.settings,
            cause=max(own, key=lambda cause: own[cause]),
            most=sum(max(own.get(cause, 0.0), others.get(cause, 0.0)) for cause in CAUSE_NAMES),
            promise=change.likely * sum(own.values()),
            reason=change.reason,
            smaller=change.smaller,
        )

    def possible(self, settings: Mapping[str, Any]) -> bool:
        """Return whether the settings are valid, and change the machine or its memory."""
        overrides = Overrides.of({name: value for name, value in settings.items() if name != "simplify"})
        try:
            config = overrides.applied_to(self.config)
            memory = None if self.memory is None else overrides.applied_to_memory(self.memory)
        except ValueError:
            return False
        return "simplify" in settings or (config, memory) != (self.config, self.memory)

    def share(self, *causes: str) -> float:
        """Return the share of the kernel-cycles with one of these causes."""
        return sum(shares[cause] for shares in self._mean.values() for cause in causes)

    def most_of(self, figure: Callable[[Evidence], float]) -> float:
        """Return the largest of a figure of the kinds of kernels, at most 1."""
        return min(max(map(figure, self._evidence.values()), default=0.0), 1.0)

    @cached_property
    def bank_use(self) -> float:
        """Utilisation of the busiest bank, at most 1; 1 if the memory has none."""
        return self.most_of(lambda each: 1.0 if each.bank is None else each.bank.use)

    @cached_property
    def link_use(self) -> float:
        """Utilisation of the busiest link, at most 1; 1 if the memory has none."""
        return self.most_of(lambda each: 1.0 if each.links is None else each.links.most)

    @cached_property
    def latency(self) -> float:
        """Mean latency of a read in cycles; the least one of the kinds of kernels."""
        every = (each.latency for each in self._evidence.values())
        return min((each.mean for each in every if each is not None), default=1.0)

    @cached_property
    def unloaded(self) -> float:
        """The least latency of a read as a share of the mean one; the rest is waiting for others."""
        every = (each.latency for each in self._evidence.values())
        return min((each.least / each.mean for each in every if each is not None), default=1.0)

    @property
    def tick(self) -> float:
        """Cycles of the machine in one of the memory."""
        values = _numbers(self.memory)
        return values["machine_mhz"] / values["memory_mhz"] if "memory_mhz" in values else 1.0

    def reserved(self, parameter: str) -> float:
        """Return the share of a FIFO's places that are reserved for reads under way, on average, or taken at most."""

        def use(each: Evidence) -> float:
            its = (fifo for fifo in each.fifos if fifo.parameter == parameter)
            return max((max(fifo.mean, fifo.under_way or 0.0) / fifo.depth for fifo in its), default=0.0)

        return self.most_of(use)

    @property
    def unevenness(self) -> float:
        """Working time of the last kernel beyond the mean one's, as a share of it."""
        return self.most_of(lambda each: 1 - 1 / each.unevenness)

    @cached_property
    def again(self) -> float:
        """Share of the ids that were read for vertices pushed again, whose edges were read before."""
        rows = self._rows[self._rows["module"] == "bfs"]
        ids, edges = self._issued("issue_2"), int(rows["edges"].sum())
        pushed = max(int(rows["pushed"].sum()), 1)
        copies = int(rows["duplicates"].sum()) / pushed
        return copies if self.config.pair_reads else max(copies, 1 - edges / max(ids, 1.0))

    @cached_property
    def met_again(self) -> float:
        """Share of the words of neighbours that each AE reads at least once more."""
        rows = self._rows[self._rows["module"] == "bfs"]
        found = int((rows["pushed"] - rows["duplicates"]).sum())
        return max(1 - found / max(self._issued("issue_3"), 1.0), 0.0)

    def of_requests(self, cause: str) -> float:
        """Return the share of the requests of BFS kernels that are of a cause; what saves these saves waits alike."""
        return self._issued(cause) / max(sum(map(self._issued, WORK)), 1.0)

    def _issued(self, cause: str) -> float:
        """Return the requests of a cause of all BFS kernels."""
        searches = self._evidence.get("bfs")
        return 0.0 if searches is None else searches.stack[cause] * searches.kernels


def _recorded_memory(described: Mapping[str, Any]) -> Profile | None:
    """Return the memory of a record; None if its rules are the user's."""
    try:
        return profile_from({name: value for name, value in described.items() if name != "source"})
    except ValueError:
        return None


def _numbers(memory: Profile | None) -> dict[str, int]:
    """Return the parameters of a memory, if it is known."""
    return {} if memory is None else asdict(memory)


def _all(*causes: str, **parts: float) -> dict[str, float]:
    """Return the part of causes that a change may save: all of some, less of others."""
    return {**dict.fromkeys(causes, 1.0), **parts}


def _of_machine(seen: _Seen) -> Iterator[_Change]:
    """Yield the changes of a machine that the record speaks for."""
    config, searches, intersections = seen.config, ("bfs",), ("intersection",)
    busy = 1 - seen.share(*_FOLLOWING, "starting")
    halves = _all("no_work", **dict.fromkeys((*_WAITS, *WORK, "resting"), 0.5))
    more = "More kernels share the work."
    yield _Change({"engines": 2 * config.engines}, halves, busy, more, shares=True)
    yield _Change({"bfs_kernels": 2 * config.bfs_kernels}, halves, busy, more, searches, shares=True)
    doubled = {"intersection_kernels": 2 * config.intersection_kernels}
    yield _Change(doubled, halves, busy, more, intersections, shares=True)

    for name in ("frontier_depth", "neighbour_depth", "word_depth", *_INTERSECTING):
        modules = intersections if name in _INTERSECTING else searches
        # Where kernels exchange ids, these wait for a place for their word.
        waits = _all("credit", "response", *(("exchange",) if name == "word_depth" else ()))
        deeper = "More reads of a kernel can be under way."
        yield _Change({name: 2 * getattr(config, name)}, waits, seen.reserved(name) / 2, deeper, modules)
    for names, modules in (
        (("neighbour_depth", "word_depth"), searches),
        (("reach_depth", "colour_depth"), intersections),
    ):
        # Where reads need a place in each of two FIFOs, more of one alone may wait for the other.
        least = min(map(seen.reserved, names))
        if least >= SHORT:
            together = "Reads need places in both FIFOs, which are short together."
            doubled = {name: 2 * getattr(config, name) for name in names}
            yield _Change(doubled, _all("credit", "response"), least, together, modules)
    slots = "A kernel reserves more slots in a turn of the token."
    yield _Change({"visit_depth": 2 * config.visit_depth}, _all("slot"), 0.5, slots, searches)
    if config.blocking_reservation:
        reads_go_on = "Reads go on while a vertex waits for a slot."
        yield _Change({"blocking_reservation": False}, _all(*_WAITS), 0.5, reads_go_on, searches)
    always = "The multiplexer issues a request in every cycle."
    yield _Change({"issue_interval": 1}, _all("resting", *_WAITS), 0.5, always)
    yield from _of_options(seen)

    shorter = "The token's turn is shorter."
    for name, value in (("link_cycles", config.link_cycles // 2), ("ring_stages", config.ring_stages // 2)):
        if name == "ring_stages" or config.engines > 1:
            yield _Change({name: value}, _all(*_TURNS), 0.2, shorter, searches)
    fewer = "Kernels rest: fewer of them may do, and the token's turn is shorter."
    turns, reads = seen.share(*_TURNS, "ending"), seen.share(*_READS)
    rest = seen.share("no_work") * turns / max(turns + reads, 1e-9)
    for settings in ({"engines": config.engines // 2}, {"bfs_kernels": config.bfs_kernels // 2}):
        yield _Change(settings, _all(*_TURNS, "ending", *_READS), rest, fewer, searches, smaller=True)


def _of_options(seen: _Seen) -> Iterator[_Change]:
    """Yield the options that the machine lacks, with the values of `fast`, and those that avoid repeated work."""
    config, searches = seen.config, ("bfs",)
    lacking = {name: {name: getattr(_LACKING, name)} for name in ("link_queues", "visited_filter", "edge_chunk")}
    pairs, lean = seen.of_requests("issue_2") / 2, "Two visits write their ids together."
    yield _Change({"pair_reads": True}, _all(*_READS, issue_2=0.5), pairs, "A read brings two ids.", searches)
    # Five writes instead of six.
    yield _Change({"lean_visits": True}, _all(*_READS, write=1 / 6), seen.of_requests("write") / 6, lean, searches)
    yield _Change({"short_ring": True}, _all(*_TURNS), 0.5, "The token's turn is shorter.", searches)
    if config.link_queues:
        wait = "More of a kernel's requests wait for each link."
        yield _Change({"link_queues": 2 * config.link_queues}, _all("refused"), 0.2, wait)
    else:
        behind = "No request waits behind one for another link."
        yield _Change(lacking["link_queues"], _all(*_READS), seen.link_use, behind)
    if config.visited_filter < min(seen.vertices, _LACKING.visited_filter):
        once = "Each AE reads the word of a vertex only once."
        less = _all(*_READS, issue_3=seen.met_again)
        yield _Change(lacking["visited_filter"], less, seen.met_again * seen.of_requests("issue_3"), once, searches)
    chunks = "More kernels share the edges of a vertex."
    divided = {"edge_chunk": config.edge_chunk // 2} if config.edge_chunk else lacking["edge_chunk"]
    yield _Change(divided, _all("no_work"), seen.unevenness, chunks, searches, shares=True)
    if seen.again >= _REPEATED:
        work = _all(*_WAITS, **dict.fromkeys(WORK, seen.again))
        if not config.filters_copies:
            copies = "Kernels drop ids that come again, and so push fewer vertices twice."
            yield _Change({"remembered_ids": _REMEMBERED}, work, seen.again, copies, searches)
        if not seen.simplified:
            edges = "If edges are repeated, vertices are pushed once for each."
            yield _Change({"simplify": True}, work, seen.again, edges, searches)


_MORE = {
    "controllers": "More controllers have more links and banks.",
    "channels": "More pseudo-channels have more links and banks.",
    "groups": "More bank groups have more banks.",
    "banks": "More banks divide what several words bring to one.",
    "links": "More links to each controller let pass more of what waits at the ports.",
    "entries": "A controller chooses among more requests.",
    "reads_in_flight": "A port may have more reads under way.",
    "writes_in_flight": "A port may have more writes under way.",
    "port_queue": "A port's longer queue takes bursts.",
}
"""Parameters of memories of which more may help, and the reason."""

_MAPS = ("controller_bit", "link_bit", "channel_bit", "low_groups", "low_columns")
"""Parameters of memories that choose the place of an address."""

_TRAVEL = ("travel", "way_", "latency", "t_cl", "t_cwl")
"""Parts of the names of times that each access takes, whatever others there are."""

_NO_TIMES = (
    *("machine_mhz", "memory_mhz", "seed", "columns", "refresh_stagger", "flush_travel"),
    *("pseudo_channels", "burst_bytes", "write_batch"),
)
"""Parameters of memories that are no times of accesses."""

_GAPS = ("t_ras", "t_faw", "t_ccd_l", "t_rrd", "t_rtp", "t_w", "t_rtw", "activate_", "precharge_")
"""How names of times begin that lie between accesses: a lone one has none of them."""

_REFRESH = ("t_rfc", "t_refi")
"""The time of a refresh, and that from one to the next."""

_TICKS = ("t_", "way_", "burst", "activate_", "precharge_")
"""How names of times begin that are in cycles of the memory, where it has a clock of its own."""


def _of_memory(seen: _Seen) -> Iterator[_Change]:
    """Yield the changes of a memory."""
    waits, numbers = _all(*_READS), _numbers(seen.memory)
    times = [name for name in numbers if name not in (*_MORE, *_MAPS, *_REFRESH, *_NO_TIMES)]
    of_banks = [name for name in times if not any(part in name for part in _TRAVEL)]
    for name, value in numbers.items():
        named = MEMORY + name
        if name in _MAPS:
            for changed in (2 * value, value // 2):
                yield _Change({named: changed}, waits, 0.1, "Another map of addresses may divide accesses better.")
        elif name in _MORE:
            use = seen.link_use if name in ("links", "port_queue") else max(seen.bank_use, seen.link_use)
            yield _Change({named: 2 * value}, waits, use / 3, _MORE[name])
        elif name == "flush_travel":
            known = "The last writes of a level are known to be complete sooner."
            yield _Change({named: value // 2}, _all("flush"), 0.5, known)
        elif name in _REFRESH:
            # What reads wait for where banks are hardly used is refresh, or behind reads that wait for it.
            half = max(numbers["t_rfc"] / numbers["t_refi"], (1 - seen.unloaded) * (1 - seen.bank_use)) / 2
            yield _Change({named: value // 2 if name == "t_rfc" else 2 * value}, waits, half, "Less time is refreshed.")
        elif name in times:
            alone = value / 2 * (seen.tick if name.startswith(_TICKS) else 1.0) / seen.latency
            if name in of_banks:
                # What makes accesses wait for banks is divided between the times of a bank.
                queueing = max(seen.bank_use, 1 - seen.unloaded) / (1 + len(of_banks))
                likely = queueing if name.startswith(_GAPS) else max(alone, queueing)
                yield _Change({named: value // 2}, waits, likely, "A bank is free again sooner.")
            else:
                yield _Change({named: value // 2}, waits, alone, "Answers come sooner.")


def _others(seen: _Seen) -> Iterator[_Change]:
    """Yield all numbers doubled and halved that nothing in the record speaks for: timing has side effects."""
    reason = "Other timing: fewer vertices may be pushed twice, or fewer accesses meet at a bank."
    memory = {MEMORY + name: value for name, value in _numbers(seen.memory).items()}
    for name, value in {**asdict(seen.config), **memory}.items():
        unused = seen.searches_only and name in ("intersection_kernels", *_INTERSECTING)
        if isinstance(value, bool) or not value or unused or name in _NO_NUMBERS:
            continue
        yield _Change({name: 2 * value}, _all(*_WAITS), _OTHERWISE, reason)
        fewer = name in ("engines", "bfs_kernels", "intersection_kernels")
        yield _Change({name: value // 2}, _all(*_WAITS), _OTHERWISE, reason, smaller=fewer)
