"""A recorded run, made again as it was and with each of some changes; predicted effects beside the measured ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from cyscc.host.analysis.explain.proposals import Proposal, proposals
from cyscc.host.experiments.sweep.batch import Batch
from cyscc.host.experiments.sweep.points import SweepFolder, SweepPoint
from cyscc.host.experiments.sweep.recorded import RecordedPoints, cycles_of, settings_text
from cyscc.host.graph.csr import Graph
from cyscc.host.record.reader import Record
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.specification.run import available_cores
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory import Profile

__all__ = ["NOTICEABLE", "Attempt", "Outcome", "Trial", "try_changes"]

NOTICEABLE = 0.005
"""Least relative change of the cycles that counts as faster or slower."""

_FACTOR = 2.0
"""Most by which a right prediction may differ from the measured effect."""


class Outcome(StrEnum):
    """Result of comparing a predicted effect with the measured one."""

    RIGHT = "right"
    LARGE = "too large"
    SMALL = "too small"
    WRONG = "wrong sign"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The run with some settings changed.

    Parameters
    ----------
    settings : mapping
        The changed settings by name; empty for the run as it was.
    proposal : Proposal or None
        The proposal of this change; None if it is not among those for the record.
    point : SweepPoint
        The run.
    cycles : int or None
        Measured cycles, see `cycles_of`; None if the run failed.
    change : float or None
        Relative change of the measured cycles: negative if the run is faster.
    predicted : float or None
        Predicted relative change; None without a prediction.
    failure : str
        Reason of a failure, in one line; empty if there was none.
    area : dict of str to int
        Area of the machine, the columns of `cyscc.host.experiments.fpga.area.AREA`; empty if it was not asked for.
    """

    settings: Mapping[str, Any]
    proposal: Proposal | None
    point: SweepPoint
    cycles: int | None
    change: float | None
    predicted: float | None
    failure: str
    area: Mapping[str, int]

    @property
    def text(self) -> str:
        """Display text of the change."""
        return settings_text(self.settings)

    @cached_property
    def outcome(self) -> Outcome | None:
        """Whether the prediction is right: its sign, and its size within a factor of two; None if there is none."""
        predicted, measured = self.predicted, self.change
        if predicted is None or measured is None:
            return None
        if max(abs(predicted), abs(measured)) < NOTICEABLE:
            return Outcome.RIGHT
        if predicted * measured < 0:
            return Outcome.WRONG
        if abs(predicted) > _FACTOR * abs(measured):
            return Outcome.LARGE
        return Outcome.SMALL if abs(measured) > _FACTOR * abs(predicted) else Outcome.RIGHT


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A recorded run made again, as it was and with each change.

    Parameters
    ----------
    record : Record
        The record of the run.
    folder : SweepFolder
        Folder of the points.
    baseline : Attempt
        The run as it was.
    attempts : tuple of Attempt
        The run with each change.
    made, found : int
        Number of runs that were made, and that existed.
    """

    record: Record
    folder: SweepFolder
    baseline: Attempt
    attempts: tuple[Attempt, ...]
    made: int
    found: int

    @property
    def best(self) -> Attempt | None:
        """The change with the fewest cycles; None if none makes the run noticeably faster."""
        faster = [each for each in self.attempts if each.change is not None and each.change <= -NOTICEABLE]
        return min(faster, key=lambda each: each.cycles or 0, default=None)

    @property
    def failed(self) -> list[Attempt]:
        """The changes with which the run failed."""
        return [each for each in self.attempts if each.failure]


def try_changes(
    record: Record,
    changes: Iterable[Mapping[str, Any]],
    batch: Batch,
    *,
    graph: Graph | str | None = None,
    memory: Profile | str | None = None,
) -> Trial:
    """Make a recorded run again, as it was and with each of some changes, side by side.

    Parameters
    ----------
    record : Record
        The record of the run.
    changes : iterable of mapping
        Settings that are changed together, by name. None of them is tried twice; those that are proposed for the
        record have predictions.
    batch : Batch
        Where and how the runs are made.
    graph : Graph or str, optional
        The graph or its file, if the recorded file has moved, or there was none.
    memory : Profile or str, optional
        The memory profile, or its text as the user gave it, for a run with rules of its own.

    Raises
    ------
    SpecError
        A change is invalid.
    InputError
        The run, its graph or its memory, or the folder cannot be used.
    SimulationError
        The run as it was failed, or the synthesis did. A failed change does not raise, see `Trial.failed`.
    """
    tried: list[Mapping[str, Any]] = [{}]
    tried += (settings for settings in changes if settings not in tried)
    foretold = proposals(record) if len(tried) > 1 else []
    with batch.opened() as points:
        threads = 1 if batch.scheduler is not None else max(available_cores() // min(batch.jobs, len(tried)), 1)
        setting = RerunSetting(progress=batch.progress, threads=threads, graph=graph, memory=memory)
        again = RecordedPoints(record, points, setting)
        for settings in tried:
            again.spec(settings)
        asked = [again.point(settings) for settings in tried]
        with batch.progress.step("simulating") as step:
            swept = batch.sweep(asked, points, step)
        if failure := swept.failures.get(asked[0].digest):
            raise SimulationError(f"the run as it was failed: {failure}")
        sizes = batch.areas(point.spec.configuration for point in asked)
    recorded, present = int(record.document["cycles"]["instructions"]), cycles_of(points.record(asked[0]))
    attempts = []
    for settings, point in zip(tried, asked, strict=True):
        proposal = next((each for each in foretold if each.changes == settings), None)
        failure = swept.failures.get(point.digest, "")
        cycles = None if failure else cycles_of(points.record(point))
        attempts.append(
            Attempt(
                settings=settings,
                proposal=proposal,
                point=point,
                cycles=cycles,
                change=None if cycles is None else cycles / max(present, 1) - 1,
                predicted=None if proposal is None else proposal.cycles / max(recorded, 1) - 1,
                failure=failure,
                area=sizes.get(point.spec.configuration, {}),
            )
        )
    baseline, *others = attempts
    return Trial(
        record=record, folder=points, baseline=baseline, attempts=tuple(others), made=swept.made, found=swept.found
    )
