"""Cost of a level and effects of races on the published machine, against figures of its own simulation.

The published hardware was simulated with a memory of fixed latency L. A kernel spends 2 cycles on an entry of its
current queue, 4 on an edge and 4 on a vertex that it pushes. A level costs about 3 L + 75 to 90 besides, in steps of
the turn of 20 of the ring. Large saturated levels reach 0.96 to 0.99 of that, growing ones 0.80 to 0.96.
"""

import numpy as np
import pytest

from cyscc.host.driver.search import BfsRun, breadth_first_search
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.graph.memory_map import PlacedGraph
from tests.system.runs import made

TURN = 20
KERNELS = 16


def search(graph: Graph, *, memory: str, config: str = "published-1ae", source: int = 0) -> BfsRun:
    with made(config, memory) as machine:
        return breadth_first_search(machine, PlacedGraph.place(machine, graph), source)


def star(leaves: int) -> Graph:
    """Return a vertex with edges to all others, which have none."""
    return Graph.from_edges(leaves + 1, np.zeros(leaves, np.uint32), np.arange(1, leaves + 1, dtype=np.uint32))


def echo(edges: int) -> Graph:
    """Return an edge from 0 to 1, and many from 1 to 0."""
    sources = np.ones(edges + 1, np.uint32)
    sources[0] = 0
    return Graph.from_edges(2, sources, 1 - sources)


@pytest.mark.parametrize("latency", [1, 75, 110])
def test_an_entry_costs_2_cycles(latency: int) -> None:
    # Every kernel reads its share of the leaves, and finds nothing to do.
    few, many = (search(star(KERNELS * each), memory=f"fixed:{latency}").level_records[1] for each in (500, 1500))
    assert (few.frontier, many.frontier, many.pushed) == (KERNELS * 500, KERNELS * 1500, 0)
    assert many.cycles - few.cycles == pytest.approx(2 * 1000, abs=TURN)


@pytest.mark.parametrize("latency", [1, 75, 110])
def test_an_edge_costs_4_cycles(latency: int) -> None:
    # One kernel has one entry, whose neighbours are all visited.
    few, many = (search(echo(edges), memory=f"fixed:{latency}").level_records[1] for edges in (500, 1500))
    assert (many.frontier, many.pushed) == (1, 0)
    assert many.cycles - few.cycles == pytest.approx(4 * 1000, abs=TURN)


@pytest.mark.parametrize("latency", [1, 75, 110])
def test_a_push_costs_4_cycles_and_the_waits_for_its_slot(latency: int) -> None:
    # One kernel pushes every neighbour of the star: the frontier grows as fast as it can.
    few, many = (search(star(leaves), memory=f"fixed:{latency}").level_records[0] for leaves in (500, 1500))
    assert (few.pushed, many.pushed) == (500, 1500)
    assert 0.80 <= (4 + 4) * 1000 / (many.cycles - few.cycles) <= 0.99


@pytest.mark.parametrize("latency", [75, 110])
def test_levels_reach_what_they_reach_on_the_published_machine(latency: int) -> None:
    graph = random_graph(2**16, 16, seed=3)
    run = search(graph, memory=f"fixed:{latency}")
    edges = np.bincount(run.levels[run.levels >= 0], graph.out_degrees()[run.levels >= 0])
    reached = [
        (2 * level.frontier + 4 * int(own) + 4 * level.pushed) / KERNELS / level.cycles
        for level, own in zip(run.level_records, edges, strict=True)
    ]
    fullest = max(range(len(reached)), key=lambda level: run.level_records[level].frontier)
    assert run.level_records[fullest].frontier > 2**15
    assert 0.96 <= reached[fullest] <= 0.995
    growing = fullest - 1
    assert run.level_records[growing].pushed > 2**15
    assert 0.80 <= reached[growing] <= 0.96


@pytest.mark.parametrize("latency", [20, 40, 75, 110, 150, 200])
def test_fixed_cost_of_a_level(latency: int) -> None:
    chain = Graph.from_edges(6, np.arange(5, dtype=np.uint32), np.arange(1, 6, dtype=np.uint32))
    costs = {level.cycles for level in search(chain, memory=f"fixed:{latency}").level_records[:-1]}
    # From 75 to 90 cycles besides the three reads, and what is missing to a whole turn.
    assert len(costs) == 1
    (cost,) = costs
    assert 75 - TURN < cost - 3 * latency < 90 + TURN


def test_fixed_cost_of_a_level_of_four_engines() -> None:
    # From 470 to 550 at L = 75.
    chain = Graph.from_edges(6, np.arange(5, dtype=np.uint32), np.arange(1, 6, dtype=np.uint32))
    costs = {level.cycles for level in search(chain, memory="fixed:75", config="published").level_records[:-1]}
    assert min(costs) >= 470
    assert max(costs) <= 550


@pytest.mark.parametrize(("latency", "low", "high"), [(75, 230, 370), (110, 370, 520)])
@pytest.mark.parametrize(("vertices", "degree"), [(2**12, 8), (2**12, 16), (2**14, 8), (2**14, 16)])
def test_kernels_push_as_many_vertices_twice(vertices: int, degree: int, latency: int, low: int, high: int) -> None:
    # About 300 at L = 75 and 400 to 500 at L = 110, almost independent of the graph's size and degree.
    run = search(random_graph(vertices, degree, seed=1), memory=f"fixed:{latency}")
    assert low <= run.duplicates <= high


def test_four_engines_push_more_vertices_twice() -> None:
    # About 1300.
    run = search(random_graph(2**12, 16, seed=1), memory="fixed:75", config="published")
    assert 1000 <= run.duplicates <= 1700


def test_a_turn_of_the_ring_takes_20_cycles_and_104_through_four_engines() -> None:
    # The cost of a level follows the latency in whole turns.
    chain = Graph.from_edges(3, np.arange(2, dtype=np.uint32), np.arange(1, 3, dtype=np.uint32))
    for config, turn in (("published-1ae", 20), ("published", 104)):
        costs = {
            search(chain, memory=f"fixed:{latency}", config=config).level_records[0].cycles
            for latency in range(75, 110, 5)
        }
        steps = np.diff(sorted(costs))
        assert len(costs) > 1
        assert set((steps % turn).tolist()) == {0}
