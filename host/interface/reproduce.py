"""`reproduce`: published tables and figures, from simulation or by software."""

from dataclasses import replace
from functools import partial
from typing import Any

from cyscc.host.answer.answer import Answer
from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS, SEARCH_MACHINES, study_of
from cyscc.host.interface import notes
from cyscc.host.interface.experiments import experiment
from cyscc.host.interface.given import overrides_of
from cyscc.host.specification.ask import Ask, described, question
from cyscc.host.specification.numbers import listed_values, whole_number
from cyscc.host.specification.run import resolved_profile
from cyscc.sim.trust import GivenText


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    return listed_values(text, partial(whole_number, low=1))


MACHINES = ", ".join(SEARCH_MACHINES)
_PIVOTS = replace(KINDS["quach"].options["pivots"], help="pivots at a time")
_OPTIONS, _ = described({**vars(notes), **globals()}, "options", Ask)
"""Options of the studies; which of them has which says the catalogue."""

_FIGURES = "".join(
    f"  {name:13} {about.title}: {about.text}\n{'':16}{about.defaults()}\n" for name, about in REPRODUCTIONS.items()
)


@question(
    charts=("figure",),
    options={**_OPTIONS, "pivots": _PIVOTS},
    examples=f"what can be reproduced, with its options and their defaults:\n{_FIGURES}",
)
def reproduce(
    figure: str,
    *,
    quick: bool = False,
    verify: bool = True,
    jobs: int | None = None,
    output: notes.File = "build/reproduce",
    progress: notes.Wanted = False,
    **options: Any,
) -> Answer:
    """Reproduce published tables and figures.

    A table or figure of Attia et al. 2015 comes from simulation, one of other papers from the software that is
    published for the same problem, side by side with its paper.

    Raises
    ------
    SpecError
        The table or figure has no such option, or a value is invalid.
    InputError
        A file cannot be read, or the folder cannot be written.
    SimulationError
        A measurement failed.

    Notes
    -----
    Finished measurements are kept in DIR/results: an interrupted run continues where it stopped.

    Examples
    --------
    cyscc reproduce table1 --quick
    cyscc reproduce table1 --vertices 2^20,2^21,2^22,2^23 -o results
    """
    given = {name: value for name, value in options.items() if value is not None}
    changed = overrides_of(given.pop("overrides", None), memory=True)
    text = GivenText(given.get("memory", "hc2"))
    if "memory" in given or changed.memory:
        given["memory"] = GivenText(changed.memory_text(text))
    study = study_of(figure, given, quick=quick)
    # Validate the value before anything starts.
    resolved_profile(text, changed)
    return experiment(figure, study.answer, output=output, jobs=jobs, verify=verify, charts=True, progress=progress)
