"""Proposals: changes of a recorded run's settings, with the share of its cycles that each can save at most.

They follow from the record alone: causes, banks, links, FIFOs, levels and repeated work. What a change really brings is
measured by a run with it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from cyscc.host.analysis.explain.evidence import Evidence, evidence_of
from cyscc.host.analysis.explain.settings import recorded_profile
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import MEMORY, Overrides
from cyscc.sim.configuration import PRESETS, AcceleratorConfig
from cyscc.sim.memory import Profile
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of a machine in the table, whose file describes the fields."""

    saves: dict[str, float | str]
    likely: float | str
    reason: str
    times: float | str = 1.0
    least: float = 0.0
    where: str = ""
    modules: tuple[str, ...] = ("bfs", "intersection")
    shares: bool = False
    smaller: bool = False
    set: dict[str, Any] = {}
    double: tuple[str, ...] = ()
    halve: tuple[str, ...] = ()
    fast: tuple[str, ...] = ()

    def settings(self, config: AcceleratorConfig) -> dict[str, Any]:
        """Return the settings that it has in a machine."""
        doubled = {name: 2 * getattr(config, name) for name in self.double}
        halved = {name: getattr(config, name) // 2 for name in self.halve}
        return {**self.set, **doubled, **halved, **{name: getattr(_LACKING, name) for name in self.fast}}


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of proposals: groups of causes, changes of machines, and what is known of a memory's parameters."""

    causes: dict[str, tuple[str, ...]]
    changes: list[_Row]
    more: dict[str, str]
    names: dict[str, tuple[str, ...]]


_LACKING = PRESETS["fast"]
"""A machine with the values with which options are proposed to others."""

_TABLE = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Table)
_CAUSES = {**_TABLE.causes, "work": WORK}

_LEAST = 0.005
"""Least share that a proposal can save at most: less would not count as faster."""

_NOT_BUILT = 2
"""How many times as much a proposal must promise to come before one for which no machine is built."""

