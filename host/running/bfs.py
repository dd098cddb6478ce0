"""A breadth-first search from a graph to its verified result."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from host.algorithms.reference import check_levels
from host.algorithms.search import breadth_first_search
from host.graph.csr import Graph
from host.graph.memory_map import PlacedGraph
from host.running.results import BfsResult
from host.running.session import Session

if TYPE_CHECKING:
    from host.checkpoints.checkpoints import Checkpoints
    from host.running.recording import Recording
    from sim.coprocessor import Coprocessor
    from sim.machine import Machine

__all__ = ["run_bfs"]


def run_bfs(
    session: Session,
    find_source: Callable[[Graph], int],
    *,
    keep: "Callable[[Machine, Sequence[PlacedGraph]], Checkpoints | None] | None" = None,
    recording: "Recording | None" = None,
    watch: "Callable[[Machine, PlacedGraph, Checkpoints | None], Coprocessor] | None" = None,
    seconds: float = 0.0,
) -> BfsResult:
    """Search the graph of a session.

    Parameters
    ----------
    session : Session
        The run in the making.
    find_source : callable
        Returns the vertex to start from, 0 to n - 1, given the graph as it was read.
    keep : callable, optional
        Returns what keeps the run of a machine on which a graph was placed.
    recording : Recording, optional
        Records it.
    watch : callable, optional
        Returns what is to be driven in the place of the machine, and watches it.
    seconds : float
        Real time that simulating took before, in other processes.

    Raises
    ------
    InputError
        A graph that cannot be used, a machine that does not exist.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    options = session.options
    read = session.read_graph(directions=1)
    source = find_source(read)
    with session.machine() as machine:
        with session.phase("load", "placing"):
            placed = PlacedGraph.place(machine, read.simplified() if options.simplify else read)
            graph = placed.graph
            dropped = read.edges - graph.edges
            if not dropped or not options.verify:
                read = graph
        keeper = None if keep is None else keep(machine, (placed,))
        driven = machine if watch is None else watch(machine, placed, keeper)
        observer = None if recording is None else recording.begin(machine, graph, keeper)
        with session.simulating(machine, graph.vertices, "level") as advance:
            search = breadth_first_search(
                driven,
                placed,
                source,
                slack=options.queue_slack,
                on_level=advance.on_level,
                keeper=keeper,
                observer=observer,
            )
        statistics = machine.statistics()
        if recording is not None:
            with session.phase("record", "recording"):
                recording.finish()
        reference = "sequential search"
        checked = session.verified(machine, (placed,), reference, lambda: check_levels(search.levels, read, source))
        setting = session.setting(graph, machine, uploaded_bytes=placed.size, dropped_edges=dropped)
        wall = session.wall(machine, before=seconds)
    result = BfsResult(graph=graph, setting=setting, wall=wall, checked=checked, statistics=statistics, run=search)
    return result if recording is None else recording.complete(machine, result)
