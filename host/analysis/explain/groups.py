"""Comparison of groups of runs: several graphs, seeds and sources on each of some machines."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev, variance
from typing import Any

from cyscc.host.analysis.explain.comparison import Comparison, compare, numbered_alike
from cyscc.host.analysis.explain.settings import INPUTS, machine_text, memory_text, settings_of, settings_that_differ
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES

_CONFIDENCE = 0.95
FEWEST = 3
"""Fewest inputs from which the spread is estimated: of two, the interval is so wide that it says nothing."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Mean and spread of a quantity over some runs.

    Parameters
    ----------
    mean : float
        Arithmetic mean.
    deviation : float or None
        Standard deviation of the sample; None for a single run.
    least, most : float
        Minimum and maximum.
    """

    mean: float
    deviation: float | None
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the mean and spread of values, at least one."""
        deviation = stdev(values) if len(values) > 1 else None
        return cls(mean=fmean(values), deviation=deviation, least=min(values), most=max(values))

    def text(self, form: str, *, sign: str = "") -> str:
        """Return the mean and the deviation in a format: ``6,618 ± 878``; `sign` formats the sign of the mean."""
        deviation = "" if self.deviation is None else f" ± {self.deviation:{form}}"
        return f"{self.mean:{sign}{form}}{deviation}"


@dataclass(frozen=True)
class RunGroup:
    """Recorded runs that count as repetitions of each other: of one machine, on several inputs.

    Parameters
    ----------
    name : str
        Its name.
    records : tuple of Record
        The runs, of different inputs.
    """

    name: str
    records: tuple[Record, ...]

    @cached_property
    def cycles(self) -> Spread:
        """Cycles of the results."""
        return Spread.of([float(record.result["cycles"]["total"]) for record in self.records])

    @cached_property
    def gteps(self) -> Spread:
        """Edges traversed per second, in 10⁹."""
        return Spread.of([float(record.result["gteps"]) for record in self.records])

    @cached_property
    def causes(self) -> dict[str, Spread]:
        """Share of each cause in the cycles of an average kernel, instructions only."""
        shares = [_shares(record) for record in self.records]
        return {name: Spread.of([each[name] for each in shares]) for name in CAUSE_NAMES}


def _shares(record: Record) -> dict[str, float]:
    sums = stacks(record, record.instructions, "phase")[["cycles", *CAUSE_NAMES]].sum()
    return {name: float(sums[name]) / max(float(sums["cycles"]), 1) for name in CAUSE_NAMES}


@dataclass(frozen=True)
class GroupComparison:
    """Comparison of two groups by the inputs that both have; without any, by their rates.

    Parameters
    ----------
    first, second : RunGroup
        The groups.
    pairs : tuple of Comparison
        The runs of both on one input, one comparison for each input.
    """

    first: RunGroup
    second: RunGroup
    pairs: tuple[Comparison, ...]

    @cached_property
    def ratios(self) -> list[float]:
        """Simulated time of the second group's run divided by that of the first's, for each input."""
        return [pair.seconds[1] / pair.seconds[0] for pair in self.pairs]

    @property
    def ratio(self) -> float:
        """Geometric mean of the ratios; without common inputs, of the first group's rates by that of the second's."""
        if self.pairs:
            return math.exp(fmean(map(math.log, self.ratios)))
        one, other = (fmean(logs) for logs in self._rates)
        return math.exp(one - other)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval (95 %) of the ratio, by Student's t of its logarithm; None if the spread is not known."""
        from scipy.special import stdtrit  # of scipy.stats the import alone takes a second

        samples = [[math.log(ratio) for ratio in self.ratios]] if self.pairs else list(self._rates)
        if min(map(len, samples)) < FEWEST:
            return None
        errors = [variance(sample) / len(sample) for sample in samples]
        error = sum(errors)
        # Welch and Satterthwaite; of one sample these are its own degrees.
        parts = sum(each**2 / (len(sample) - 1) for each, sample in zip(errors, samples, strict=True))
        half = stdtrit(error**2 / parts, (1 + _CONFIDENCE) / 2) * math.sqrt(error) if parts else 0.0
        middle = math.log(self.ratio)
        return math.exp(middle - half), math.exp(middle + half)

    @property
    def beyond_spread(self) -> bool:
        """Whether the difference is larger than the spread: the interval does not contain 1."""
        interval = self.interval
        return interval is not None and not interval[0] <= 1 <= interval[1]

    @property
    def left_out(self) -> tuple[int, int]:
        """Number of runs of each group on inputs that the other has not; none if there are no common inputs."""
        count = len(self.pairs)
        return (len(self.first.records) - count, len(self.second.records) - count) if count else (0, 0)

    @cached_property
    def causes(self) -> dict[str, Spread]:
        """Difference by cause as a share of the first group's cycles; empty without common inputs."""
        shares = [{name: cycles / pair.cycles[0] for name, cycles in pair.causes.items()} for pair in self.pairs]
        return {name: Spread.of([each[name] for each in shares]) for name in CAUSE_NAMES} if shares else {}

    @property
    def _rates(self) -> tuple[list[float], list[float]]:
        """Logarithms of the rates of each group's runs."""
        one, other = (
            [math.log(record.result["gteps"]) for record in group.records] for group in (self.first, self.second)
        )
        return one, other


