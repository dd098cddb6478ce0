"""Recorded runs as users name them, and how they are made again."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.output.progress import Progress
from cyscc.host.record.reader import Record
from cyscc.host.runs.rerun import RerunSetting
from cyscc.host.runs.results import Result
from cyscc.sim.processors import available_cores
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.graph.csr import Graph
    from cyscc.host.interface.notes import Recorded, Wanted
    from cyscc.sim.memory import Profile

__all__ = ["folder_of", "inputs_of", "record_of", "rerun_setting"]


def record_of(recorded: "Recorded") -> Record:
    """Return the record.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        The folder holds no record.
    """
    given = _given(recorded)
    return given if isinstance(given, Record) else Record(given)


def folder_of(recorded: "Recorded") -> Path:
    """Return the folder of a record, also that of a failed run; raises ValueError if the run was not recorded."""
    given = _given(recorded)
    return given.folder if isinstance(given, Record) else given


def _given(recorded: "Recorded") -> Record | Path:
    if isinstance(recorded, Result):
        if recorded.record is None:
            raise ValueError("the run was not recorded: give it record=FOLDER")
        return recorded.record
    return recorded if isinstance(recorded, Record) else Path(recorded)


def rerun_setting(
    recorded: "Recorded",
    graph: "Graph | str | PathLike[str] | None",
    memory: "Profile | str | PathLike[str] | None",
    threads: int | None,
    progress: "Wanted",
) -> RerunSetting:
    """Return how a recorded run is made again, with all cores by default."""
    cores = available_cores() if threads is None else threads
    return RerunSetting(progress=Progress.of(progress), threads=cores, **inputs_of(recorded, graph, memory))


def inputs_of(
    recorded: "Recorded",
    graph: "Graph | str | PathLike[str] | None",
    memory: "Profile | str | PathLike[str] | None",
) -> dict[str, Any]:
    """Return the ``graph`` and ``memory`` with which a recorded run is made again, by default the result's graph."""
    if isinstance(recorded, Result) and graph is None:
        graph = recorded.graph
    return {
        "graph": str(graph) if isinstance(graph, str | PathLike) else graph,
        "memory": GivenText(memory) if isinstance(memory, str | PathLike) else memory,
    }
