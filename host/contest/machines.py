"""Entries of simulated machines."""

from host.contest.entries import Entry
from host.graph.csr import Graph
from host.progress import Progress
from host.runs.execution import execute
from host.runs.results import SccResult
from host.runs.specification import RunSpec

__all__ = ["machine_entry"]


def machine_entry(spec: RunSpec, graph: Graph, progress: Progress) -> Entry:
    """Find the components of a graph on a simulated machine.

    Edges are those of its searches; a pass is a level of a search, or an intersection.

    Parameters
    ----------
    spec : RunSpec
        The machine, and whether its result is checked.
    graph : Graph
        The graph.
    progress : Progress
        What shows how far it is.

    Raises
    ------
    InputError, SimulationError
        There is no such machine; the simulation failed, or its result is wrong.
    """
    result = execute(spec, progress, graph=graph)
    assert isinstance(result, SccResult), "components were found"
    run = result.run
    clock = f"{result.setting.clock_hz / 1e6:g} MHz"
    return Entry(
        name=spec.config_name,
        simulated=True,
        where=f"{clock}, memory {spec.memory_name}",
        milliseconds=result.seconds * 1e3,
        edges=run.edges_traversed,
        passes=run.forward.levels + run.backward.levels + run.intersections,
        cycles=run.cycles,
        counts={"iterations": run.iterations, "trimmed": run.trimmed},
    )