def input_text(record: Record) -> str:
    """Return the display name of a run's input: its graph, and the source of a search."""
    run = record.document["run"]
    source = run["options"].get("source")
    return printable(run["graph"] if source is None else f"{run['graph']} from {source}")


def groups_of_runs(records: Sequence[Record], against: Sequence[Record] = ()) -> list[RunGroup]:
    """Return the groups of runs: those that differ in nothing but their inputs are of one.

    Parameters
    ----------
    records : sequence of Record
        The runs, at least one.
    against : sequence of Record
        Runs that form the first group, whatever they are; the others are then the second.

    Raises
    ------
    InputError
        A run was interrupted or ran nothing; the algorithms differ; two runs of a group have one input.
    """
    every = [*against, *records]
    for record in every:
        if record.interrupted is not None:
            raise InputError(f"is no run to compare with others: {record.ending}", path=record.folder)
        record.select()
        if record.document["command"] != every[0].document["command"]:
            raise InputError(f"is of another algorithm than {every[0].folder}", path=record.folder)
    if against:
        found = [list(against), list(records)]
    else:
        by_machine: dict[tuple[Any, ...], list[Record]] = {}
        for record in records:
            machine = tuple((name, value) for name, value in settings_of(record).items() if name not in INPUTS)
            by_machine.setdefault(machine, []).append(record)
        found = list(by_machine.values())
    for group in found:
        for place, record in enumerate(group):
            twin = next((other for other in group[:place] if _same_input(other, record)), None)
            if twin is not None:
                raise InputError(f"has the input of {twin.folder}, which is in the same group", path=record.folder)
    return [RunGroup(name, tuple(group)) for name, group in zip(_names(found), found, strict=True)]


def compare_groups(groups: Sequence[RunGroup]) -> list[GroupComparison]:
    """Compare each further group with the first, by the inputs that both have.

    Raises
    ------
    InputError
        The groups have no common input, and a run traversed no edge.
    """
    found = []
    for group in groups[1:]:
        pairs = [compare(one, other) for one in groups[0].records for other in group.records if _same_input(one, other)]
        lazy = (record for each in (groups[0], group) for record in each.records if not record.result["gteps"])
        idle = None if pairs else next(lazy, None)
        if idle is not None:
            raise InputError("traversed no edge, so that its rate cannot be compared", path=idle.folder)
        found.append(GroupComparison(groups[0], group, tuple(pairs)))
    return found


def _same_input(first: Record, second: Record) -> bool:
    one, other = (record.document["run"]["options"].get("source") for record in (first, second))
    return bool(one == other) and numbered_alike(first, second)


def _names(groups: Sequence[Sequence[Record]]) -> list[str]:
    """Return the names of groups: machine and memory where they suffice, else the settings that differ."""
    candidates: list[Callable[[Record], str]] = [lambda record: f"{machine_text(record)}, memory {memory_text(record)}"]
    if len(groups) > 1:
        differing = [name for name in settings_that_differ([group[0] for group in groups]) if name not in INPUTS]
        candidates = [machine_text, lambda record: f"memory {memory_text(record)}", *candidates]
        candidates.append(lambda record: ", ".join(f"{name} {settings_of(record).get(name)}" for name in differing))
    for name in candidates:
        names = [{name(record) for record in group} for group in groups]
        texts = [next(iter(each)) for each in names]
        if all(len(each) == 1 for each in names) and len(set(texts)) == len(texts):
            return [printable(text) for text in texts]
    return [f"group {number}" for number in range(1, len(groups) + 1)]
