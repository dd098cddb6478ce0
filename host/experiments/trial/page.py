"""Text, rows and JSON of a trial."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.page import head, run_document
from cyscc.host.analysis.explain.terminal import Cell, section, table
from cyscc.host.experiments.fpga.area import AREA
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
    heads = ["change", "predicted", "", "measured", "", "prediction"]
    heads += AREA if trial.baseline.area else []
    lines = [_cells(each, trial.baseline) for each in (trial.baseline, *trial.attempts)]
    parts = [*head(record, record.instructions), *section("changes", table(heads, lines))]
    said = [Text(printable(sentence)) for sentence in conclusion(trial)]
    runs = Text(f"{count_text(trial.made + trial.found, 'run')}: {trial.made} made, {trial.found} from before")
    return [*parts, *section("conclusion", *said, runs)]


def _cells(attempt: Attempt, baseline: Attempt) -> list[Cell]:
    """Return an attempt as cells of the table; of the area of a changed machine, what it has more than the present."""
    predicted = ["", ""]
    if attempt.proposal is not None and attempt.predicted is not None:
        predicted = [f"{attempt.proposal.cycles:,}", f"{attempt.predicted:+.1%}"]
    measured = ["failed", ""]
    if attempt.cycles is not None and attempt.change is not None:
        measured = [f"{attempt.cycles:,}", "" if attempt is baseline else f"{attempt.change:+.1%}"]
    area = [_difference(number, baseline.area[name], attempt is baseline) for name, number in attempt.area.items()]
    return [printable(attempt.text), *predicted, *measured, attempt.outcome or "", *area]


def _difference(number: int, present: int, alone: bool) -> str:
    return f"{number:,}" if alone else f"{number - present:+,}" if number != present else "="


def conclusion(trial: Trial) -> list[str]:
    """Return the sentences of the conclusion: the best change with its cost, what is slower, what was not foreseen."""
    said = []
    present, recorded = trial.baseline.cycles, trial.record.cycles
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
    smaller = [each for each in trial.attempts if _saved(trial, each) and abs(each.change or 0) <= NOTICEABLE]
    if smaller:
        said.append(f"Smaller, and as fast: {_listed((each.text, _saved(trial, each)) for each in smaller)}.")
    foretold = [each for each in trial.attempts if each.outcome is not None]
    if foretold:
        wrong = [each for each in foretold if each.outcome is not Outcome.RIGHT]
        right = len(foretold) - len(wrong)
        numbers = f"{right} of {count_text(len(foretold), 'prediction')} {'is' if right == 1 else 'are'} right"
        said.append(f"{numbers}: the sign, and the size within a factor of two.")
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
        return ", with the same machine"
    more = [
        f"{attempt.area[name] - number:+,} {title}"
        for name, (number, title) in _sizes(trial).items()
        if attempt.area[name] != number
    ]
    return f", for {', '.join(more)}" if more else ", in the same area" if attempt.area else ""


def _saved(trial: Trial, attempt: Attempt) -> str:
    """Return the area that a change saves if nothing of it grows; empty if it does, or is not known."""
    sizes = _sizes(trial)
    less = {name: number - attempt.area[name] for name, (number, _) in sizes.items()}
    if min(less.values(), default=0) < 0:
        return ""
    return ", ".join(f"{-number:+,} {sizes[name][1]}" for name, number in less.items() if number)


def _sizes(trial: Trial) -> Mapping[str, tuple[int, str]]:
    """Return each column of the area of the present machine, with its title."""
    return {name: (number, AREA[name]) for name, number in trial.baseline.area.items()}


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
