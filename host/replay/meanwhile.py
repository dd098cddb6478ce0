"""Spells of kernels, working or waiting, between the events of vertices."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from cyscc.host.record.reader import Record
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.replay.vertices import VertexHistory, vertex_history
from cyscc.host.replay.waits import WaitWatcher
from cyscc.host.runs.rerun import RerunSetting

_KERNEL = ["engine", "module", "kernel"]
_LONGEST = 2500
"""Most cycles between two events of a kernel that are told; after more, it is about something else."""


def vertex_lives(record: Record, vertices: Sequence[int], setting: RerunSetting) -> list[VertexHistory]:
    """Make a recorded run again for each of some vertices, and return their events, and the spells between them.

    Parameters
    ----------
    record : Record
        The record.
    vertices : sequence of int
        The vertices, as named in the graph's file.
    setting : RerunSetting
        How the run is made again.

    Raises
    ------
    InputError
        The record or the graph cannot be used, or the graph has no such vertex.
    SimulationError
        The machine could not be built, or the run failed.
    """
    replay = RecordReplay(record, setting)
    histories = [vertex_history(replay, vertex) for vertex in vertices]
    gaps = [_gaps(history) for history in histories]
    windows = _merged(pd.concat(gaps))
    if not windows:
        return histories
    waits, last = WaitWatcher(1, windows=windows, ahead=0), windows[-1][1]
    replay.watch([waits], last=last, aim=f"to cycle {last:,}")
    spells = waits.frame().assign(end=lambda rows: rows["begin"] + rows["cycles"])
    return [replace(history, spells=_between(own, spells)) for history, own in zip(histories, gaps, strict=True)]


def _gaps(history: VertexHistory) -> pd.DataFrame:
    """Return the cycles between events and those before of the same kernel and instruction, with the event's number."""
    events = history.events
    same = [*_KERNEL, "iteration", "phase", "level"]
    before = events.groupby(same, observed=True)["cycle"].shift()
    gaps = events[_KERNEL].assign(first=before, end=events["cycle"]).reset_index()
    length = gaps["end"] - gaps["first"]
    gaps = gaps[(length > 0) & (length <= _LONGEST) & ~history.repeated.to_numpy()]
    return gaps.astype({"first": np.int64})


def _merged(gaps: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the cycles of gaps as windows in order and apart."""
    windows: list[tuple[int, int]] = []
    for first, end in sorted(zip(gaps["first"].tolist(), gaps["end"].tolist(), strict=True)):
        if windows and first <= windows[-1][1] + 1:
            windows[-1] = windows[-1][0], max(windows[-1][1], end - 1)
        else:
            windows.append((first, end - 1))
    return windows


def _between(gaps: pd.DataFrame, spells: pd.DataFrame) -> pd.DataFrame:
    """Return the parts of spells that lie in gaps: the gap's `number`, the kernel, its cause, `begin` and `cycles`."""
    parts = gaps.merge(spells.astype({"module": str}), on=_KERNEL)
    begin, end = parts[["begin", "first"]].max(axis=1), parts[["end_x", "end_y"]].min(axis=1)
    parts = parts.assign(begin=begin, cycles=end - begin)[end > begin]
    return parts[["number", *_KERNEL, "cause", "begin", "cycles"]].reset_index(drop=True)
