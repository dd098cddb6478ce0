"""Making a study: all of its points, or those of a search, chosen in batches, each on the results of those before.

The sampler is Optuna's tree-structured Parzen estimator. It has the study's seed, and is told results in the order in
which points were chosen, whenever they were made. So the same study chooses the same points with any number of
processes, and after an interrupt; nothing but the points is stored.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
from cyscc.host.experiments.plan.plan import OnStep, Plan
from cyscc.host.experiments.sweep.definition import StudyPoint, SweepStudy, is_ordered
from cyscc.host.experiments.sweep.rows import DONE, FAILED, Row, made_rows, write_table
from cyscc.host.experiments.sweep.space import SearchOptions
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import check_output

if TYPE_CHECKING:
    import optuna

Places = tuple[int, ...]
"""Places of a point's values in the lists of the axes."""

_TRIES = 50
"""Most points that the sampler is asked for one that was not chosen before; then one is drawn at random."""

_IMPOSSIBLE = 1000
"""Most choices in a batch of machines that do not exist, after which the search ends."""

_STARTING = 10
"""Points drawn at random before results count; the estimator's usual number."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A study, with the results of its points.

    Parameters
    ----------
    study : SweepStudy
        The study; of one that searches, with the points that it chose.
    rows : list of Row
        A row for each point.
    plan : Plan
        How they were made.
    files : mapping of str to Path
        The table and the page.
    """

    study: SweepStudy
    rows: list[Row]
    plan: Plan
    files: Mapping[str, Path]

    @property
    def failure(self) -> str:
        """How many points failed, and why the first one did; empty if none failed."""
        failed = [
            f"{each.point.label}: {row['reason']}"
            for each, row in zip(self.study.points, self.rows, strict=False)
            if row["status"] == FAILED
        ]
        return f"{len(failed)} of {len(self.rows)} points failed: {failed[0]}" if failed else ""


def study_files(study: SweepStudy, folder: Path) -> dict[str, Path]:
    """Return the files of a study in a folder: its ``table`` and its ``page``."""
    return {"table": folder / f"{study.name}.parquet", "page": folder / f"{study.name}.html"}


def make_study(study: SweepStudy, plan: Plan) -> Outcome:
    """Make the missing points of a study, and write its table; its page is the answer's.

    Raises
    ------
    InputError
        A file cannot be written.
    SimulationError
        No further points can be made, or Yosys is missing. A failed point does not raise: see `Outcome.failure`.
    """
    if study.search is not None and study.search.families:
        plan = replace(plan, families=tuple(dict.fromkeys((*study.search.families, *plan.families))))
        check_tool(YOSYS)
    files = study_files(study, plan.folder)
    with plan.opened():
        for path in files.values():
            check_output(str(path), "--output", plain=True)
        if study.search is not None:
            with plan.progress.step("searching") as step:
                study, rows = search(study, plan, step)
        else:
            rows = made_rows(study, plan)
        write_table(rows, files["table"])
    return Outcome(study=study, rows=rows, plan=plan, files=files)


def search(study: SweepStudy, plan: Plan, on_step: OnStep) -> tuple[SweepStudy, list[Row]]:
    """Choose and make the points of a study that searches.

    Parameters
    ----------
    study : SweepStudy
        The study.
    plan : Plan
        How points are made, and the families of the area that rows have.
    on_step : callable
        Progress callback, called for each point.

    Returns
    -------
    SweepStudy, list of Row
        The study with the chosen points, and a row for each.

    Raises
    ------
    InputError
        Optuna is not installed, or there is no such machine.
    SimulationError
        No further points can be made.
    """
    options = study.search
    assert options is not None, "the study searches"
    chooser = _Chooser(study, options)
    rows: list[Row] = []
    while points := chooser.ask(min(options.batch, options.points - len(rows))):
        before = len(rows)

        def on_point(done: int, total: int, what: str, before: int = before) -> None:
            on_step(before + done, options.points, what)

        found = made_rows(replace(study, points=tuple(points)), plan, on_point)
        found = [{**row, "within_budget": row["status"] == DONE and options.within(row)} for row in found]
        chooser.tell(found)
        rows += found
    if not rows:
        raise InputError(f"search: there is no such machine: {chooser.refused}")
    return replace(study, points=tuple(chooser.chosen)), rows


