"""Recorded runs and machines as users name them. What takes long to import is imported when it is needed."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.answer.answer import Forms
from cyscc.host.interface.notes import CORES, AnyRecord
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.overrides import MEMORY, Overrides
from cyscc.host.specification.run import resolved_configuration
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.record.reader import Record
    from cyscc.host.runs.rerun import RerunSetting
    from cyscc.sim.configuration import AcceleratorConfig

FORMS = Forms(__file__)
"""Forms of the tables of this room."""


def record_of(recorded: AnyRecord) -> "Record":
    """Return the record.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        The folder holds no record.
    """
    from cyscc.host.record.reader import Record
    from cyscc.host.runs.results import Result

    if isinstance(recorded, Result):
        if recorded.record is None:
            raise ValueError("the run was not recorded: give it record=FOLDER")
        return recorded.record
    return recorded if isinstance(recorded, Record) else Record(Path(recorded))


def folder_of(recorded: AnyRecord) -> Path:
    """Return the folder of a record, also that of a failed run; raises ValueError if the run was not recorded."""
    return Path(recorded) if isinstance(recorded, str | PathLike) else record_of(recorded).folder


def rerun_setting(
    recorded: AnyRecord, *, threads: int | None = None, progress: Progress | bool = False, **inputs: Any
) -> "RerunSetting":
    """Return how a recorded run is made again, with all cores by default; see `cyscc.host.interface.notes.Again`."""
    from cyscc.host.runs.rerun import RerunSetting

    cores = CORES if threads is None else threads
    return RerunSetting(progress=Progress.of(progress), threads=cores, **inputs_of(recorded, **inputs))


def inputs_of(recorded: AnyRecord, *, graph: Any = None, memory: Any = None) -> dict[str, Any]:
    """Return the ``graph`` and ``memory`` with which a recorded run is made again, by default the result's graph."""
    from cyscc.host.runs.results import Result

    if isinstance(recorded, Result) and graph is None:
        graph = recorded.graph
    return {
        "graph": str(graph) if isinstance(graph, str | PathLike) else graph,
        "memory": GivenText(memory) if isinstance(memory, str | PathLike) else memory,
    }


def overrides_of(given: Any, *, config: bool = False, memory: bool = False) -> Overrides:
    """Return overrides by name, or those of texts ``KEY=VALUE``.

    Parameters
    ----------
    given : mapping or sequence of str, optional
        The overrides.
    config, memory : bool
        Whether there is a configuration, and a memory, to override.

    Raises
    ------
    SpecError
        They are malformed, or there is nothing that one could override.
    """
    try:
        found = Overrides.given(given)
    except ValueError as error:
        raise SpecError("overrides", str(error)) from None
    for name in found.values():
        of_memory = name.startswith(MEMORY)
        if not (memory if of_memory else config):
            raise SpecError("overrides", f"{name}: this command has no {'memory' if of_memory else 'configuration'}")
    return found


def machine(config: "str | AcceleratorConfig", overrides: Any = None) -> "AcceleratorConfig":
    """Return a configuration with overrides; raises SpecError if it does not exist, or is invalid."""
    return resolved_configuration(config, overrides_of(overrides, config=True))
