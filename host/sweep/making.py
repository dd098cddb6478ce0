"""The making of a point, in whatever process."""

import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from host.errors import InputError
from host.graph.csr import Graph
from host.measuring.graphs import GraphFile, GraphSpec
from host.progress import Progress
from host.sources import sources_digest
from host.sweep.folder import SweepFolder
from host.sweep.points import Point
from sim.errors import SimulationError

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
    from host.runs.execution import execute

    path, graph = _graph(kept.path, point.graph)
    spec = replace(point.spec, graph=str(path), record=str(place))
    execute(spec, Progress(quiet=True), graph=graph)
