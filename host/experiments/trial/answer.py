"""A trial as an answer, and its conclusion."""

from collections.abc import Iterable
from os.path import relpath
from typing import Any

from cyscc.host.analysis.explain.comparison import compare
from cyscc.host.analysis.explain.conclusion import causes_of
from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sheets import TABLES
from cyscc.host.experiments.sweep.recorded import cycles_of, rerun_answer
from cyscc.host.experiments.trial.trial import NOTICEABLE, Attempt, Trial
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import MEMORY
from cyscc.sim.notices import printable


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
        said.append(f"Why: {_why(trial, best)}")
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


def _why(trial: Trial, best: Attempt) -> str:
    """Return the reason of a proposal, and the causes of which the run with it has less."""
    reason = [] if best.proposal is None else [best.proposal.reason]
    return " ".join((*reason, *causes_of(compare(trial.record, best.point.record(trial.plan.store)))))


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
