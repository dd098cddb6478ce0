"""Sequential Kosaraju by phase."""

import numpy as np

from cyscc.host.baselines.software.kosaraju import kosaraju, kosaraju_phases
from cyscc.host.graph.csr import Graph
from tests.system.graphs import GRAPHS, messy_graph


def check(graph: Graph) -> None:
    transpose = graph.transpose()
    run = kosaraju_phases(graph, transpose)
    assert run.labels.tolist() == kosaraju(graph, transpose).labels.tolist()
    assert min(run.searches, run.intersections, run.starts) >= 0
    assert run.seconds == run.searches + run.intersections + run.starts > 0


def test_labels_are_those_of_the_whole() -> None:
    for graph in GRAPHS.values():
        check(graph)
    for seed in range(60):
        check(messy_graph(1 + seed % 30, seed, seed))


def test_a_long_phase_is_in_its_own_time() -> None:
    # A cycle: long searches in both directions, one intersection, and a start that is found at once but for the last.
    vertices = np.arange(200_000, dtype=np.uint32)
    graph = Graph.from_edges(200_000, vertices, np.roll(vertices, 1))
    run = kosaraju_phases(graph, graph.transpose())
    assert len(set(run.labels.tolist())) == 1
    assert run.searches > run.intersections > 0
    assert run.starts > 0
