"""A sweep from a study to its rows: points that are there are found, the others made, side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from host.measuring.requests import OnStep
from host.measuring.schedule import EndedError, run_groups, run_on_cluster
from host.sources import sources_digest
from host.sweep.folder import SweepFolder
from host.sweep.making import make_point
from host.sweep.points import Point
from host.sweep.study import Study
from sim.configuration import AcceleratorConfig

__all__ = ["Swept", "sweep"]


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


def sweep(study: Study, folder: SweepFolder, *, jobs: int, scheduler: str | None, on_step: OnStep) -> Swept:
    """Make the points of a study that are not there.

    Parameters
    ----------
    study : Study
        The study.
    folder : SweepFolder
        Where points are kept.
    jobs : int
        Processes of this machine that make points side by side.
    scheduler : str or None
        Address of the scheduler of a Dask cluster, whose workers make them instead.
    on_step : callable
        Told of each point that is there.

    Raises
    ------
    InputError
        There is no such scheduler, or it has no workers.
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

    def on_lost(point: Point, error: EndedError) -> None:
        on_outcome(point, str(error))

    make = partial(make_point, folder=folder.path, sources=sources_digest())
    try:
        if scheduler is None:
            run_groups([[point] for point in missing], make, jobs=jobs, on_result=on_outcome, on_lost=on_lost)
        elif missing:
            run_on_cluster(missing, make, address=scheduler, on_result=on_outcome, on_lost=on_lost)
    finally:
        for point in missing:
            folder.clear(point)
    return Swept(found=found, made=len(missing) - len(failures), failures=failures)


def _ordered(points: Iterable[Point]) -> list[Point]:
    """Return points, the first of each configuration in front: machines are built side by side, and each once."""
    seen: set[AcceleratorConfig] = set()
    leaders: list[Point] = []
    rest: list[Point] = []
    for point in points:
        (rest if point.spec.configuration in seen else leaders).append(point)
        seen.add(point.spec.configuration)
    return leaders + rest
