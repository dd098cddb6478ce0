"""Runs that several functions of the Python interface make: where and how, and of which recorded run."""

from os import PathLike
from pathlib import Path
from typing import Any

from cyscc.host.api.records import Recorded, record_of
from cyscc.host.experiments.fpga.area import checked_family
from cyscc.host.experiments.sweep.batch import Batch
from cyscc.host.graph.csr import Graph
from cyscc.host.output.progress import Progress
from cyscc.host.record.reader import Record
from cyscc.host.runs.results import Result
from cyscc.sim.memory import Profile
from cyscc.sim.trust import GivenText

__all__ = ["batch_of", "given_value", "recorded_run"]


def batch_of(
    folder: str | PathLike[str], *, jobs: int, scheduler: str | None, area: bool, family: str, progress: bool
) -> Batch:
    """Return where and how runs are made.

    Raises
    ------
    ValueError
        A value is out of range.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    return Batch(
        folder=Path(folder),
        jobs=jobs,
        scheduler=scheduler,
        families=(checked_family(family),) if area else (),
        progress=Progress(quiet=not progress),
    )


def recorded_run(
    recorded: Recorded,
    graph: Graph | str | PathLike[str] | None,
    memory: Profile | str | PathLike[str] | None,
) -> tuple[Record, dict[str, Any]]:
    """Return the record of a run, and the ``graph`` and ``memory`` with which it is made again.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        The record cannot be read.
    """
    if isinstance(recorded, Result) and graph is None:
        graph = recorded.graph
    return record_of(recorded), {
        "graph": graph if graph is None or isinstance(graph, Graph) else str(graph),
        "memory": memory if memory is None or isinstance(memory, Profile) else GivenText(memory),
    }


def given_value(value: Any) -> Any:
    """Return a setting's value; a text may name code, as it is the caller's."""
    return GivenText(value) if isinstance(value, str) else value