_OTHERWISE = 0.02
"""Assumed saving of a change without evidence in the record, as a share of the most that it can save."""


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
    for proposal in (*_of_machine(seen), *_of_memory(seen), *_others(seen)):
        key = tuple(proposal.changes.items())
        if key not in found and proposal.most >= _LEAST and seen.possible(proposal.changes):
            found[key] = proposal
    return sorted(found.values(), key=lambda each: -each.promise * (1 if each.builds else _NOT_BUILT))


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
        self.memory = recorded_profile(record.document["memory_profile"])
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

    def proposal(
        self,
        changes: dict[str, Any],
        parts: Mapping[str, float],
        likely: float,
        reason: str,
        modules: tuple[str, ...] = ("bfs", "intersection"),
        shares: bool = False,
        smaller: bool = False,
    ) -> Proposal:
        """Return a proposal.

        Parameters
        ----------
        changes, reason, smaller
            As of `Proposal`.
        parts : mapping of str to float
            The part of each cause's cycles that it saves at most.
        likely : float
            The part of these that the record speaks for.
        modules : tuple of str
            The kinds of kernels that it is about.
        shares : bool
            Whether it shares the work anew between kernels.
        """
        of = self._mean if shares else self._last
        whole = {cause: sum(of[module][cause] for module in modules if module in of) for cause in CAUSE_NAMES}
        own = {cause: part * whole[cause] for cause, part in parts.items()}
        # Every change is other timing, which may lower these: others are done sooner, fewer vertices are pushed twice.
        besides = _parts({"following": 1.0, "waits": self.again, "work": self.again})
        others = {cause: part * whole[cause] for cause, part in besides.items()}
        return Proposal(
            changes=changes,
            cause=max(own, key=lambda cause: own[cause]),
            most=sum(max(own.get(cause, 0.0), others.get(cause, 0.0)) for cause in CAUSE_NAMES),
            promise=likely * sum(own.values()),
            reason=reason,
            smaller=smaller,
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

    def figure(self, value: float | str, names: Iterable[str] = ()) -> float:
        """Return a number of the table: itself, a property by its name, or the share of a cause in the requests.

        What is ``reserved`` is the least of some parameters.
        """
        if value == "reserved":
            return min(map(self.reserved, names))
        if value in CAUSE_NAMES:
            return self._issued(str(value)) / max(sum(map(self._issued, WORK)), 1.0)
        return float(getattr(self, value)) if isinstance(value, str) else value

    def holds(self, where: str) -> bool:
        """Return whether a condition of the table holds: a property of machine or record, or its opposite."""
        name = where.removeprefix("no ")
        return not where or bool(getattr(self.config, name, None) or getattr(self, name, None)) == (name == where)

    def share(self, *groups: str) -> float:
        """Return the share of the kernel-cycles with causes of some groups."""
        return sum(shares[cause] for shares in self._mean.values() for cause in _parts(dict.fromkeys(groups, 1.0)))

    @property
    def busy(self) -> float:
        """Share of the cycles in which kernels wait neither for others nor for the token to start."""
        return 1 - self.share("following", "starting")

    @property
    def rest(self) -> float:
        """Share of the cycles without work that the token's turns explain, and not reads."""
        turns, reads = self.share("turns", "ending"), self.share("reads")
        return self.share("no_work") * turns / max(turns + reads, 1e-9)

    @property
    def several(self) -> bool:
        """Whether the machine has several AEs."""
        return self.config.engines > 1

    @property
    def small_filter(self) -> bool:
        """Whether a filter of visited vertices could be larger."""
        return self.config.visited_filter < min(self.vertices, _LACKING.visited_filter)

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

    def _issued(self, cause: str) -> float:
        """Return the requests of a cause of all BFS kernels."""
        searches = self._evidence.get("bfs")
        return 0.0 if searches is None else searches.stack[cause] * searches.kernels


def _numbers(memory: Profile | None) -> dict[str, int]:
    """Return the parameters of a memory, if it is known."""
    return {} if memory is None else asdict(memory)


def _parts(saved: Mapping[str, float]) -> dict[str, float]:
    """Return the part of each cause that a change may save, given those of causes and groups of them."""
    return {cause: part for name, part in saved.items() for cause in _CAUSES.get(name, (name,))}


def _of_machine(seen: _Seen) -> Iterator[Proposal]:
    """Yield the changes of a machine that the record speaks for."""
    for row in _TABLE.changes:
        settings = row.settings(seen.config)
        likely = seen.figure(row.likely, settings) * seen.figure(row.times)
        if likely >= row.least and seen.holds(row.where):
            saved = _parts({name: seen.figure(part) for name, part in row.saves.items()})
            yield seen.proposal(settings, saved, likely, row.reason, row.modules, row.shares, row.smaller)


def _of_memory(seen: _Seen) -> Iterator[Proposal]:
    """Yield the changes of a memory."""
    waits, numbers, known = _parts({"reads": 1.0}), _numbers(seen.memory), _TABLE.names
    times = [
        name for name in numbers if name not in (*_TABLE.more, *known["maps"], *known["refresh"], *known["others"])
    ]
    of_banks = [name for name in times if not any(part in name for part in known["travel"])]
    for name, value in numbers.items():
        named = MEMORY + name
        if name in known["maps"]:
            for changed in (2 * value, value // 2):
                reason = "Another map of addresses may divide accesses better."
                yield seen.proposal({named: changed}, waits, 0.1, reason)
        elif name in _TABLE.more:
            use = seen.link_use if name in ("links", "port_queue") else max(seen.bank_use, seen.link_use)
            yield seen.proposal({named: 2 * value}, waits, use / 3, _TABLE.more[name])
        elif name == "flush_travel":
            sooner = "The last writes of a level are known to be complete sooner."
            yield seen.proposal({named: value // 2}, {"flush": 1.0}, 0.5, sooner)
        elif name in known["refresh"]:
            # What reads wait for where banks are hardly used is refresh, or behind reads that wait for it.
            half = max(numbers["t_rfc"] / numbers["t_refi"], (1 - seen.unloaded) * (1 - seen.bank_use)) / 2
            yield seen.proposal(
                {named: value // 2 if name == "t_rfc" else 2 * value}, waits, half, "Less time is refreshed."
            )
        elif name in times:
            likely = value / 2 * (seen.tick if name.startswith(known["ticks"]) else 1.0) / seen.latency
            reason = "Answers come sooner."
            if name in of_banks:
                # What makes accesses wait for banks is divided between the times of a bank.
                queueing = max(seen.bank_use, 1 - seen.unloaded) / (1 + len(of_banks))
                likely = queueing if name.startswith(known["gaps"]) else max(likely, queueing)
                reason = "A bank is free again sooner."
            yield seen.proposal({named: value // 2}, waits, likely, reason)


def _others(seen: _Seen) -> Iterator[Proposal]:
    """Yield all numbers doubled and halved that nothing in the record speaks for: timing has side effects."""
    reason = "Other timing: fewer vertices may be pushed twice, or fewer accesses meet at a bank."
    memory, known = {MEMORY + name: value for name, value in _numbers(seen.memory).items()}, _TABLE.names
    waits = _parts({"waits": 1.0})
    for name, value in {**asdict(seen.config), **memory}.items():
        unused = seen.searches_only and name in known["intersecting"]
        if isinstance(value, bool) or not value or unused or name in known["no_numbers"]:
            continue
        yield seen.proposal({name: 2 * value}, waits, _OTHERWISE, reason)
        fewer = name in ("engines", "bfs_kernels", "intersection_kernels")
        yield seen.proposal({name: value // 2}, waits, _OTHERWISE, reason, smaller=fewer)
