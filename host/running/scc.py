"""The strongly connected components of a graph, from the graph to the verified result."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from host.algorithms.components import canonical
from host.algorithms.kosaraju import strong_components
from host.algorithms.reference import check_components
from host.graph.memory_map import PlacedGraph
from host.graph.trim import trim
from host.running.results import SccResult
from host.running.session import Session

if TYPE_CHECKING:
    from host.checkpoints.checkpoints import Checkpoints
    from host.running.recording import Recording
    from sim.machine import Machine

__all__ = ["run_scc"]


def run_scc(
    session: Session,
    *,
    keep: "Callable[[Machine, Sequence[PlacedGraph]], Checkpoints | None] | None" = None,
    recording: "Recording | None" = None,
    seconds: float = 0.0,
) -> SccResult:
    """Find the strongly connected components of a session's graph. Parameters and errors are those of `run_bfs`."""
    options = session.options
    read = session.read_graph(directions=2)
    with session.machine() as machine:
        with session.phase("load", "transposing, trimming and placing"):
            graph = read.simplified() if options.simplify else read
            dropped = read.edges - graph.edges
            transpose = graph.transpose()
            trimmed = trim(graph, transpose)
            forward = PlacedGraph.place(machine, graph)
            backward = PlacedGraph.place(machine, transpose, name="transpose")
            graph, transpose = forward.graph, backward.graph
            if not dropped or not options.verify:
                read = graph
        keeper = None if keep is None else keep(machine, (forward, backward))
        observer = None if recording is None else recording.begin(machine, graph, keeper)
        with session.simulating(machine, graph.vertices, "iteration") as advance:
            components = strong_components(
                machine,
                forward,
                backward,
                trimmed,
                slack=options.queue_slack,
                on_iteration=advance.on_iteration,
                keeper=keeper,
                observer=observer,
            )
        statistics = machine.statistics()
        if recording is not None:
            with session.phase("record", "recording"):
                recording.finish()
        labels = canonical(components.colours)
        checked = session.verified(machine, (forward, backward), "scipy", lambda: check_components(labels, read))
        uploaded = forward.size + backward.size
        setting = session.setting(graph, machine, uploaded_bytes=uploaded, dropped_edges=dropped)
        wall = session.wall(machine, before=seconds)
    result = SccResult(
        graph=graph,
        setting=setting,
        wall=wall,
        checked=checked,
        statistics=statistics,
        run=components,
        labels=labels,
    )
    return result if recording is None else recording.complete(machine, result)
