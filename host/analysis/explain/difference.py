"""The comparison of two records as an answer: where and why one is slower than the other, and its tables."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.analysis.explain.comparison import Comparison, numbered_alike
from cyscc.host.analysis.explain.evidence import Evidence
from cyscc.host.answer.answer import ROWS, Answer, Forms, Table
from cyscc.host.output.text import count_text
from cyscc.host.record.display import OUTSIDE, cycles_text, instruction_text, record_title, run_document
from cyscc.host.specification.overrides import MEMORY, toml_text
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK, cause_named

_FEW = 3
"""Most causes named in a row."""
_SHOWN = 0.5
"""Least difference in cycles by a cause that is shown."""
FORMS = Forms(__file__)
"""Forms of the tables of this room."""


def difference(comparison: Comparison, *, top: int | None = None) -> Answer:
    """Return where and why the second of two records takes more cycles than the first.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    top : int, optional
        Most levels that are shown.
    """
    first, second = comparison.first, comparison.second
    said = conclusion(comparison)
    runs = {"first": first, "second": second}
    facts = {name: f"{record_title(record)}; cycles {cycles_text(record)}" for name, record in runs.items()}
    settings = {"settings that differ": settings_text(comparison.settings)} if comparison.settings else {}
    whole = comparison.cycles[0]
    levels = comparison.levels.assign(where=[instruction_text(row) for _, row in comparison.levels.iterrows()])
    other = (levels["iteration"] != levels["second_iteration"]).any()
    return Answer(
        title=said[0],
        facts={**facts, **settings},
        said=said[1:],
        tables={
            "times": _times(comparison),
            "causes": _causes(comparison),
            "phases": _rows("by phase", comparison.phases, "phase", whole),
            "unpaired": _rows("iterations that only one run has", comparison.unpaired, "phase", whole),
            "levels": _rows(
                "by level, those that differ most",
                levels,
                "level",
                whole,
                without=["phase", *([] if other else ["second_iteration"])],
                rows=levels["difference"].abs().nlargest(top or ROWS).index.sort_values().tolist(),
            ),
        },
        fields={
            "conclusion": " ".join(said),
            "first": run_document(first),
            "second": run_document(second),
            "same_graph": comparison.same_graph,
            "settings": comparison.settings,
            "cycles": comparison.difference,
            "compared": {
                "cycles": list(comparison.cycles),
                "seconds": list(comparison.seconds),
                "edges": list(comparison.edges),
                "left_out": list(comparison.left_out),
            },
        },
    )


def settings_text(settings: Mapping[str, Sequence[Any]]) -> str:
    """Return settings that differ with the values of each run: ``issue_interval 1 -> 2, memory hc2 -> fixed:75``."""
    return ", ".join(f"{printable(name)} {' -> '.join(map(_value, values))}" for name, values in settings.items())


def _value(value: object) -> str:
    return printable("none" if value is None else str(value).lower() if isinstance(value, bool) else str(value))


def _share(part: "pd.Series[Any]", whole: "pd.Series[Any] | float") -> "pd.Series[Any]":
    """Return differences as shares of wholes; missing where there is no whole."""
    return part / (whole if isinstance(whole, pd.Series) else pd.Series(whole, index=part.index)).where(
        lambda each: each != 0
    )


def _times(comparison: Comparison) -> Table:
    frame = pd.DataFrame(
        [(name, one, other, other - one) for name, (one, other) in comparison.times.items()],
        columns=["part", "first", "second", "difference"],
    )
    frame["of_first"] = _share(frame["difference"], frame["first"])
    frame["name"] = [OUTSIDE.get(part, ("", ""))[1] or part for part in frame["part"]]
    return FORMS.table("times", frame, shown=not comparison.selected)


def cause_cells(name: str) -> dict[str, Any]:
    """Return the cells of `CAUSE_COLUMNS` of a cause."""
    return {"letter": cause_named(name).letter, "cause": name, "title": cause_named(name).title}


def _causes(comparison: Comparison) -> Table:
    ranked = sorted(comparison.causes.items(), key=lambda item: -abs(item[1]))
    frame = pd.DataFrame([{**cause_cells(name), "cycles": cycles} for name, cycles in ranked])
    frame["of_run"] = _share(frame["cycles"], comparison.cycles[0])
    return FORMS.table("changed_causes", frame, rows=frame.index[frame["cycles"].abs() >= _SHOWN].tolist())


def _rows(title: str, frame: pd.DataFrame, unit: str, whole: int, **shown: Any) -> Table:
    """Return the rows of a frame, with each difference as a share of the unit's cycles and of those of the run."""
    frame = frame.assign(
        of_unit=_share(frame["difference"], frame["first_cycles"]),
        of_run=_share(frame["difference"], whole),
        why=[difference_causes(row) for row in frame.to_dict("records")],
    )
    return FORMS.table("changes", frame, {"title": title, "unit": unit}, **shown)


