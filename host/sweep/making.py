"""The making of a point, in whatever process."""

import threading
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from host.runs.overrides import Overrides
from host.errors import InputError
from host.graph.csr import Graph
from host.measuring.graphs import GraphSpec, source_vertex
from host.progress import Progress
from host.sources import sources_digest
from host.sweep.folder import SweepFolder
from host.sweep.graphs import GraphFile
from host.sweep.points import Point
from sim.errors import SimulationError

if TYPE_CHECKING:
    from host.runs.session import RunOptions

__all__ = ["make_point"]

_one_at_a_time = threading.Lock()
"""A worker of a cluster may have threads; a run is measured with none of them beside it."""


def make_point(point: Point, *, folder: Path, sources: str) -> str:
    """Make a point, unless it is there.

    Parameters
    ----------
    point : Point
        The point.
    folder : Path
        Folder of the sweep.
    sources : str
        Digest of the sources of the process that asks.

    Returns
    -------
    str
        Why it failed, one line; empty if it is complete.

    Raises
    ------
    SimulationError
        This process has read other sources than the one that asks.
    """
    if sources != sources_digest():
        raise SimulationError("this process and the one that works for it have different versions of the program")
    with _one_at_a_time:
        try:
            kept = SweepFolder(folder)
            kept.make(point, lambda place: _record(point, kept, place))
        except (InputError, SimulationError) as error:
            return str(error)
        except MemoryError:
            return "not enough memory"
        except OSError as error:
            return f"{error.filename or folder}: {error.strerror or error}"
    return ""


@lru_cache(maxsize=1)
def _graph(folder: Path, graph: GraphSpec | GraphFile) -> tuple[Path, Graph]:
    return SweepFolder(folder).graph(graph)


def _record(point: Point, kept: SweepFolder, place: Path) -> None:
    """Record the run of a point in a folder."""
    from host.runs.bfs import run_bfs
    from host.runs.recording import Recording
    from host.runs.scc import run_scc
    from host.runs.session import Session

    path, graph = _graph(kept.path, point.graph)
    source = point.source
    if point.algorithm == "bfs" and source is None:
        source = int(graph.original(np.array([source_vertex(graph)]))[0])
    options = _options(point, str(path))
    session = Session(options, Progress(quiet=True), graph)
    recording = Recording(
        place, interval=point.record_interval, command=point.algorithm, options=options, source=source
    )
    with closing(recording):
        if source is None:
            run_scc(session, recording=recording)
        else:
            run_bfs(session, lambda read: read.index(source), recording=recording)


def _options(point: Point, graph: str) -> "RunOptions":
    from host.runs.session import RunOptions

    return RunOptions(
        graph=graph,
        config=point.config,
        config_name=point.config_name,
        memory=point.memory,
        memory_name=point.memory_name,
        changes=Overrides.of(dict(point.changes)),
        executor=point.executor,
        threads=1,
        simplify=point.simplify or None,
        cycle_limit=point.cycle_limit,
        queue_slack=point.queue_slack,
    )
