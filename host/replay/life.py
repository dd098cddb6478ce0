"""The life of a vertex in a recorded run: its events, and its stages in the kernels around its first visit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from cyscc.host.analysis.lives import MissingLifeError, name_lives, select
from cyscc.host.record.reader import Record
from cyscc.host.replay.finding import kernel_name
from cyscc.host.replay.replaying import Replay, replay_of
from cyscc.host.replay.vertices import VertexHistory, vertex_history
from cyscc.host.runs.rerun import RerunSetting
from cyscc.sim.observation.life import Life, Lives, UntoldLivesError, read_lives
from cyscc.sim.observation.wave_reader import WaveReader
from cyscc.sim.observation.waves.views import Focus

_LEAD = 100
"""Cycles before an event in which its item's first read may have been offered."""
_TAIL = 600
"""Cycles after the last response with the ids of neighbours, in which their words are read and they are visited."""
_LONGEST = 2500
"""Most cycles of a window."""


@dataclass(frozen=True, kw_only=True)
class LifeWindow:
    """Cycles around events of a vertex, in which its stages were followed.

    Parameters
    ----------
    about : str
        The events.
    lives : Lives
        All lives in the kernels of the events.
    own : list of Life
        Those of the vertex: as a neighbour, as a queue entry, and those of this entry's neighbours.
    """

    about: str
    lives: Lives
    own: list[Life]


@dataclass(frozen=True, kw_only=True)
class VertexLife:
    """The life of a vertex in a recorded run.

    Parameters
    ----------
    history : VertexHistory
        The events of the vertex.
    windows : list of LifeWindow
        The cycles around the first visit, what follows of it, and the colouring.
    untold : str
        Why stages in some of the kernels are missing; else empty.
    """

    history: VertexHistory
    windows: list[LifeWindow]
    untold: str = ""


def vertex_lives(recorded: Record | Path, vertices: Sequence[int], setting: RerunSetting) -> list[VertexLife]:
    """Find the events of vertices in a recorded run, and follow the stages of each around its first visit.

    Parameters
    ----------
    recorded : Record or Path
        The record, or its folder.
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
    record = recorded if isinstance(recorded, Record) else Record(recorded)
    replay = replay_of(record.document, record.folder, setting)
    lives = []
    for vertex in vertices:
        history = vertex_history(replay, record, vertex)
        windows, untold = [], ""
        for moment in _merged(list(_moments(history))):
            try:
                windows.append(_window(replay, moment, vertex, end=record.cycles))
            except UntoldLivesError as error:
                untold = str(error)
        lives.append(VertexLife(history=history, windows=windows, untold=untold))
    return lives


@dataclass(frozen=True, kw_only=True)
class _Moment:
    """Kernels and cycles of events."""

    about: str
    first: int
    last: int
    kernels: tuple[str, ...]


def _moments(history: VertexHistory) -> Iterator[_Moment]:
    """Yield the first visit, the queue entry that follows it, and the colouring."""
    if history.visit is None:
        return
    events = history.events
    visit = events.loc[history.visit]
    if visit["event"] == "visited":
        yield _moment(events, visit, "first visit", begins="id_read", rest=20)
    after = events[events["cycle"] >= visit["cycle"]]
    for event, about, begins, rest in (
        ("entry_read", "queue entry", "entry_read", _TAIL),
        ("coloured", "colouring", "reach_read", 20),
    ):
        found = after[after["event"] == event]
        if len(found):
            yield _moment(events, found.iloc[0], about, begins=begins, rest=rest)


def _moment(events: pd.DataFrame, event: Any, about: str, *, begins: str, rest: int) -> _Moment:
    """Return the cycles around the first event of its kind in a kernel, from the first with which it can begin there.

    A kernel keeps the order, so both are of the same item. The cycles end so many after the event, or after the last
    response with ids of neighbours.
    """
    same = ["engine", "module", "kernel", "iteration", "phase", "level"]
    own = events[(events[same] == event[same]).all(axis=1)]
    first = own[own["event"] == begins]["cycle"].min()
    lists = own[(own["event"] == "expanded") & (own["cycle"] > event["cycle"])]["answered"]
    end = lists.iloc[0] if len(lists) else event["cycle"]
    # Where kernels exchange ids, another one has read the id.
    begin = max(int(event["cycle"] if np.isnan(first) else first) - _LEAD, 0)
    return _Moment(about=about, first=begin, last=min(int(end) + rest, begin + _LONGEST), kernels=(kernel_name(event),))


def _merged(moments: Sequence[_Moment]) -> list[_Moment]:
    """Return moments, those that are close to each other as one."""
    merged: list[_Moment] = []
    for moment in moments:
        before = merged[-1] if merged else None
        if before is not None and moment.last - before.first <= _LONGEST:
            about = f"{before.about} and {moment.about}"
            kernels = tuple(dict.fromkeys((*before.kernels, *moment.kernels)))
            merged[-1] = _Moment(about=about, first=before.first, last=max(before.last, moment.last), kernels=kernels)
        else:
            merged.append(moment)
    return merged


def _window(replay: Replay, moment: _Moment, vertex: int, *, end: int) -> LifeWindow:
    """Make the run again up to a moment, and read the lives in the kernels concerned from their waveforms."""
    with TemporaryDirectory(prefix="cyscc-life-") as folder:
        path = Path(folder, "window.fst")
        scopes = tuple(f"{kernel}.*" for kernel in moment.kernels)
        focus = Focus(cycle=moment.first, event="cycle", label="cycle")
        replay.record(path, (moment.first, min(moment.last, end - 1)), focus, scopes=scopes)
        lives = read_lives(WaveReader(path))
    placed = replay.graph.simplified() if replay.spec.simplify else replay.graph
    graphs = [placed] if len(replay.words) == 1 else [placed, placed.transpose()]
    name_lives(lives, {address: [graph] for address, graph in zip(replay.words, graphs, strict=True)})
    try:
        own = select(lives, of=[str(vertex)])
    except MissingLifeError:
        own = []
    return LifeWindow(about=moment.about, lives=lives, own=own)