def difference_causes(causes: "Mapping[str, Any] | Mapping[Any, Any]") -> str:
    """Return the causes that contribute most to a difference: ``refused +312, slot -40``."""
    ranked = sorted(CAUSE_NAMES, key=lambda name: -abs(float(causes[name])))
    return ", ".join(
        f"{name} {float(causes[name]):+,.0f}" for name in ranked[:_FEW] if abs(float(causes[name])) >= _SHOWN
    )


_PLACE = 0.8
"""Least share of a search's difference in the levels that are named as its place."""
_ONE_SEARCH = 0.5
"""Share of the difference from which on one search of many is named as its place."""
_FELT = 0.005
"""Least difference, as a share of the time, that is called slower or faster; `--try` has the same bound."""
_CANCEL = 3.0
"""Cycles of the causes that change, as a multiple of the difference, from which on they mostly cancel."""
_EXPLAINED = 0.8
"""Least share of the causes named, among those that change in the direction of the difference."""
_AGAINST = 0.1
"""Share of the difference from which on a cause that changes in the opposite direction is named."""


def run_names(comparison: Comparison) -> tuple[str, str]:
    """Return the names of both runs: the folders of their records."""
    first, second = (printable(str(record.folder)) for record in (comparison.first, comparison.second))
    return (first, second) if first != second else ("the first run", "the second run")


def share_text(difference: float, whole: float) -> str:
    """Return a difference as a percentage of a whole; empty if there is no whole."""
    share = difference / whole if whole else 0.0
    digits = 1 if abs(share) >= 0.0005 or not share else 2 if abs(share) >= 0.00005 else 4
    return f"{share:+.{digits}%}" if whole else ""


def time_text(seconds: float) -> str:
    """Return a simulated time in milliseconds."""
    return f"{seconds * 1e3:,.4g} ms"


def conclusion(comparison: Comparison) -> list[str]:
    """Return the conclusion as sentences, which speak of cycles of instructions, without the time of the host."""
    found = [_slower(comparison), *_left_out(comparison), *_other_work(comparison)]
    if comparison.difference:
        return [*found, *_where(comparison), *causes_of(comparison), *_ablation(comparison)]
    more = int(comparison.levels["difference"].clip(lower=0).sum())
    return [*found, f"Some levels take {more:,} cycles more, others as many fewer."] if more else found


def _slower(comparison: Comparison) -> str:
    """Return the sentence that says which run is slower, and by how much."""
    first, second = run_names(comparison)
    (one, other), (one_time, other_time) = comparison.cycles, comparison.seconds
    if not (one or other):
        return f"{first} and {second} have no complete instruction in common."
    clocks = [record.document["clock_hz"] / 1e6 for record in (comparison.first, comparison.second)]
    share = share_text(other - one, one)
    how = "slower" if other_time > one_time else "faster"
    if clocks[0] != clocks[1]:
        times = f"{time_text(other_time)} at {clocks[1]:g} MHz against {time_text(one_time)} at {clocks[0]:g} MHz"
        by = f"{times} ({share_text(other_time - one_time, one_time)}), {other:,} against {one:,} cycles ({share}),"
    else:
        how = how if other != one else "equal"
        by = f"{other:,} against {one:,} cycles, {other - one:+,} ({share}),"
    what = "In the instructions shown, " if comparison.selected else ""
    if how == "equal":
        why = _whole_turns(comparison)
        return f"{what}{second} is as fast as {first}: {one:,} cycles, without the time of the host.{why}"
    if abs(other_time - one_time) < _FELT * one_time:
        return f"{what}{second} takes nearly as long as {first}: {by} without the time of the host."
    return f"{what}{second} is {how} than {first}: {by} without the time of the host."


