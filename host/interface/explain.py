"""`explain`: why a recorded run takes its cycles."""

from collections.abc import Iterable, Mapping
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.interface.notes import (
    Area,
    Family,
    GraphAgain,
    Jobs,
    MemoryAgain,
    OtherRecords,
    Recorded,
    Scheduler,
    Top,
    Wanted,
)
from cyscc.host.specification.ask import Ask, Rule, SpecError, question

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer
    from cyscc.host.record.reader import Record
    from cyscc.host.runs.results import Result

__all__ = ["explain"]

_WITHIN = 1.0
_RUNS = ("output", "jobs", "scheduler", "area", "family", "graph", "memory")
"""Options of runs that are made again."""


def _setting(text: str) -> tuple[str, Any]:
    """Parse a setting ``KEY=VALUE``: a TOML value, or the name of a configuration or memory."""
    from cyscc.host.specification.overrides import Overrides
    from cyscc.host.specification.run import option_of

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
    if not (isfinite(number) and 0 <= number <= 100):
        raise ValueError(f"must be from 0 to 100, not {text}")
    return number


def _seconds(text: str) -> float:
    from cyscc.host.experiments.trial.trial import checked_seconds

    return checked_seconds(text)


Against = Annotated[
    "Iterable[Record | Result | str | PathLike[str]]",
    Ask(
        help="compare the runs with these; without it, several runs are grouped by what differs besides their inputs",
        metavar="DIR",
        count="+",
    ),
]
Phase = Annotated[
    str | None,
    Ask(
        help="only this phase: forward, backward or intersection",
        choices=("forward", "backward", "intersection"),
    ),
]
Iteration = Annotated[int | None, Ask(help="only this iteration of an SCC run, from 1", metavar="N", low=1)]
Level = Annotated[int | None, Ask(help="only this level of the searches, from 0", metavar="N", low=0)]
By = Annotated[
    str | None,
    Ask(
        help="stacks of phases, iterations, levels (default), AEs, kernels or intervals",
        choices=("phase", "iteration", "level", "engine", "kernel", "interval"),
    ),
]
Banks = Annotated[bool, Ask(help="only the hottest banks: utilisation, array, time")]
Fifos = Annotated[bool, Ask(help="only the occupancy of each FIFO")]
Numbers = Annotated[
    bool, Ask(help="only the stacks of --by, as a table of cycles by cause, with all rows unless --top says otherwise")
]
Changes = Annotated[
    "Iterable[Mapping[str, Any] | Iterable[tuple[str, Any]]]",
    Ask(
        help="make the run again with what its record proposes, or with these settings changed; may be repeated",
        metavar="KEY=VALUE",
        flag="--try",
        parse=_setting,
        repeated=True,
        count="*",
    ),
]
Limit = Annotated[
    float | None,
    Ask(
        help="time for what the record proposes (default: ten times that of the recorded run, and 60)",
        metavar="SECONDS",
        parse=_seconds,
    ),
]
Depths = Annotated[bool, Ask(help="find the smallest FIFOs with which the run takes hardly more cycles, by runs")]
Within = Annotated[
    float,
    Ask(
        help="cycles that the smallest FIFOs may cost (default: 1)",
        metavar="PERCENT",
        parse=_percent,
    ),
]
Check = Annotated[
    "Iterable[str | PathLike[str]]",
    Ask(help="check the smallest FIFOs on this graph, too; may be repeated", metavar="GRAPH", repeated=True),
]
Folder = Annotated[
    "str | PathLike[str]",
    Ask(
        help="folder for the runs that are made, which are found there again (default: {default})",
        metavar="DIR",
        flag="--output",
        short="-o",
    ),
]


@question(
    rules=(
        Rule(("changes",), excludes=("depths",), why="these are two questions"),
        Rule(
            ("changes", "depths"),
            excludes=("others", "against", "phase", "iteration", "level", "by", "numbers", "banks", "fifos"),
            why="runs are made of one record, and whole",
        ),
        Rule(("by", "numbers", "banks", "fifos"), excludes=("others", "against"), why="they are about one record"),
        Rule(("phase", "iteration", "level"), excludes=("against",), why="groups are of whole runs"),
        Rule(("by", "numbers"), excludes=("banks", "fifos"), why="they show stacks"),
        Rule(_RUNS, needs=("changes", "depths")),
        Rule(("within", "check"), needs=("depths",)),
        Rule(("limit",), needs=("changes",)),
        Rule(("family",), needs=("area",)),
    ),
    examples="""examples:
  cyscc bfs random.gr --source 1 --record seen
  cyscc explain seen
  cyscc explain seen --level 5
  cyscc explain seen --by kernel --level 5
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

A stack is a row of letters, one for each cause, as long as its share of the kernel-cycles.
""",
)
def explain(
    recorded: Recorded,
    *others: OtherRecords,
    against: Against = (),
    phase: Phase = None,
    iteration: Iteration = None,
    level: Level = None,
    by: By = None,
    banks: Banks = False,
    fifos: Fifos = False,
    numbers: Numbers = False,
    top: Top = None,
    changes: Changes = (),
    limit: Limit = None,
    depths: Depths = False,
    within: Within = _WITHIN,
    check: Check = (),
    output: Folder = "build/explain",
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    area: Area = False,
    family: Family = None,
    graph: GraphAgain = None,
    memory: MemoryAgain = None,
    progress: Wanted = False,
) -> "Answer":
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
        There is no record, it does not contain the phase, level or iteration, or the runs form no groups.
    SimulationError
        A run that is made again failed.
    """
    from cyscc.host.output.progress import Progress

    changed = list(map(_together, changes))
    if changed or depths:
        return _made_again(
            recorded,
            changed,
            limit=limit,
            within=within,
            check=check,
            folder=output,
            jobs=jobs,
            scheduler=scheduler,
            area=area,
            family=family or (),
            graph=graph,
            memory=memory,
            progress=Progress.of(progress),
        )
    from cyscc.host.interface.recorded import record_of

    selection: dict[str, Any] = {"phase": phase, "level": level, "iteration": iteration}
    with Progress.of(progress).step("reading the record"):
        first, *rest = [record_of(each) for each in (recorded, *others)]
        base = [record_of(each) for each in against]
        if base or len(rest) > 1:
            for name, value in selection.items():
                if value is not None:
                    raise SpecError(name, f"--{name} is about one record or two, and there are {1 + len(rest)}")
            from cyscc.host.analysis.explain.grouped import grouped
            from cyscc.host.analysis.explain.groups import groups_of_runs

            return grouped(groups_of_runs([first, *rest], base), top=top)
        if rest:
            from cyscc.host.analysis.explain.comparison import compare
            from cyscc.host.analysis.explain.difference import difference

            return difference(compare(first, rest[0], **selection), top=top)
        from cyscc.host.analysis.explain.explanation import explanation

        only = [name for name, wanted in (("numbers", numbers), ("banks", banks), ("fifos", fifos)) if wanted]
        return explanation(first, first.select(**selection), by=by, only=only, top=top)


def _together(given: "Mapping[str, Any] | Iterable[tuple[str, Any]]") -> dict[str, Any]:
    """Return settings that are changed together.

    Raises
    ------
    SpecError
        One is given twice.
    """
    pairs = list(given.items() if isinstance(given, Mapping) else given)
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise SpecError("changes", f"{name!r} is given twice")
    return dict(pairs)


def _made_again(
    recorded: Any, changes: list[dict[str, Any]], *, limit: float | None, within: float, check: Any, **how: Any
) -> "Answer":
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
