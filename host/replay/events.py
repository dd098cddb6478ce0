"""Events of a recorded run: from its record where that suffices, and from the run made again where it does not."""

from pathlib import Path

from cyscc.host.analysis.event_kinds import EventQuery
from cyscc.host.analysis.events import Events, RecordEvents
from cyscc.host.graph.csr import Graph
from cyscc.host.output.progress import Progress
from cyscc.host.record.reader import Record
from cyscc.sim.memory import Profile

__all__ = ["events_of"]


def events_of(
    recorded: Record | Path,
    query: EventQuery,
    progress: Progress,
    *,
    threads: int,
    graph: Graph | str | None = None,
    memory: Profile | str | None = None,
) -> Events:
    """Return events of a recorded run.

    Parameters
    ----------
    recorded : Record or Path
        The record, or its folder.
    query : EventQuery
        The events that are looked for.
    progress : Progress
        Progress display.
    threads : int
        Threads of the run that is made again.
    graph : Graph, str or None
        The graph or its file; None for the recorded file.
    memory : Profile, str or None
        The memory profile, or its text as the user gave it; None for the recorded one.

    Raises
    ------
    InputError
        The record or the graph cannot be used, or the run does not have what the query names.
    SimulationError
        The run that is made again failed.
    """
    with progress.step("reading the record"):
        record = recorded if isinstance(recorded, Record) else Record(recorded)
        return RecordEvents(record, query).events()
