"""Text, rows and JSON of a trial."""

from collections.abc import Iterable, Sequence
from os.path import relpath
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.page import head, run_document
from cyscc.host.analysis.explain.terminal import section, table
from cyscc.host.analysis.report.facts import origin_text
from cyscc.host.experiments.fpga.area import AREA
from cyscc.host.experiments.sweep.recorded import cycles_of
from cyscc.host.experiments.trial.trial import NOTICEABLE, Attempt, Outcome, Trial
from cyscc.host.output.files import identity
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import MEMORY
from cyscc.sim.notices import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["conclusion", "trial_document", "trial_page", "trial_rows"]


def trial_page(trial: Trial) -> "list[RenderableType]":
    """Return the page of a trial: the run, a table of the changes, and the conclusion."""
    from rich.text import Text

    record = trial.record
    every = [trial.baseline, *trial.attempts]
    columns = [("change", [printable(each.text) for each in every]), *_predicted(every), *_measured(every)]
    columns += [(name, _area(every, name)) for name in trial.baseline.area]
    heads, cells = zip(*columns, strict=True)
    parts = [
        *head(record, record.instructions),
        Text(origin_text(record)),
        *section("changes, cycles in instructions", table(heads, zip(*cells, strict=True))),
    ]
    said = [Text(printable(sentence)) for sentence in conclusion(trial)]
    if trial.best is not None:
        said.append(Text(printable(f"Why: cyscc explain {record.folder} {relpath(trial.folder.of(trial.best.point))}")))
    runs = Text(f"{count_text(trial.made + trial.found, 'run')}: {trial.made} made, {trial.found} from before")
    return [*parts, *section("conclusion", *said, runs)]


_Columns = list[tuple[str, list[str]]]
"""Columns of a table: head and cells."""


def _predicted(attempts: Sequence[Attempt]) -> _Columns:
    """Return the columns of the predictions, if there are any."""
    if all(each.proposal is None for each in attempts):
        return []
    proposals = [each.proposal for each in attempts]
    cycles = ["" if proposal is None else f"{proposal.cycles:,}" for proposal in proposals]
    changes = ["" if each.predicted is None else f"{each.predicted:+.1%}" for each in attempts]
    return [("predicted", cycles), ("", changes), ("is", [each.outcome or "" for each in attempts])]


def _measured(attempts: Sequence[Attempt]) -> _Columns:
    cycles = ["failed" if each.cycles is None else f"{each.cycles:,}" for each in attempts]
    changes = [f"{each.change:+.1%}" if each.settings and each.change is not None else "" for each in attempts]
    return [("measured", cycles), ("", changes)]


def _area(attempts: Sequence[Attempt], name: str) -> list[str]:
    """Return a column of the area: that of the present machine, and what the others have more."""
    present, *others = (each.area[name] for each in attempts)
    return [f"{present:,}", *("=" if number == present else f"{number - present:+,}" for number in others)]


def conclusion(trial: Trial) -> list[str]:
    """Return the sentences of the conclusion: the best change with its cost, what is slower, what was not foreseen."""
    said = []
    present, recorded = trial.baseline.cycles, cycles_of(trial.record)
    if present != recorded:
        said.append(
            f"The record has {recorded:,} cycles, and the run takes {present:,}: the record is that of another version "
            "of the program. Predictions are for the record, measured changes those of the run."
        )
    best = trial.best
    if best is not None and best.cycles is not None and present is not None:
        said.append(
            f"Best: {best.text}, {present - best.cycles:,} cycles fewer ({best.change:+.1%}){_cost(trial, best)}."
        )
    elif trial.attempts:
        said.append(f"No change makes the run faster by {NOTICEABLE:.1%} or more.")
    else:
        said.append("There is no change to try: no setting is predicted to make the run faster.")
    slower = [each for each in trial.attempts if each.change is not None and each.change > NOTICEABLE]
    if slower:
        said.append(f"Slower: {_listed((each.text, f'{each.change:+.1%}') for each in slower)}.")
    smaller = [each for each in trial.attempts if each is not best and _is_smaller(trial, each)]
    if smaller:
        told = ((each.text, ", ".join((f"{each.change:+.1%}", *_more(trial, each)))) for each in smaller)
        said.append(f"Smaller, and not slower: {_listed(told)}.")
    foretold = [each for each in trial.attempts if each.outcome is not None]
    if foretold:
        wrong = [each for each in foretold if each.outcome is not Outcome.RIGHT]
        right = len(foretold) - len(wrong)
        numbers = f"{right} of {count_text(len(foretold), 'prediction')} {'is' if right == 1 else 'are'}"
        said.append(
            f"{'The prediction is' if right == len(foretold) == 1 else numbers} right: the sign, and the size within a "
            "factor of two."
        )
        if wrong:
            said.append(f"Not right: {_listed((each.text, str(each.outcome)) for each in wrong)}.")
    if trial.failed:
        said.append(f"Failed: {_listed((each.text, each.failure) for each in trial.failed)}.")
    return said


def _listed(told: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{text} ({about})" for text, about in told)


def _cost(trial: Trial, attempt: Attempt) -> str:
    """Return what a change costs, as the end of a sentence; empty if that is not known."""
    if all(name.startswith(MEMORY) or name in ("memory", "simplify", "queue_slack") for name in attempt.settings):
        return ", with the same FPGAs"
    if not attempt.area:
        return ", with fewer kernels" if attempt.proposal is not None and attempt.proposal.smaller else ""
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
        return attempt.proposal is not None and attempt.proposal.smaller
    present = trial.baseline.area
    return attempt.area != present and all(number <= present[name] for name, number in attempt.area.items())


def trial_rows(trial: Trial) -> list[dict[str, Any]]:
    """Return a trial as rows, JSON-able: the run as it was, then each change."""
    return [_row(each) for each in (trial.baseline, *trial.attempts)]


def _row(attempt: Attempt) -> dict[str, Any]:
    proposal = attempt.proposal
    return {
        "settings": dict(attempt.settings),
        "proposed": proposal is not None,
        "cause": None if proposal is None else proposal.cause,
        "reason": None if proposal is None else proposal.reason,
        "predicted_cycles": None if proposal is None else proposal.cycles,
        "predicted_change": attempt.predicted,
        "cycles": attempt.cycles,
        "change": attempt.change,
        "prediction": attempt.outcome,
        "point": attempt.point.digest,
        "failure": attempt.failure,
        **attempt.area,
    }


def trial_document(trial: Trial) -> dict[str, Any]:
    """Return a trial as a JSON document."""
    baseline, *changes = trial_rows(trial)
    return {
        **identity(),
        **run_document(trial.record),
        "folder": str(trial.folder.path),
        "as_it_was": baseline,
        "changes": changes,
        "best": None if trial.best is None else trial.attempts.index(trial.best),
        "conclusion": conclusion(trial),
    }
