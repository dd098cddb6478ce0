"""A sweep from a study to its rows: points that are there are found, the others made, side by side."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from host.measuring.cluster import run_on_cluster
from host.measuring.requests import OnStep
from host.measuring.schedule import EndedError, run_groups
from host.memory_room import memory_room
from host.sources import sources_digest
from host.sweep.folder import SweepFolder
from host.sweep.making import make_point
from host.sweep.points import Point
from host.sweep.study import Study
from sim.configuration import AcceleratorConfig

__all__ = ["Outcome", "Swept", "Work", "cluster_work", "local_work", "sweep"]

Outcome = Callable[[Point, str], None]
"""Told of each point why it failed, or the empty text."""


class Work(Protocol):
    """What has points made."""

    def __call__(self, points: list[Point], make: Callable[[Point], str], on_outcome: Outcome) -> None:
        """Make points, those to be begun first in front."""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What came of a sweep.

    Parameters
    ----------
    found, made : int
        Points that were there, and those that were made.
    failures : dict of str to str
        Why points failed, one line each, by their digests.
    """

    found: int
    made: int
    failures: dict[str, str]


def local_work(jobs: int) -> Work:
    """Return what makes points in processes of this machine, as many side by side."""

    def work(points: list[Point], make: Callable[[Point], str], on_outcome: Outcome) -> None:
        memory = memory_room().bytes * 9 // 10
        groups = [[point] for point in points]
        run_groups(groups, make, jobs=jobs, memory=memory, on_result=on_outcome, on_lost=_lost(on_outcome))

    return work


def cluster_work(address: str) -> Work:
    """Return what makes points on the workers of a Dask cluster, given by the address of its scheduler."""

    def work(points: list[Point], make: Callable[[Point], str], on_outcome: Outcome) -> None:
        run_on_cluster(points, make, address=address, on_result=on_outcome, on_lost=_lost(on_outcome))

    return work


def sweep(study: Study, folder: SweepFolder, work: Work, *, on_step: OnStep) -> Swept:
    """Make the points of a study that are not there.

    Parameters
    ----------
    study : Study
        The study.
    folder : SweepFolder
        Where points are kept.
    work : callable
        Has points made.
    on_step : callable
        Told of each point that is there.

    Raises
    ------
    SimulationError
        No further point can be made. That a point fails is none of this.
    """
    points = list({each.point.digest: each.point for each in study.points}.values())
    missing = _ordered([point for point in points if not folder.of(point).exists()])
    found = done = len(points) - len(missing)
    failures: dict[str, str] = {}
    on_step(found, len(points), f"{found} of them from before" if found else "")

    def on_outcome(point: Point, failure: str) -> None:
        nonlocal done
        done += 1
        if not failure and not folder.of(point).exists():
            failure = f"the process that made it does not see {folder.path}"
        if failure:
            failures[point.digest] = failure
        on_step(done, len(points), f"{point.label}: {failure or 'done'}")

    try:
        if missing:
            work(missing, partial(make_point, folder=folder.path, sources=sources_digest()), on_outcome)
    finally:
        for point in missing:
            folder.clear(point)
    return Swept(found=found, made=len(missing) - len(failures), failures=failures)


def _lost(on_outcome: Outcome) -> Callable[[Point, EndedError], None]:
    """Return what is told of points whose processes have ended."""
    return lambda point, error: on_outcome(point, str(error))


def _ordered(points: Iterable[Point]) -> list[Point]:
    """Return points, the first of each configuration in front: machines are built side by side, and each once."""
    seen: set[AcceleratorConfig] = set()
    leaders: list[Point] = []
    rest: list[Point] = []
    for point in points:
        (rest if point.spec.configuration in seen else leaders).append(point)
        seen.add(point.spec.configuration)
    return leaders + rest
