"""Where and how the runs of an experiment are made: their folder, processes or cluster, and the area of machines."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cyscc.host.experiments.fpga.area import areas
from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
from cyscc.host.experiments.measuring.measurements import OnStep
from cyscc.host.experiments.sweep.points import SweepFolder, SweepPoint, Swept, sweep
from cyscc.host.output.files import removing_empty
from cyscc.host.output.progress import Progress
from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["Batch"]


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

    def sweep(self, points: Iterable[SweepPoint], folder: SweepFolder, on_step: OnStep, **how: Any) -> Swept:
        """Make the missing runs, see `cyscc.host.experiments.sweep.points.sweep`."""
        return sweep(points, folder, jobs=self.jobs, scheduler=self.scheduler, on_step=on_step, **how)

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
