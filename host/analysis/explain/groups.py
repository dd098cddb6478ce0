"""Groups of recorded runs: means and spreads, a comparison by common inputs, and the answer with its sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from cyscc.host.analysis.explain.comparison import Comparison, compare, numbered_alike
from cyscc.host.analysis.explain.difference import FORMS, difference_causes, settings_text
from cyscc.host.analysis.explain.explanation import causes_table
from cyscc.host.analysis.explain.settings import INPUTS, machine_text, memory_text, settings_of, settings_that_differ
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.answer.answer import ROWS, Answer
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, cause_named

_CONFIDENCE = 0.95
FEWEST = 3
"""Fewest inputs from which the spread is estimated: of two, the interval is so wide that it says nothing."""
_NAMED = 3
"""Most causes named in a sentence."""
_SHOWN = 0.0005
"""Least share of the cycles with which a cause is listed."""


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
    def runs(self) -> pd.DataFrame:
        """A row for each run: `group`, `record`, its input, `cycles`, `seconds` and `gteps` of its result."""
        rows = [
            {
                "group": self.name,
                "record": printable(str(record.folder)),
                **_input(record),
                "cycles": record.result["cycles"]["total"],
                **{name: record.result[name] for name in ("seconds", "gteps")},
            }
            for record in self.records
        ]
        return pd.DataFrame(rows)

    @cached_property
    def causes(self) -> pd.DataFrame:
        """Share of each cause in the cycles of an average kernel, instructions only: a row for each run."""
        sums = [stacks(each, each.instructions, "phase")[["cycles", *CAUSE_NAMES]].sum() for each in self.records]
        frame = pd.DataFrame(sums)
        return frame[CAUSE_NAMES].div(frame["cycles"].clip(lower=1), axis=0)


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
    def inputs(self) -> pd.DataFrame:
        """A row for each input: the cycles of both runs, the `ratio` of their times, and the difference by cause."""
        rows = [
            {
                "group": self.second.name,
                **_input(pair.first),
                "first": printable(str(pair.first.folder)),
                "second": printable(str(pair.second.folder)),
                "first_cycles": pair.cycles[0],
                "second_cycles": pair.cycles[1],
                "ratio": pair.seconds[1] / pair.seconds[0],
                "why": difference_causes(pair.causes),
                **pair.causes,
            }
            for pair in self.pairs
        ]
        return pd.DataFrame(rows)

    @property
    def _samples(self) -> "list[pd.Series[float]]":
        """Logarithms of the ratios of times; without common inputs, of the rates of each group's runs."""
        columns = [self.inputs["ratio"]] if self.pairs else [each.runs["gteps"] for each in (self.first, self.second)]
        return [np.log(column) for column in columns]

    @property
    def ratio(self) -> float:
        """Geometric mean of the ratios; without common inputs, of the first group's rates by that of the second's."""
        one, *others = (float(sample.mean()) for sample in self._samples)
        return math.exp(one - sum(others))

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval (95 %) of the ratio, by Student's t of its logarithm; None if the spread is not known."""
        from scipy.special import stdtrit  # of scipy.stats the import alone takes a second

        samples = self._samples
        if min(map(len, samples)) < FEWEST:
            return None
        errors = [float(sample.var()) / len(sample) for sample in samples]
        error = sum(errors)
        # Welch and Satterthwaite; of one sample these are its own degrees.
        parts = sum(each**2 / (len(sample) - 1) for each, sample in zip(errors, samples, strict=True))
        half = stdtrit(error**2 / parts, (1 + _CONFIDENCE) / 2) * math.sqrt(error) if parts else 0.0
        return self.ratio / math.exp(half), self.ratio * math.exp(half)

    @property
    def beyond_spread(self) -> bool:
        """Whether the difference is larger than the spread: the interval does not contain 1."""
        return self.interval is not None and not self.interval[0] <= 1 <= self.interval[1]

    @property
    def left_out(self) -> tuple[int, int]:
        """Number of runs of each group on inputs that the other has not; none if there are no common inputs."""
        count = len(self.pairs)
        return (len(self.first.records) - count, len(self.second.records) - count) if count else (0, 0)

    @cached_property
    def causes(self) -> pd.DataFrame:
        """Difference by cause as a share of the first group's cycles: a row for each common input."""
        return self.inputs[CAUSE_NAMES].div(self.inputs["first_cycles"], axis=0) if self.pairs else pd.DataFrame()


