"""Making the points of an experiment: where, in which processes or on which cluster; and the area of machines."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cyscc.host.experiments.fpga.area import areas
from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
from cyscc.host.experiments.measuring.measurements import OnStep
from cyscc.host.experiments.measuring.schedule import EndedError, run_on_cluster, run_requests
from cyscc.host.experiments.sweep.points import SweepFolder, SweepPoint
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import removing_empty
from cyscc.host.output.progress import Progress
from cyscc.host.runs.sources import sources_digest
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import CycleLimitError, SimulationError

_one_at_a_time = threading.Lock()
"""Lock for threads of a cluster's worker: runs are measured one at a time."""


LOST = "takes more cycles than it may"
"""Reason of a point that was given up, see `Budget`."""


@dataclass(kw_only=True)
class Budget:
    """Limits of points that are made in their order.

    Parameters
    ----------
    until : float
        Moment of `time.monotonic` at which no further point is begun, and those under way are given up, once there is a
        result.
    cycles : dict of str to int
        Cycles, those of the host included, after which a point is given up, by its digest. Those of points that have
        not begun may be changed.
    """

    until: float
    cycles: dict[str, int] = field(default_factory=dict)


def make_point(point: SweepPoint, *, folder: Path, sources: str, budget: Budget | None = None) -> str:
    """Make a point if it is missing, in a worker process or in this one.

    Parameters
    ----------
    point : SweepPoint
        The point.
    folder : Path
        Folder of the sweep.
    sources : str
        Digest of the sources of the process that runs the sweep.
    budget : Budget, optional
        Limits of the points.

    Returns
    -------
    str
        The reason of a failure, in one line; empty if the point is complete.

    Raises
    ------
    SimulationError
        The sources of this process differ from those of the process that runs the sweep.
    """
    if sources != sources_digest():
        raise SimulationError("this process and the one that works for it have different versions of the program")
    most = None if budget is None else budget.cycles.get(point.digest)
    own = point.spec.cycle_limit
    with _one_at_a_time:
        try:
            SweepFolder(folder).make(point, most_cycles=most)
        except CycleLimitError as error:
            return LOST if most is not None and (own is None or most < own) else str(error)
        except (InputError, SimulationError) as error:
            return str(error)
        except MemoryError:
            return "not enough memory"
        except OSError as error:
            return f"{error.filename or folder}: {error.strerror or error}"
    return ""


@dataclass(frozen=True, kw_only=True)
class Swept:
    """Outcome of a sweep.

    Parameters
    ----------
    found, made : int
        Number of points that existed, and of those made by this sweep.
    failures : dict of str to str
        Reason of each failure, one line each, by the point's digest.
    """

    found: int = 0
    made: int = 0
    failures: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: "Swept") -> "Swept":
        """Return the outcome of two sweeps together."""
        failures = {**self.failures, **other.failures}
        return Swept(found=self.found + other.found, made=self.made + other.made, failures=failures)

    @property
    def text(self) -> str:
        """Number of runs in words: ``4 made, 2 from before``."""
        return f"{self.made} made, {self.found} from before"


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Where and how runs are made.

    Parameters
    ----------
    folder : Path
        Folder of the runs, which are found there again.
    jobs : int
        Number of processes.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers make the runs instead.
    families : tuple of str
        FPGA families for which to synthesise the machines.
    progress : Progress
        Progress display.
    """

    folder: Path
    jobs: int = 1
    scheduler: str | None = None
    families: tuple[str, ...] = ()
    progress: Progress = field(default_factory=lambda: Progress(quiet=True))

    @contextmanager
    def opened(self) -> Iterator[SweepFolder]:
        """Yield the folder of the runs; after an error in the block, folders that are empty and new are removed.

        Raises
        ------
        InputError
            The folder cannot be created or written.
        SimulationError
            Machines are to be synthesised, and Yosys is missing.
        """
        with removing_empty(*(self.folder / name for name in ("points", "graphs"))):
            if self.families:
                check_tool(YOSYS)
            yield SweepFolder(self.folder)

    def sweep(
        self,
        asked: Iterable[SweepPoint],
        folder: SweepFolder,
        on_step: OnStep,
        *,
        budget: Budget | None = None,
        on_point: Callable[[SweepPoint, str], None] = lambda point, failure: None,
    ) -> Swept:
        """Make the missing points of a sweep, in parallel.

        Parameters
        ----------
        asked : iterable of SweepPoint
            The points of a study.
        folder : SweepFolder
            The folder of points.
        on_step : callable
            Progress callback, called for each point.
        budget : Budget, optional
            Limits of the points, which are then made in their order.
        on_point : callable
            Called with each point, first those that exist, and the reason if it failed.

        Raises
        ------
        InputError
            A point that exists is damaged; the scheduler does not answer, or has no workers.
        SimulationError
            No further points can be made. A failed point does not raise: see `Swept.failures`.
        """
        points = list({point.digest: point for point in asked}.values())
        there = {point.digest for point in points if folder.has(point)}
        missing = [point for point in points if point.digest not in there]
        if budget is None:
            missing = _ordered(missing)
        found = done = len(there)
        failures: dict[str, str] = {}
        on_step(found, len(points), f"{found} of them from before" if found else "")
        for point in points:
            if point.digest in there:
                on_point(point, "")

        def on_outcome(point: SweepPoint, failure: str) -> None:
            nonlocal done
            done += 1
            if not failure and not folder.of(point).exists():
                failure = f"the process that made it does not see {folder.path}"
            if failure:
                failures[point.digest] = failure
            on_point(point, failure)
            on_step(done, len(points), f"{point.label}: {failure or 'done'}")

        def on_lost(point: SweepPoint, error: EndedError) -> None:
            on_outcome(point, str(error))

        make = partial(make_point, folder=folder.path, sources=sources_digest(), budget=budget)
        until = None if budget is None else budget.until
        how: dict[str, Any] = {"on_result": on_outcome, "on_lost": on_lost, "until": until}
        try:
            if self.scheduler is None:
                run_requests(missing, make, jobs=self.jobs, **how)
            elif missing:
                run_on_cluster(missing, make, address=self.scheduler, **how)
        finally:
            for point in missing:
                folder.clear(point)
        return Swept(found=found, made=done - found - len(failures), failures=failures)

    def areas(self, configs: Iterable[AcceleratorConfig]) -> Mapping[AcceleratorConfig, Mapping[str, int]]:
        """Return the area of each machine; of none if no family was asked for.

        Raises
        ------
        SimulationError
            Yosys failed.
        """
        if not self.families:
            return {}
        with self.progress.step("synthesising") as step:
            return areas(configs, families=self.families, jobs=self.jobs, on_step=step)


def _ordered(points: Iterable[SweepPoint]) -> list[SweepPoint]:
    """Return points with the first of each configuration in front.

    This way machines are built in parallel, and each only once.
    """
    seen: set[AcceleratorConfig] = set()
    leaders: list[SweepPoint] = []
    rest: list[SweepPoint] = []
    for point in points:
        (rest if point.spec.configuration in seen else leaders).append(point)
        seen.add(point.spec.configuration)
    return leaders + rest