class _Chooser:
    """Chooses points of a study's space: all of them if there are no more, else those of Optuna's sampler.

    Attributes
    ----------
    chosen : list of StudyPoint
        The points so far, in order.
    refused : str
        Reason why the first impossible point does not exist.
    """

    def __init__(self, study: SweepStudy, options: SearchOptions) -> None:
        self._study, self._options = study, options
        self._trials: list[optuna.Trial | None] = []
        self.chosen: list[StudyPoint] = []
        self.refused = ""
        sizes = [len(values) for values in study.axes.values()]
        if prod(sizes) <= options.points:
            self._places: Iterator[tuple[optuna.Trial | None, Places]]
            self._places = ((None, places) for places in product(*map(range, sizes)))
        else:
            self._sampler, self._space, self._failed = _sampler(study.axes, options)
            self._places = self._drawn_places(sizes)

    def ask(self, count: int) -> list[StudyPoint]:
        """Return further points, at most `count`; none when every one has been chosen."""
        assert self._study.point_at is not None, "the study searches"
        batch: list[StudyPoint] = []
        self._trials = []
        for trial, places in islice(self._places, count + _IMPOSSIBLE if count else 0):
            try:
                batch.append(self._study.point_at(places))
            except ValueError as error:
                self.refused = self.refused or str(error)
                self._tell(trial)
            else:
                self._trials.append(trial)
            if len(batch) == count:
                break
        self.chosen += batch
        return batch

    def tell(self, rows: Sequence[Row]) -> None:
        """Tell the results of the last points."""
        for trial, row in zip(self._trials, rows, strict=True):
            self._tell(trial, row)

    def _drawn_places(self, sizes: Sequence[int]) -> "Iterator[tuple[optuna.Trial, Places]]":
        """Yield places that were not chosen before, and their trials, while there are others."""
        seen: set[Places] = set()
        random = Random(self._options.seed)
        while len(seen) < prod(sizes):
            for _ in range(1 + _TRIES):
                trial, places = self._drawn()
                if places not in seen:
                    break
                self._tell(trial)
            else:
                while places in seen:
                    places = tuple(map(random.randrange, sizes))
                self._sampler.enqueue_trial(dict(zip(self._study.axes, places, strict=True)))
                trial, places = self._drawn()
            seen.add(places)
            yield trial, places

    def _drawn(self) -> "tuple[optuna.Trial, Places]":
        trial = self._sampler.ask(self._space)
        return trial, tuple(trial.params[name] for name in self._study.axes)

    def _tell(self, trial: "optuna.Trial | None", row: Row | None = None) -> None:
        """Tell the sampler the result of a trial, if it has one."""
        if trial is None:
            return
        if row is None or row["status"] != DONE:
            self._sampler.tell(trial, state=self._failed)
            return
        for name, most in self._options.budget.items():
            trial.set_constraint(name, row[name] / max(most, 1) - 1)
        self._sampler.tell(trial, [row[name] for name in self._options.minimise])


def _sampler(
    axes: Mapping[str, Sequence[Any]], options: SearchOptions
) -> "tuple[optuna.Study, dict[str, Any], optuna.trial.TrialState]":
    """Return Optuna's sampler, the space of the places of values, and the state of a trial without a result."""
    try:
        import optuna
    except ModuleNotFoundError:
        raise InputError("a search needs Optuna: pip install 'cyscc[search]'") from None
    optuna.logging.set_verbosity(logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=options.seed, n_startup_trials=_STARTING)
    space = {
        name: optuna.distributions.IntDistribution(0, len(values) - 1)
        # Neighbours are alike.
        if is_ordered(name, values) and list(values) in (sorted(values), sorted(values, reverse=True))
        else optuna.distributions.CategoricalDistribution(range(len(values)))
        for name, values in axes.items()
    }
    study = optuna.create_study(directions=["minimize"] * len(options.minimise), sampler=sampler)
    return study, space, optuna.trial.TrialState.FAIL
