"""Trials: a recorded run made again, as it was and with changes; as an answer, with their conclusion."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from os.path import relpath
from typing import Any

from cyscc.host.analysis.explain.comparison import compare
from cyscc.host.analysis.explain.difference import causes_of
from cyscc.host.analysis.explain.proposals import Proposal
from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.fpga.area import AREA, areas, known_areas
from cyscc.host.experiments.measuring.runs import PointRequest
from cyscc.host.experiments.plan.plan import Limit, LostError, Made, Plan
from cyscc.host.experiments.sheets import TABLES
from cyscc.host.experiments.sweep.recorded import RecordedPoints, cycles_of, rerun_answer, settings_text
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import MEMORY
from cyscc.host.specification.run import available_cores
from cyscc.hw.values import plain
from cyscc.sim.errors import SimulationError
from cyscc.sim.notices import printable

NOTICEABLE = 0.005
"""Least relative change of the cycles that counts as faster or slower."""

_NEVER = 1 << 62
"""More cycles, or seconds, than any run takes."""

_RUNS, _SECONDS = 10, 60
"""Default limit of the time for proposals: as many times that of the recorded run, and seconds besides."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The run with some settings changed.

    Parameters
    ----------
    settings : mapping
        The changed settings by name; empty for the run as it was.
    proposal : Proposal or None
        The proposal of this change; None for a change of the user's.
    point : PointRequest
        The run.
    cycles : int or None
        Measured cycles, see `cycles_of`; None if the run failed or was stopped.
    change : float or None
        Relative change of the measured cycles: negative if the run is faster.
    failure : str
        Reason of a failure, in one line; empty if there was none.
    stopped : bool
        Whether the run was stopped, as it took more cycles than the best one before it.
    area : dict of str to int
        Area of the machine, the columns of `cyscc.host.experiments.fpga.area.AREA`; empty if it is not known.
    """

    settings: Mapping[str, Any]
    proposal: Proposal | None = None
    point: PointRequest
    cycles: int | None
    change: float | None
    failure: str = ""
    stopped: bool = False
    area: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Display text of the change."""
        return settings_text(self.settings)

    @property
    def smaller(self) -> bool:
        """Whether it was proposed as a machine with fewer kernels."""
        return self.proposal is not None and self.proposal.smaller


@dataclass(kw_only=True)
class Trial:
    """A recorded run made again, as it was and with changes.

    Parameters
    ----------
    record : Record
        The record of the run.
    plan : Plan
        How the runs were made.
    weighed : bool
        Whether areas were asked for.
    runs : list of Attempt
        The run as it was, and with each change, the user's before those that were proposed.
    left : int
        Number of proposals that were not tried, as the time was over.
    """

    record: Record
    plan: Plan
    weighed: bool = False
    runs: list[Attempt] = field(default_factory=list)
    left: int = 0

    @property
    def baseline(self) -> Attempt:
        """The run as it was."""
        return self.runs[0]

    @property
    def attempts(self) -> list[Attempt]:
        """The run with each change."""
        return self.runs[1:]

    @property
    def best(self) -> Attempt | None:
        """The change with the fewest cycles; None if none makes the run noticeably faster."""
        faster = [each for each in self.attempts if each.change is not None and each.change <= -NOTICEABLE]
        return min(faster, key=lambda each: each.cycles or 0, default=None)

    @property
    def failed(self) -> list[Attempt]:
        """The changes with which the run failed."""
        return [each for each in self.attempts if each.failure]

    @property
    def by_area(self) -> dict[str, Attempt]:
        """The machine with the least product of cycles and area, by each part of the area; empty without areas."""
        rated = [each for each in self.runs if each.cycles is not None and each.area]
        # What differs in its memory alone, which is no part of the FPGAs, is not another machine.
        own = [each for each in rated if each is self.baseline or each.area != self.baseline.area]
        return {
            name: min(own, key=lambda each: self.weight(each, name))
            for name, present in self.baseline.area.items()
            if present and self.weighed
        }

    def weight(self, attempt: Attempt, name: str) -> float:
        """Return the product of cycles and a part of the area of an attempt, as a multiple of the present one."""
        attempted, present = ((each.cycles or 0) * each.area[name] for each in (attempt, self.baseline))
        return attempted / max(present, 1)