def spread_text(values: "pd.Series[Any]", form: str, *, sign: str = "") -> str:
    """Return mean and standard deviation in a format: ``6,618 ± 878``; `sign` formats the sign of the mean."""
    deviation = f" ± {values.std():{form}}" if len(values) > 1 else ""
    return f"{values.mean():{sign}{form}}{deviation}"


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
    said, most = groups_conclusion(groups, comparisons), top or ROWS
    return Answer(
        title=said[0],
        facts={"settings that differ": settings_text(settings)} if settings else {},
        said=said[1:],
        tables={
            "groups": FORMS.table("groups", _spreads(groups)),
            "comparisons": FORMS.table("comparisons", pd.DataFrame(map(_comparison, comparisons))),
            "runs": FORMS.table(
                "runs", pd.concat([each.runs for each in groups], ignore_index=True), most=most, shown=not comparisons
            ),
            "inputs": FORMS.table(
                "inputs",
                pd.concat([each.inputs for each in comparisons], ignore_index=True) if comparisons else pd.DataFrame(),
                {"against": f"{groups[1].name} against {groups[0].name}, " if len(comparisons) == 1 else ""},
                without=[] if len(comparisons) > 1 else ["group"],
                most=most,
            ),
            "causes": causes_table({group.name: group.causes.mean().to_dict() for group in groups}, of=": mean"),
        },
        fields={"conclusion": " ".join(said), "settings": settings},
    )


def groups_conclusion(groups: Sequence[RunGroup], comparisons: Sequence[GroupComparison]) -> list[str]:
    """Return the conclusion as sentences: of each comparison with the first group, or of the only group."""
    if comparisons:
        return [sentence for comparison in comparisons for sentence in _compared(comparison)]
    (group,) = groups
    cycles, rate = group.runs["cycles"], group.runs["gteps"]
    return [
        f"{group.name}: {count_text(len(cycles), 'run')} of {cycles.min():,.0f} to {cycles.max():,.0f} cycles, on "
        f"average {spread_text(cycles, ',.0f')}; {rate.min():.3f} to {rate.max():.3f} GTEPS, on average "
        f"{spread_text(rate, '.3f')}."
    ]


def _compared(comparison: GroupComparison) -> list[str]:
    """Return the sentences on two groups: how much longer the second takes, and whether that is beyond the spread."""
    first, second = comparison.first.name, comparison.second.name
    ratios = comparison.inputs["ratio"].tolist() if comparison.pairs else []
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
    causes = comparison.causes
    named = [
        f"{cause_named(str(name)).title} {spread_text(causes[name], '.1%', sign='+')}"
        for name in causes.mean().sort_values(key=lambda mean: -abs(mean), kind="stable").index[:_NAMED]
        if abs(causes[name].mean()) >= _SHOWN
    ]
    return [f"By cause, of the cycles of {comparison.first.name}: {', '.join(named)}."] if named else []


def _spreads(groups: Sequence[RunGroup]) -> pd.DataFrame:
    """Return mean and spread of the cycles and the rate of each group."""
    of_cycles = {"cycles": "mean", "deviation": "std", "least": "min", "most": "max"}
    rows = [
        {
            "group": group.name,
            "runs": len(group.runs),
            **{name: float(group.runs["cycles"].agg(what)) for name, what in of_cycles.items()},
            "gteps": group.runs["gteps"].mean(),
            "gteps_deviation": group.runs["gteps"].std(),
        }
        for group in groups
    ]
    return pd.DataFrame(rows)


def _comparison(comparison: GroupComparison) -> dict[str, Any]:
    low, high = comparison.interval or (None, None)
    return {
        "first": comparison.first.name,
        "second": comparison.second.name,
        "ratio": comparison.ratio,
        "low": low,
        "high": high,
        "beyond_spread": comparison.beyond_spread,
        "left_out": list(comparison.left_out),
        **comparison.causes.mean().to_dict(),
    }


def _input(record: Record) -> dict[str, Any]:
    run = record.document["run"]
    return {"input": input_text(record), "graph": run["graph"], "source": run["options"].get("source")}
