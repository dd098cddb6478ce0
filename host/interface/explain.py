"""`explain`: why a recorded run takes its cycles."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from cyscc.host.answer.answer import Answer
from cyscc.host.interface import notes
from cyscc.host.interface.given import record_of
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import count_text
from cyscc.host.specification.ask import SpecError, question
from cyscc.host.specification.overrides import Overrides
from cyscc.host.specification.run import option_of


def _setting(text: str) -> tuple[str, Any]:
    """Parse a setting ``KEY=VALUE``: a TOML value, or the name of a configuration or memory."""
    name, _, value = (part.strip() for part in text.partition("="))
    if name in ("config", "memory") and value:
        return name, option_of(name).read(value)
    ((name, found),) = Overrides.parse([text]).values().items()
    return name, found


def _percent(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not 0 <= number <= 100:
        raise ValueError(f"must be from 0 to 100, not {text}")
    return number


def _seconds(text: str) -> float:
    from cyscc.host.experiments.trial.trial import checked_seconds

    return checked_seconds(text)


@question()
def explain(
    recorded: notes.AnyRecord,
    *others: notes.AnyRecord,
    against: Iterable[notes.AnyRecord] = (),
    at: notes.AnyPlace = None,
    phase: str | None = None,
    iteration: notes.Range = None,
    level: notes.Range = None,
    by: str | None = None,
    banks: bool = False,
    fifos: bool = False,
    numbers: bool = False,
    top: int | None = None,
    changes: Iterable[Mapping[str, Any] | Iterable[tuple[str, Any]]] = (),
    limit: float | None = None,
    depths: bool = False,
    within: float = 1.0,
    check: Iterable[notes.File] = (),
    output: notes.File = "build/explain",
    **again: Unpack[notes.AgainMany],
) -> Answer:
    """Say why a recorded run spent its cycles as it did.

    Say where the cycles of a recorded run went, what bounds each phase, and what to try; of two runs, which is slower,
    by how much, where and why; of more, whether machines differ by more than the spread over graphs, seeds and sources.

    Returns
    -------
    Answer
        Of one run: `phases`, `bounds` of the heaviest levels, `stacks`, `causes`, `banks`, `fifos`, `findings`, and of
        components `iterations`. Of two: `conclusion`, `cycles` (the difference), `causes`, `phases`, `levels`,
        `unpaired`, `times`. Of groups: `conclusion`, `groups`, `comparisons`, `runs`, `inputs`. Of runs that are made
        again: those of `what_if` and `smallest_depths`.

    Raises
    ------
    ValueError
        Options exclude each other, or a run was not recorded.
    InputError
        There is no record, it has no such place, or the runs form no groups.
    SimulationError
        A run that is made again failed.

    Notes
    -----
    A stack is a row of letters, one for each cause, as long as its share of the kernel-cycles.

    Examples
    --------
    cyscc bfs random.gr --source 1 --record seen
    cyscc explain seen
    cyscc explain seen --level 5
    cyscc explain seen --by kernel --level 5
    cyscc explain seen --at 20000:30000
    cyscc explain seen --by phase --numbers
    cyscc explain seen --banks
    cyscc explain seen --fifos
    cyscc explain seen-hc2 seen-published
    cyscc explain hc2-* published-*
    cyscc explain published-* --against hc2-*
    cyscc explain seen --json why.json --quiet
    cyscc explain seen --try
    cyscc explain seen --try word_depth=64 --try neighbour_depth=256 word_depth=256 --area
    cyscc explain seen --depths
    """
    changed = [notes.together("changes", each) for each in changes]
    if changed or depths:
        return _made_again(recorded, changed, limit=limit, within=within, check=check, folder=output, **again)
    place = notes.place_of("explain", at, phase=phase, level=level, iteration=iteration)
    with Progress.of(again.get("progress", False)).step("reading the record"):
        first, *rest = [record_of(each) for each in (recorded, *others)]
        base = [record_of(each) for each in against]
        if base or len(rest) > 1:
            if place.given:
                name = place.given[0] if at is None else "at"
                raise SpecError(name, f"{place} is about one record or two, and there are {1 + len(rest)}")
            from cyscc.host.analysis.explain.groups import grouped, groups_of_runs

            return grouped(groups_of_runs([first, *rest], base), top=top)
        if rest:
            from cyscc.host.analysis.explain.comparison import compare
            from cyscc.host.analysis.explain.difference import difference

            if place.cycles is not None:
                raise SpecError("at", f"{place}: cycles are of one record, and there are two")
            return difference(compare(first, rest[0], place), top=top)
        from cyscc.host.analysis.explain.explanation import explanation

        only = [name for name, wanted in (("numbers", numbers), ("banks", banks), ("fifos", fifos)) if wanted]
        rows = first.select(place)
        answer = explanation(first, rows, by=by, only=only, top=top)
        if place.cycles is not None:
            end = int((rows["start"] + rows["cycles"]).max())
            wide = f"{count_text(len(rows), 'instruction')} ran in {place}: cycles {rows['start'].min()}:{end - 1}"
            answer.said = [wide, *answer.said]
        return answer


def _made_again(
    recorded: Any, changes: list[dict[str, Any]], *, limit: float | None, within: float, check: Any, **how: Any
) -> Answer:
    """Return the answer on runs that are made again: with changes, or else with the smallest FIFOs."""
    from cyscc.host.interface.trials import smallest_depths, what_if

    if not changes:
        return smallest_depths(recorded, within=within / 100, check=check, **how)
    if limit is not None and all(changes):
        raise SpecError("limit", "it is about what the record proposes, and needs a --try without settings")
    try:
        return what_if(recorded, *changes, limit=limit, **how)
    except SpecError as error:
        raise SpecError("changes", str(error)) from None