def _whole_turns(comparison: Comparison) -> str:
    """Return the sentence that says why equal cycles of different machines need not mean equal speed."""
    rows = comparison.first.instructions
    if not (comparison.settings and (rows["module"] == "bfs").any()):
        return ""
    turn = Evidence(comparison.first, rows[rows["module"] == "bfs"]).turn
    return f" Levels end when the token comes round, each {turn} cycles: smaller differences do not show."


def _left_out(comparison: Comparison) -> list[str]:
    """Return the sentences on what the comparison does not cover: interrupted runs, attempts given up."""
    found = []
    for name, record in zip(run_names(comparison), (comparison.first, comparison.second), strict=True):
        if record.interrupted is not None:
            found.append(f"{name}: {printable(record.ending)}.")
    if found:
        counts = " and ".join(f"{count:,}" for count in comparison.left_out)
        found.append(f"Only instructions of both records are compared: {counts} are left out.")
    given_up = comparison.times.get("restarted")
    if given_up is not None and not comparison.selected:
        one, other = given_up
        found.append(f"Attempts that were given up, {one:,} and {other:,} cycles, are not counted.")
    return found


def _other_work(comparison: Comparison) -> list[str]:
    """Return the sentences on the work, where it is not the same."""
    settings = comparison.settings
    found = []
    if "command" in settings:
        one, other = settings["command"]
        found.append(f"The algorithms differ ({one} and {other}): nothing is paired.")
    elif not numbered_alike(comparison.first, comparison.second):
        paired = "levels of one number may have little in common" if comparison.unpaired.empty else "nothing is paired"
        found.append(f"The graphs differ: {paired}.")
    elif "simplify" in settings:
        found.append("One of the graphs is without its repeated edges.")
    if "source" in settings and "command" not in settings:
        one, other = settings["source"]
        found.append(f"The searches begin at different vertices, {one} and {other}.")
    (one, other), (edges, others) = comparison.cycles, comparison.edges
    # The edges of a search are known at its end.
    complete = comparison.first.interrupted is None and comparison.second.interrupted is None
    if complete and edges != others and edges and others:
        found.append(
            f"For each edge traversed it takes {other / others:.4g} against {one / edges:.4g} cycles "
            f"({share_text(other / others - one / edges, one / edges)}); the edges are {others:,} against {edges:,}."
        )
    return found


def _where(comparison: Comparison) -> list[str]:
    """Return the sentences on the phases, iterations and levels in which the cycles differ."""
    phases, levels, lone = comparison.phases, comparison.levels, comparison.unpaired
    found = []
    if len(phases) > 1:
        parts = [f"{row.phase} {row.difference:+,}" for row in phases.itertuples()]
        found.append(f"By phase: {', '.join(parts)} cycles.")
    if not lone.empty:
        first, second = run_names(comparison)
        cycles = f"{lone['first_cycles'].sum():,} and {lone['second_cycles'].sum():,} cycles"
        counts = [count_text(int(lone[f"{name}_iterations"].max()), "iteration") for name in ("first", "second")]
        found.append(
            f"Not paired: {counts[0]} of {first} and {counts[1]} of {second}, {cycles} "
            f"({lone['difference'].sum():+,} of {comparison.difference:+,})."
        )
    if len(levels) > 1:
        found += _place(levels, comparison.difference)
    return found


