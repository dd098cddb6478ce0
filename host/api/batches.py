"""Where and how functions of the Python interface make many runs."""

from os import PathLike
from pathlib import Path

from cyscc.host.experiments.fpga.area import checked_family
from cyscc.host.experiments.sweep.batch import Batch
from cyscc.host.output.progress import Progress
from cyscc.host.specification.run import checked_number

__all__ = ["batch_of"]


def batch_of(
    folder: str | PathLike[str], *, jobs: int, scheduler: str | None, area: bool, family: str, progress: bool
) -> Batch:
    """Return where and how runs are made.

    Raises
    ------
    ValueError
        A value is out of range.
    """
    return Batch(
        folder=Path(folder),
        jobs=checked_number("jobs", jobs, low=1),
        scheduler=scheduler,
        families=(checked_family(family),) if area else (),
        progress=Progress(quiet=not progress),
    )