def checked_seconds(value: object) -> float:
    """Return a number of seconds, or the one that a text describes.

    Raises
    ------
    ValueError
        It is none, or below 0. One line.
    """
    found = plain(value)
    with suppress(ValueError):
        found = float(found) if isinstance(found, str) else found
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= _NEVER:
        raise ValueError(f"limit must be a number of seconds from 0 on, not {value!r}")
    return float(found)


def default_limit(record: Record) -> float:
    """Return the seconds that the proposals for a recorded run may take by default."""
    wall = record.result["wall"]
    return _SECONDS + _RUNS * float(sum(wall[name] for name in ("load", "build", "simulate", "record", "verify")))


def try_changes(
    runs: RecordedPoints,
    changes: Iterable[Mapping[str, Any]],
    *,
    proposed: Sequence[Proposal] = (),
    limit: float | None = None,
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
) -> Trial:
    """Make a recorded run again, as it was and with each of some changes, side by side; then with proposals.

    Proposals are tried in their order while there is time, the first in any case. A run that takes more cycles than the
    best one before it is stopped; with fewer kernels, or with areas, than the run as it was.

    Parameters
    ----------
    runs : RecordedPoints
        The run, and how it is made again. Of proposals, the areas are those of machines that are not slower; without a
        family, that of the best one if it is known from before.
    changes : iterable of mapping
        Settings that are changed together, by name. None of them is tried twice.
    proposed : sequence of Proposal
        The proposals to try.
    limit : float, optional
        Seconds for the proposals; see `default_limit`.
    on_attempt : callable
        Called with each change that was tried, when it is known.

    Raises
    ------
    SpecError
        A change is invalid.
    InputError
        The run, its graph or its memory, or the folder cannot be used.
    SimulationError
        The run as it was failed, or the synthesis did. A failed change does not raise, see `Trial.failed`.
    """
    begin, record, plan = time.monotonic(), runs.record, runs.plan
    own: list[Mapping[str, Any]] = [{}]
    own += (settings for settings in changes if settings not in own)
    others = [proposal for proposal in proposed if proposal.changes not in own]
    with plan.opened():
        trial = Trial(record=record, plan=plan, weighed=bool(plan.families))
        jobs = min(plan.jobs, len(own) + len(others))
        runs.threads = 1 if plan.scheduler is not None else max(available_cores() // jobs, 1)
        for settings in (*own, *(proposal.changes for proposal in others)):
            runs.spec(settings)

        def add(
            settings: Mapping[str, Any], point: PointRequest, outcome: Made, proposal: Proposal | None = None
        ) -> int:
            """Add a run that was made, or failed; return its cycles, those of the host included."""
            made = outcome if isinstance(outcome, dict) else None
            stopped = isinstance(outcome, LostError)
            cycles = None if made is None else made["row"]["cycles"]
            present = trial.runs[0].cycles if trial.runs else cycles
            attempt = Attempt(
                settings=settings,
                proposal=proposal,
                point=point,
                cycles=cycles,
                change=None if cycles is None else cycles / max(present or 0, 1) - 1,
                failure="" if made or stopped else str(outcome),
                stopped=stopped,
            )
            trial.runs.append(attempt)
            if settings:
                on_attempt(attempt)
            return _NEVER if made is None else int(made["cycles"])

        given = [runs.point(settings) for settings in own]
        with plan.progress.step("simulating") as step:
            outcomes: dict[str, Made] = {**runs.make(given, step), **plan.failures}
        if not isinstance(failure := outcomes[given[0].digest], dict):
            raise SimulationError(f"the run as it was failed: {failure}")
        totals = [add(settings, point, outcomes[point.digest]) for settings, point in zip(own, given, strict=True)]
        if others:
            asked = {point.digest: (point, each) for each in others for point in [runs.point(each.changes)]}
            # Where there are areas, a slower machine may be the better one, but not if it is slower than the present.
            kept = {digest for digest, (_, each) in asked.items() if each.smaller or plan.families}
            most = {digest: totals[0] if digest in kept else min(totals) for digest in asked}
            limits = Limit(until=begin + (default_limit(record) if limit is None else limit), cycles=most)

            def on_outcome(point: PointRequest, outcome: Made) -> None:
                proposal = asked[point.digest][1]
                total = add(proposal.changes, point, outcome, proposal)
                most.update({digest: min(cycles, total) for digest, cycles in most.items() if digest not in kept})

            with plan.progress.step("trying proposals") as step:
                runs.make([point for point, _ in asked.values()], step, limit=limits, on_outcome=on_outcome)
        trial.left = len(others) - sum(each.proposal is not None for each in trial.attempts)
        _add_areas(trial, plan)
    return trial


def _add_areas(trial: Trial, plan: Plan) -> None:
    """Add the areas that were asked for to the runs of a trial; else the best machine's, if it is known from before."""
    if plan.families:
        wanted = [each for each in trial.attempts if each.proposal is None or (each.change or 0) <= NOTICEABLE]
        wanted = [each for each in wanted if each.cycles is not None]
    else:
        wanted = [] if trial.best is None else [trial.best]
    configs = [each.point.spec.configuration for each in (trial.baseline, *wanted)]
    known = not plan.families and len(set(configs)) > 1
    sizes = (known_areas if known else areas)(plan, configs)
    trial.runs = [replace(each, area=sizes.get(each.point.spec.configuration, {})) for each in trial.runs]


def trial_answer(trial: Trial) -> Answer:
    """Return a trial as an answer: the run, a table of the changes, and the conclusion."""
    record, present = trial.record, trial.baseline
    rows = [
        {**_row(each), "text": each.text, "measured": _cycles(each), "most": _most(each)} for each in trial.attempts
    ]
    areas = "".join(f", {number:,} {AREA[name]}" for name, number in present.area.items() if trial.weighed)
    columns = {name: Column(name, "{:,.0f}") for name in present.area} if trial.weighed else {}
    proposing = any(each.proposal is not None for each in trial.attempts)
    said = conclusion(trial)
    see = []
    if trial.best is not None:
        see.append(f"See: cyscc explain {record.folder} {relpath(trial.plan.store.folder_of(trial.best.point))}")
    failed = trial.failed
    return rerun_answer(
        record,
        trial.plan,
        facts={"as it is": f"{_cycles(present)} cycles in instructions{areas}"},
        said=[*map(printable, (*said, *see)), trial.plan.runs_text],
        tables={"changes": TABLES.table("changes", rows, columns=columns, without=[] if proposing else ["most"])},
        fields={
            "cycles": present.cycles,
            "as_it_was": _row(present),
            "best": None if trial.best is None else dict(trial.best.settings),
            "by_area": {
                name: None if best is trial.baseline else dict(best.settings) for name, best in trial.by_area.items()
            },
            "left": trial.left,
            "conclusion": said,
        },
        failure=f"{len(failed)} of {len(trial.attempts)} changes failed: {failed[0].text}: {failed[0].failure}"
        if failed
        else "",
    )


def attempt_line(attempt: Attempt) -> str:
    """Return the line on an attempt that is shown as it comes."""
    change = "" if attempt.change is None else f"{attempt.change:+.1%}"
    told = (_most(attempt) and f"at most {_most(attempt)}", _cycles(attempt), change, attempt.failure)
    return printable(f"{attempt.text}: {', '.join(filter(None, told))}")


def _most(attempt: Attempt) -> str:
    return "" if attempt.proposal is None else f"{-attempt.proposal.most:.1%}"


def _cycles(attempt: Attempt) -> str:
    return "stopped" if attempt.stopped else "failed" if attempt.cycles is None else f"{attempt.cycles:,}"


def conclusion(trial: Trial) -> list[str]:
    """Return the sentences of the conclusion: the best change, why, and its cost; what is slower or smaller."""
    said = []
    present, recorded = trial.baseline.cycles, cycles_of(trial.record)
    if present != recorded:
        said.append(
            f"The record has {recorded:,} cycles, and the run takes {present:,}: the record is that of another version "
            "of the program. Proposals are for the record, measured changes those of the run."
        )
    best = trial.best
    if best is not None and best.cycles is not None and present is not None:
        said.append(
            f"Best: {best.text}, {present - best.cycles:,} cycles fewer ({best.change:+.1%}){_cost(trial, best)}."
        )
        reason = [] if best.proposal is None else [best.proposal.reason]
        causes = causes_of(compare(trial.record, best.point.record(trial.plan.store)))
        said.append(f"Why: {' '.join((*reason, *causes))}")
    elif trial.attempts:
        said.append(f"No change makes the run faster by {NOTICEABLE:.1%} or more.")
    else:
        said.append("There is no change to try: no cause has cycles that a setting could save.")
    slower = [each for each in trial.attempts if each.change is not None and each.change > NOTICEABLE]
    if slower:
        said.append(f"Slower: {_listed((each.text, f'{each.change:+.1%}') for each in slower)}.")
    smaller = [each for each in trial.attempts if each is not best and _is_smaller(trial, each)]
    if smaller:
        told = ((each.text, ", ".join((f"{each.change:+.1%}", *_more(trial, each)))) for each in smaller)
        said.append(f"Smaller, and not slower: {_listed(told)}.")
    said += [_weighed(trial, name, each) for name, each in trial.by_area.items()]
    if stopped := sum(each.stopped for each in trial.attempts):
        said.append(f"Stopped: {count_text(stopped, 'run')}, which took more cycles than the best one before.")
    if trial.left:
        said.append(f"Not tried: {count_text(trial.left, 'proposal')}, as the time was over; --limit gives more.")
    if trial.failed:
        said.append(f"Failed: {_listed((each.text, each.failure) for each in trial.failed)}.")
    return said


def _weighed(trial: Trial, name: str, best: Attempt) -> str:
    """Return the sentence on the best product of cycles and a part of the area."""
    what = f"cycles x {AREA[name]}"
    if best is trial.baseline:
        return f"By {what}: the machine as it is."
    return f"By {what}: {best.text}, {trial.weight(best, name):.2f} of the present product."


def _listed(told: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{text} ({about})" for text, about in told)


def _cost(trial: Trial, attempt: Attempt) -> str:
    """Return what a change costs, as the end of a sentence; empty if that is not known."""
    if all(name.startswith(MEMORY) or name in ("memory", "simplify", "queue_slack") for name in attempt.settings):
        return ", with the same FPGAs"
    if not attempt.area:
        return ", with fewer kernels" if attempt.smaller else ""
    more = _more(trial, attempt)
    return f", for {', '.join(more)}" if more else ", in the same area"


def _more(trial: Trial, attempt: Attempt) -> list[str]:
    """Return what a machine has more of each part of the area than the present one; nothing of equal parts."""
    present = trial.baseline.area
    more = {name: number - present[name] for name, number in attempt.area.items()}
    return [f"{number:+,} {AREA[name]}" for name, number in more.items() if number]


def _is_smaller(trial: Trial, attempt: Attempt) -> bool:
    """Whether a change makes the machine smaller, and the run not noticeably slower."""
    if attempt.change is None or attempt.change > NOTICEABLE:
        return False
    if not attempt.area:
        return attempt.smaller
    present = trial.baseline.area
    return attempt.area != present and all(number <= present[name] for name, number in attempt.area.items())


def _row(attempt: Attempt) -> dict[str, Any]:
    proposal = attempt.proposal
    return {
        "settings": dict(attempt.settings),
        "proposed": proposal is not None,
        "cause": None if proposal is None else proposal.cause,
        "reason": None if proposal is None else proposal.reason,
        "at_most": None if proposal is None else proposal.most,
        "cycles": attempt.cycles,
        "change": attempt.change,
        "point": attempt.point.digest,
        "failure": attempt.failure,
        "stopped": attempt.stopped,
        **attempt.area,
    }
