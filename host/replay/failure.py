"""The cycles in which a recorded run failed: its points, and the waveforms that it leaves by itself."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.errors import InputError
from host.progress import Progress
from host.record.folder import LAST_CYCLES
from host.record.reader import read_failure
from host.replay.point import Point
from host.replay.run import Replay, Waveforms
from host.replay.source import Source
from sim.errors import SimulationError
from sim.notices import notice

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.graph.csr import Graph
    from host.runs.recording import Recording

__all__ = ["cycle_of_failure", "show_failure"]

_CYCLES = 1000
"""Cycles of the waveforms."""
_AFTER = 100
"""Of them those in which a machine that hangs does nothing."""


def cycle_of_failure(point: Point, document: dict[str, Any], folder: Path) -> int:
    """Return the cycle of a point of a run that failed.

    Raises
    ------
    InputError
        There is no such point.
    """
    failure = document["failure"]
    if point.cycle is not None:
        if point.cycle >= failure["cycle"]:
            raise InputError(f"the run failed at cycle {failure['cycle']:,}, before cycle {point.cycle:,}", path=folder)
        return point.cycle
    restricted = str(point).partition(",")[2]
    if restricted:
        raise InputError(
            f"the run failed: its error or hang is that of the whole machine, without {restricted}", path=folder
        )
    if point.event == "error":
        return int(failure["cycle"]) - 1
    if point.event != "hang":
        raise InputError(f"the run failed: there are its cycles, error and hang, but not {point}", path=folder)
    if failure["moved"] is None:
        raise InputError(f"the run does not hang: {failure['message']}", path=folder)
    return int(failure["moved"])


def show_failure(
    recording: "Recording",
    error: SimulationError,
    *,
    progress: Progress,
    checkpoint: "Checkpoint | None" = None,
    graph: "Graph | None" = None,
) -> None:
    """Leave in the folder of a recorded run that failed what a replay needs, and the waveforms of its last cycles.

    Parameters
    ----------
    recording : Recording
        What recorded it.
    error : SimulationError
        How it failed.
    progress : Progress
        Shows how far it is.
    checkpoint : Checkpoint, optional
        Where to go on from.
    graph : Graph, optional
        The graph, where no file has it.
    """
    if not recording.failed(error):
        return
    folder = recording.folder
    document = read_failure(folder)
    assert document is not None
    moved, end = document["failure"]["moved"], document["failure"]["cycle"]
    last = end - 1 if moved is None else min(moved + _AFTER, end - 1)
    window = max(last - _CYCLES + 1, 0), last
    path = folder / LAST_CYCLES
    try:
        source = Source.of(document, folder, threads=recording.spec.threads, memory=recording.spec.profile)
        replay = Replay(source, progress, checkpoint, graph)
        replay.record(Waveforms(path=path), window, executor=source.spec.executor)
    except (InputError, SimulationError) as other:
        notice(f"no waveforms of the cycles in which the run failed: {other}")
        return
    notice(f"{path} shows cycles {window[0]:,} to {window[1]:,}, in which the run failed")
