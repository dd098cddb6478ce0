"""Groups of recorded runs: means and spreads, a comparison by common inputs, and the answer with its sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean, stdev, variance
from typing import Any

import pandas as pd

from cyscc.host.analysis.explain.comparison import Comparison, compare, numbered_alike
from cyscc.host.analysis.explain.difference import FORMS, difference_causes, settings_text
from cyscc.host.analysis.explain.explanation import causes_table
from cyscc.host.analysis.explain.settings import INPUTS, machine_text, memory_text, settings_of, settings_that_differ
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.answer.answer import ROWS, Answer, Table
from cyscc.host.answer.colours import STACK
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

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


_NAMED = 3
"""Most causes named in a sentence."""
_SHOWN = 0.0005
"""Least share of the cycles with which a cause is listed."""


def grouped(groups: Sequence[RunGroup], *, top: int | None = None) -> Answer:
    """Return the comparison of each further group of runs with the first; the summary of an only one.

    Parameters
    ----------
    groups : sequence of RunGroup
        The groups.
    top : int, optional
        Most inputs that are shown.
    """
    comparisons = compare_groups(groups)
    differing = settings_that_differ([group.records[0] for group in groups])
    settings = {name: values for name, values in differing.items() if name not in INPUTS}
    said = groups_conclusion(groups, comparisons)
    return Answer(
        title=said[0],
        facts={"settings that differ": settings_text(settings)} if settings else {},
        said=said[1:],
        tables={
            "groups": _groups(groups),
            "comparisons": _comparisons(comparisons),
            "runs": _runs(groups, top or ROWS, shown=not comparisons),
            "inputs": _inputs(comparisons, top or ROWS),
            "causes": causes_table(
                {group.name: {name: group.causes[name].mean for name in STACK} for group in groups}, of=": mean"
            ),
        },
        fields={"conclusion": " ".join(said), "settings": settings},
    )


def groups_conclusion(groups: Sequence[RunGroup], comparisons: Sequence[GroupComparison]) -> list[str]:
    """Return the conclusion as sentences: of each comparison with the first group, or of the only group."""
    if comparisons:
        return [sentence for comparison in comparisons for sentence in _compared(comparison)]
    (group,) = groups
    cycles, rate = group.cycles, group.gteps
    return [
        f"{group.name}: {count_text(len(group.records), 'run')} of {cycles.least:,.0f} to {cycles.most:,.0f} cycles, "
        f"on average {cycles.text(',.0f')}; {rate.least:.3f} to {rate.most:.3f} GTEPS, on average {rate.text('.3f')}."
    ]


def _compared(comparison: GroupComparison) -> list[str]:
    """Return the sentences on two groups: how much longer the second takes, and whether that is beyond the spread."""
    first, second, ratios = comparison.first.name, comparison.second.name, comparison.ratios
    slower = comparison.ratio > 1
    interval = comparison.interval

    def times(ratio: float) -> float:
        return ratio if slower else 1 / ratio

    within = ""
    if interval is not None:
        low, high = sorted(map(times, interval))
        within = f"95 % interval {low:.3f} to {high:.3f}"
    if not ratios:
        runs = [count_text(len(group.records), "run") for group in (comparison.first, comparison.second)]
        how = f"{times(comparison.ratio):.3f} times as {'slow' if slower else 'fast'}"
        found = [
            f"{second} traverses edges {how} as {first} (geometric means of {runs[1]} and {runs[0]}"
            f"{f'; {within}' if within else ''}). They have no input in common, so rates are compared."
        ]
    elif all(ratio == 1 for ratio in ratios):
        return [f"{second} takes as long as {first} on {_all(len(ratios), len(ratios))}.", *_left_out(comparison)]
    else:
        agree = sum(ratio > 1 if slower else ratio < 1 for ratio in ratios)
        low, high = sorted(times(ratio) for ratio in (min(ratios), max(ratios)))
        parts = ["geometric mean", f"{low:.3f} to {high:.3f}", within] if len(ratios) > 1 else []
        told = f" ({', '.join(filter(None, parts))})" if parts else ""
        found = [
            f"{second} is {'slower' if slower else 'faster'} than {first} on {_all(agree, len(ratios))}: "
            f"{times(comparison.ratio):.3f} times as {'long' if slower else 'fast'}{told}."
        ]
    if interval is None:
        found.append(f"The spread is not known: that takes {FEWEST} inputs or more.")
    elif comparison.beyond_spread:
        found.append("The difference is larger than the spread.")
    else:
        found.append("The difference is not larger than the spread: the interval contains 1.")
    return [*found, *_left_out(comparison), *_why(comparison)]


def _all(agree: int, count: int) -> str:
    if count == 1:
        return "the one input that both have"
    return f"all {count} inputs" if agree == count else f"{agree} of {count} inputs"


def _left_out(comparison: GroupComparison) -> list[str]:
    first, second = comparison.left_out
    if not (first or second):
        return []
    groups = f"{count_text(first, 'run')} of {comparison.first.name} and {second} of {comparison.second.name}"
    return [f"Left out are {groups}, whose inputs the other has not."]


def _why(comparison: GroupComparison) -> list[str]:
    ranked = sorted(comparison.causes.items(), key=lambda cause: -abs(cause[1].mean))
    named = [
        f"{cause_named(name).title} {share.text('.1%', sign='+')}"
        for name, share in ranked[:_NAMED]
        if abs(share.mean) >= _SHOWN
    ]
    return [f"By cause, of the cycles of {comparison.first.name}: {', '.join(named)}."] if named else []


def _groups(groups: Sequence[RunGroup]) -> Table:
    frame = pd.DataFrame(
        [
            {
                "group": group.name,
                "runs": len(group.records),
                **{"cycles" if name == "mean" else name: value for name, value in asdict(group.cycles).items()},
                "gteps": group.gteps.mean,
                "gteps_deviation": group.gteps.deviation,
            }
            for group in groups
        ]
    )
    return FORMS.table("groups", frame)


def _comparisons(comparisons: Sequence[GroupComparison]) -> Table:
    frame = pd.DataFrame(
        [
            {
                "first": each.first.name,
                "second": each.second.name,
                "ratio": each.ratio,
                "low": None if each.interval is None else each.interval[0],
                "high": None if each.interval is None else each.interval[1],
                "beyond_spread": each.beyond_spread,
                "left_out": list(each.left_out),
                **{name: share.mean for name, share in each.causes.items()},
            }
            for each in comparisons
        ]
    )
    return FORMS.table("comparisons", frame)


def _runs(groups: Sequence[RunGroup], most: int, *, shown: bool) -> Table:
    frame = pd.DataFrame([_run_row(group, record) for group in groups for record in group.records])
    return FORMS.table("runs", frame, most=most, shown=shown)


def _run_row(group: RunGroup, record: Record) -> dict[str, Any]:
    result = record.result
    return {
        "group": group.name,
        "record": printable(str(record.folder)),
        **_input(record),
        "cycles": result["cycles"]["total"],
        "seconds": result["seconds"],
        "gteps": result["gteps"],
    }


def _input(record: Record) -> dict[str, Any]:
    run = record.document["run"]
    return {"input": input_text(record), "graph": run["graph"], "source": run["options"].get("source")}


def _inputs(comparisons: Sequence[GroupComparison], most: int) -> Table:
    rows = [_pair_row(each, pair) for each in comparisons for pair in each.pairs]
    against = f"{comparisons[0].second.name} against {comparisons[0].first.name}, " if len(comparisons) == 1 else ""
    several = [] if len(comparisons) > 1 else ["group"]
    return FORMS.table("inputs", pd.DataFrame(rows), {"against": against}, without=several, most=most)


def _pair_row(comparison: GroupComparison, pair: Comparison) -> dict[str, Any]:
    return {
        "group": comparison.second.name,
        **_input(pair.first),
        "first": printable(str(pair.first.folder)),
        "second": printable(str(pair.second.folder)),
        "first_cycles": pair.cycles[0],
        "second_cycles": pair.cycles[1],
        "ratio": pair.seconds[1] / pair.seconds[0],
        "why": difference_causes(pair.causes),
        **{name: pair.causes[name] for name in CAUSE_NAMES},
    }
