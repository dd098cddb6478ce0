"""Lives of vertices in the Python interface."""

from os import PathLike

from cyscc.host.api.records import Recorded, record_of, rerun_setting
from cyscc.host.graph.csr import Graph
from cyscc.host.replay.life import VertexLife, vertex_lives
from cyscc.host.specification.run import checked_number
from cyscc.sim.memory import Profile

__all__ = ["life"]


def life(
    recorded: Recorded,
    vertex: int,
    *,
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> VertexLife:
    """Make a recorded run again, and return the life of a vertex, as ``cyscc replay --life-of`` shows it.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    vertex : int
        The vertex, as named in the graph's file.
    graph, memory, threads, progress : optional
        As in `replay`.

    Returns
    -------
    VertexLife
        Its `events` and `stages` are data frames; its `str` is the output of the command.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        The record or the graph cannot be used, or the graph has no such vertex.
    SimulationError
        The machine could not be built, or the run failed.
    """
    vertices = [checked_number("vertex", vertex, low=0)]
    (found,) = vertex_lives(record_of(recorded), vertices, rerun_setting(recorded, graph, memory, threads, progress))
    return found