def _place(levels: pd.DataFrame, difference: int) -> list[str]:
    """Return the sentence on the search, and its levels, where most of the difference is."""
    sign = 1 if difference > 0 else -1
    sums = levels.groupby(["iteration", "phase"], sort=False)["difference"].sum()
    iteration, phase = (sums * sign).idxmax()
    most = int(sums[iteration, phase])
    if most * sign <= 0:
        return []
    if most * sign < _ONE_SEARCH * abs(difference):
        parts = int((sums * sign > 0).sum())
        return [
            f"The difference is spread over {parts:,} searches and intersections: none has more than {most:+,} cycles."
        ]
    search = levels[(levels["iteration"] == iteration) & (levels["phase"] == phase)]
    begin, end = _densest(search["difference"].to_numpy() * sign)
    numbers = search["level"].tolist()
    cycles = int(search["difference"].iloc[begin:end].sum())
    which = f"level {numbers[begin]}"
    if end > begin + 1:
        which = f"levels {numbers[begin]} {'and' if end == begin + 2 else 'to'} {numbers[end - 1]}"
    if phase == "intersection":
        which = f"the intersection of iteration {iteration}"
    elif iteration:
        which += f" of the {phase} search of iteration {iteration}"
    rest = f", all else {difference - cycles:+,}" if difference != cycles else ""
    return [f"The largest part is in {which}: {cycles:+,} cycles{rest}."]


def _densest(gains: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the shortest range with the share `_PLACE` of the sum, which is above 0; of several, the largest one."""
    sums = np.concatenate([[0], np.cumsum(gains)])
    enough = _PLACE * sums[-1]
    for length in range(1, gains.size + 1):
        inside = sums[length:] - sums[:-length]
        begin = int(np.argmax(inside))
        if inside[begin] >= enough:
            return begin, begin + length
    return 0, gains.size


def causes_of(comparison: Comparison) -> list[str]:
    """Return the sentences on the causes that make the difference.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    """
    difference, causes = comparison.difference, comparison.causes
    sign = 1 if difference > 0 else -1
    titles = {name: cause_named(name).title for name in CAUSE_NAMES if name not in WORK}
    parts = {title if title == name else f"{title} ({name})": causes[name] for name, title in titles.items()}
    parts["issuing requests"] = sum(causes[name] for name in WORK)
    ranked = sorted(parts.items(), key=lambda part: -sign * part[1])
    along = [(name, cycles) for name, cycles in ranked if cycles * sign > 0]
    against = [(name, cycles) for name, cycles in reversed(ranked) if cycles * sign < -_AGAINST * abs(difference)]
    named, enough = [], _EXPLAINED * sum(cycles for _, cycles in along) * sign
    for name, cycles in along:
        named.append(f"{name} {cycles:+,.0f}")
        enough -= cycles * sign
        if enough <= 0:
            break
    less = f"; against it {', '.join(f'{name} {cycles:+,.0f}' for name, cycles in against)}" if against else ""
    changed = sum(abs(cycles) for _, cycles in ranked)
    what = "The causes are"
    if changed >= _CANCEL * abs(difference):
        what = f"The causes mostly cancel, since the run has another course ({changed:,.0f} cycles in all):"
    found = [f"{what} {', '.join(named)}{less}."]
    kernels = [record.kernels("bfs") for record in (comparison.first, comparison.second)]
    if kernels[0] != kernels[1]:
        found.append(f"Cycles of a cause are those of an average kernel, of {kernels[0]} and {kernels[1]}.")
    return found


def _ablation(comparison: Comparison) -> list[str]:
    """Return the sentence with the command that measures each of several settings of the machine by itself."""
    own = {name: values[1] for name, values in comparison.settings.items() if _changeable(name, values[1])}
    if len(own) < 2:
        return []
    tried = " ".join(f"--try {shlex.quote(f'{name}={_text(name, value)}')}" for name, value in own.items())
    return [f"Each alone: cyscc explain {shlex.quote(printable(str(comparison.first.folder)))} {tried}"]


def _changeable(name: str, value: Any) -> bool:
    """Whether a setting is one of the machine, with a value that ``--try`` takes."""
    if name == "memory":
        return "(" not in str(value)  # a name alone
    known = (
        name.startswith(MEMORY) or name in ("simplify", "queue_slack") or name in AcceleratorConfig.__dataclass_fields__
    )
    return known and value is not None


def _text(name: str, value: Any) -> str:
    return str(value) if name == "memory" else toml_text(value)
