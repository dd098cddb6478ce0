"""Search of a study's space: points are chosen in batches, each on the results of those before.

The sampler is Optuna's tree-structured Parzen estimator. It has the study's seed, and is told results in the order in
which points were chosen, whenever they were made. So the same study chooses the same points with any number of
processes, and after an interrupt; nothing but the points is stored.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

from cyscc.host.experiments.measuring.measurements import OnStep
from cyscc.host.experiments.sweep.batch import Batch, Swept
from cyscc.host.experiments.sweep.definition import StudyPoint, SweepStudy, is_ordered
from cyscc.host.experiments.sweep.points import SweepFolder
from cyscc.host.experiments.sweep.rows import DONE, Row, rows_of, with_area
from cyscc.host.experiments.sweep.space import SearchOptions
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress

if TYPE_CHECKING:
    import optuna

__all__ = ["search"]

Places = tuple[int, ...]
"""Places of a point's values in the lists of the axes."""

_TRIES = 50
"""Most points that the sampler is asked for one that was not chosen before; then one is drawn at random."""

_IMPOSSIBLE = 1000
"""Most choices in a batch of machines that do not exist, after which the search ends."""

_STARTING = 10
"""Points drawn at random before results count; the estimator's usual number."""


def search(
    study: SweepStudy,
    folder: SweepFolder,
    batch: Batch,
    on_step: OnStep,
) -> tuple[SweepStudy, list[Row], Swept]:
    """Choose and make the points of a study that searches.

    Parameters
    ----------
    study : SweepStudy
        The study.
    folder : SweepFolder
        The folder of points.
    batch : Batch
        How points are made, and the families of the area that rows have.
    on_step : callable
        Progress callback, called for each point.

    Returns
    -------
    SweepStudy, list of Row, Swept
        The study with the chosen points, a row for each, and what was made of them.

    Raises
    ------
    InputError
        Optuna is not installed, or a point cannot be made.
    SimulationError
        No further points can be made.
    """
    options = study.search
    assert options is not None, "the study searches"
    chooser = _Chooser(study, options)
    rows: list[Row] = []
    made = found = 0
    failures: dict[str, str] = {}
    silent = replace(batch, progress=Progress(quiet=True))
    while points := chooser.ask(min(options.batch, options.points - len(rows))):
        before = len(rows)

        def on_point(done: int, total: int, what: str, before: int = before) -> None:
            on_step(before + done, options.points, what)

        part = replace(study, points=tuple(points))
        swept = batch.sweep([each.point for each in points], folder, on_point)
        results = with_area(part, rows_of(part, folder, swept), silent)
        results = [{**row, "within_budget": row["status"] == DONE and options.within(row)} for row in results]
        chooser.tell(results)
        rows += results
        made, found = made + swept.made, found + swept.found
        failures |= swept.failures
    if not rows:
        raise InputError(f"search: there is no such machine: {chooser.refused}")
    return replace(study, points=tuple(chooser.chosen)), rows, Swept(found=found, made=made, failures=failures)


class _Chooser:
    """Chooses points of a study's space.

    Attributes
    ----------
    chosen : list of StudyPoint
        The points so far, in order.
    refused : str
        Reason why the first impossible point does not exist.
    """

    def __init__(self, study: SweepStudy, options: SearchOptions) -> None:
        assert study.point_at is not None, "the study searches"
        self._point_at, self._options = study.point_at, options
        self._sizes = [len(values) for values in study.axes.values()]
        self._seen: set[Places] = set()
        self._asked: list[Any] = []
        self.chosen: list[StudyPoint] = []
        self.refused = ""
        self._every: Iterator[Places] | None = None
        if prod(self._sizes) <= options.points:
            self._every = product(*map(range, self._sizes))  # there is nothing to choose
        else:
            self._sampler = _Sampler(study.axes, options)

    def ask(self, count: int) -> list[StudyPoint]:
        """Return further points, at most `count`; none when every one has been chosen."""
        batch: list[StudyPoint] = []
        self._asked = []
        for _ in range(count + _IMPOSSIBLE):
            if len(batch) == count or (places := self._next()) is None:
                break
            try:
                batch.append(self._point_at(places))
            except ValueError as error:
                self.refused = self.refused or str(error)
                if self._every is None:
                    self._sampler.drop(self._asked.pop())
        self.chosen += batch
        return batch

    def tell(self, rows: Sequence[Row]) -> None:
        """Tell the results of the last points."""
        if self._every is None:
            for trial, row in zip(self._asked, rows, strict=True):
                self._sampler.tell(trial, row)

    def _next(self) -> Places | None:
        """Return the next places, which were not chosen before; None if there are no others."""
        if self._every is not None:
            return next(self._every, None)
        if len(self._seen) == prod(self._sizes):
            return None
        trial, places = self._sampler.ask(self._seen)
        self._seen.add(places)
        self._asked.append(trial)
        return places


class _Sampler:
    """Optuna's sampler for the places of values."""

    def __init__(self, axes: Mapping[str, Sequence[Any]], options: SearchOptions) -> None:
        try:
            import optuna
        except ModuleNotFoundError:
            raise InputError("a search needs Optuna: pip install 'cyscc[search]'") from None
        optuna.logging.set_verbosity(logging.ERROR)
        self._optuna, self._options = optuna, options
        self._axes = axes
        self._random = Random(options.seed)
        sampler = optuna.samplers.TPESampler(seed=options.seed, n_startup_trials=_STARTING)
        self._study = optuna.create_study(directions=["minimize"] * len(options.minimise), sampler=sampler)
        self._space: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.IntDistribution(0, len(values) - 1)
            if _sorted(name, values)
            else optuna.distributions.CategoricalDistribution(range(len(values)))
            for name, values in axes.items()
        }

    def ask(self, seen: set[Places]) -> tuple["optuna.Trial", Places]:
        """Return a trial with places that were not seen, of which there are some."""
        for _ in range(_TRIES):
            trial, places = self._ask()
            if places not in seen:
                return trial, places
            self.drop(trial)
        while places in seen:
            places = tuple(self._random.randrange(len(values)) for values in self._axes.values())
        self._study.enqueue_trial(dict(zip(self._axes, places, strict=True)))
        return self._ask()

    def _ask(self) -> tuple["optuna.Trial", Places]:
        trial = self._study.ask(self._space)
        return trial, tuple(trial.params[name] for name in self._axes)

    def drop(self, trial: "optuna.Trial") -> None:
        """Tell that a trial has no result."""
        self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)

    def tell(self, trial: "optuna.Trial", row: Row) -> None:
        """Tell the result of a trial."""
        if row["status"] != DONE:
            self.drop(trial)
            return
        for name, most in self._options.budget.items():
            trial.set_constraint(name, row[name] / max(most, 1) - 1)
        self._study.tell(trial, [row[name] for name in self._options.minimise])


def _sorted(name: str, values: Sequence[Any]) -> bool:
    """Whether values are in ascending or descending order, so that neighbours are alike."""
    return is_ordered(name, values) and list(values) in (sorted(values), sorted(values, reverse=True))
