"""Machines, and runs on them, for whole runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.components import ComponentRun, strong_components
from cyscc.host.driver.search import BfsRun, breadth_first_search
from cyscc.host.graph.csr import Graph, trim
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.graph.reference import canonical, check_components, check_levels
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.coprocessor import Coprocessor
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import Profile, parse_profile

MEMORIES = ("hc2", "fixed:1", "fixed:75", "fixed:400", "stress")
"""The memory profiles that every machine has to be right under."""

CYCLE_LIMIT = 5_000_000
"""More cycles than any run of these tests needs."""


@contextmanager
def made(config: str | AcceleratorConfig, memory: str | Profile, **options: Any) -> Iterator[Machine]:
    """Make a machine, by default one with a cycle limit, and close it at the end of the block.

    Parameters
    ----------
    config : str or AcceleratorConfig
        Preset or configuration.
    memory : str or Profile
        Memory profile.
    **options
        As of `cyscc.sim.machine.create_machine`.
    """
    sizes = PRESETS[config] if isinstance(config, str) else config
    profile = parse_profile(memory) if isinstance(memory, str) else memory
    machine = create_machine(sizes, profile, **{"cycle_limit": CYCLE_LIMIT, **options})
    try:
        yield machine
    finally:
        machine.close()


def solve(machine: Coprocessor, graph: Graph, *, slack: int | None = 2000, **how: Any) -> ComponentRun:
    """Find the components of a graph."""
    transpose = graph.transpose()
    trimmed = trim(graph, transpose)
    forward, backward = (PlacedGraph.place(machine, each) for each in (graph, transpose))
    return strong_components(machine, forward, backward, trimmed, slack=slack, **how)


def search(machine: Coprocessor, graph: Graph, source: int, *, slack: int | None = 2000, **how: Any) -> BfsRun:
    """Search a graph breadth-first."""
    return breadth_first_search(machine, PlacedGraph.place(machine, graph), source, slack=slack, **how)


def _check_rest(machine: Machine) -> None:
    """Check that the machine is at rest and has written nowhere but where it may."""
    assert machine.memory.error() is None
    assert machine.memory.outstanding() == []
    assert machine.memory.stray_writes() == []


def check_scc(machine: Machine, graph: Graph, *, slack: int | None = 2000) -> ComponentRun:
    """Find the components of a graph, and check them."""
    run = solve(machine, graph, slack=slack)
    assert check_components(canonical(run.colours), graph) is None
    assert sorted(set(run.colours.tolist())) == list(range(1, run.components + 1))
    assert run.components == run.trimmed + run.iterations
    assert run.backward.searches == run.intersections <= run.forward.searches == run.iterations
    _check_rest(machine)
    return run


def chunks_of(graph: Graph, edge_chunk: int) -> npt.NDArray[np.int64]:
    """Return how many entries each vertex takes in a queue."""
    degrees = graph.out_degrees().astype(np.int64)
    return np.maximum(-(-degrees // edge_chunk), 1) if edge_chunk else np.ones_like(degrees)


def pairs_of(graph: Graph, vertices: npt.NDArray[np.bool_], edge_chunk: int = 0) -> int:
    """Return the aligned pairs of neighbour ids with one or two of a vertex's chunk, summed over some vertices."""
    first, end = graph.offsets[:-1], graph.offsets[1:]
    # Chunks have an even length: if the first one begins within a pair, so do all.
    shared = (chunks_of(graph, edge_chunk) - 1) * (first % 2)
    return int(((end + 1) // 2 - first // 2 + shared)[vertices & (end > first)].sum())


def check_bfs(machine: Machine, graph: Graph, source: int, *, slack: int | None = 2000) -> BfsRun:
    """Search a graph breadth-first, and check levels and records with a sequential search."""
    before = machine.statistics()["counters"]["bfs"]
    run = search(machine, graph, source, slack=slack)
    counted = {name: value - before[name] for name, value in machine.statistics()["counters"]["bfs"].items()}
    assert check_levels(run.levels, graph, source) is None
    reached = run.levels >= 0
    assert run.reached == np.count_nonzero(reached)
    assert run.edges_traversed == graph.out_degrees()[reached].sum()
    frontiers = [level.frontier for level in run.level_records]
    pushed = [level.pushed for level in run.level_records]
    demanded = chunks_of(graph, machine.config.edge_chunk)
    assert frontiers == [demanded[source], *pushed[:-1]]
    assert pushed[-1] == 0
    queued = reached if machine.config.keeps_reach_queue else reached & (graph.out_degrees() > 0)
    queued[source] = True
    assert 1 + sum(pushed) == np.count_nonzero(queued) + run.duplicates
    copies = sum(frontiers) - demanded[queued].sum()
    assert copies >= 0
    if not run.retries:
        assert (counted["entries"], counted["pushed"]) == (sum(frontiers), sum(pushed))
    if not copies and not run.retries:
        if machine.config.filters_copies:
            assert counted["items"] <= run.edges_traversed
        else:
            assert counted["items"] == run.edges_traversed
        if machine.config.visited_filter >= graph.vertices:
            met = np.unique(graph.targets[np.repeat(reached, graph.out_degrees())])
            assert len(met) <= counted["items"] <= machine.config.engines * len(met)
        reads_of_ids = run.edges_traversed
        if machine.config.pair_reads:
            reads_of_ids = pairs_of(graph, reached, machine.config.edge_chunk)
        writes = counted["requests"] - sum(frontiers) - reads_of_ids - counted["items"]
        if machine.config.keeps_reach_queue:
            most = 2 * sum(pushed) + run.reached - 1
            assert writes == most if machine.config.writes_single_ids else most - sum(pushed) // 2 <= writes <= most
        else:
            # Kernels that race may mark a vertex without neighbours more than once.
            assert writes >= run.reached - 1 + sum(pushed)
    _check_rest(machine)
    return run
