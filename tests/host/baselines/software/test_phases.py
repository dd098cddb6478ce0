"""Sequential Kosaraju by phase."""

import numpy as np

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.kosaraju import PHASES, kosaraju
from cyscc.host.graph.csr import Graph
from tests.system.graphs import GRAPHS, messy_graph


def timed(graph: Graph) -> Decomposition:
    with open_device("cpu") as device:
        return kosaraju(graph, graph.transpose(), SoftwareSetting(device=device, options={"phases": True}))


def check(graph: Graph) -> None:
    run, whole = timed(graph), kosaraju(graph, graph.transpose())
    assert (run.labels.tolist(), run.counts) == (whole.labels.tolist(), whole.counts)
    assert set(run.phases) == set(PHASES)
    assert min(run.phases.values()) >= 0
    assert sum(run.phases.values()) > 0
    assert not whole.phases


def test_labels_are_those_of_the_whole() -> None:
    for graph in GRAPHS.values():
        check(graph)
    for seed in range(60):
        check(messy_graph(1 + seed % 30, seed, seed))


def test_a_long_phase_is_in_its_own_time() -> None:
    # A cycle: long searches in both directions, one intersection, and a start that is found at once but for the last.
    vertices = np.arange(200_000, dtype=np.uint32)
    graph = Graph.from_edges(200_000, vertices, np.roll(vertices, 1))
    run = timed(graph)
    assert len(set(run.labels.tolist())) == 1
    assert run.phases["searches"] > run.phases["intersections"] > 0
    assert run.phases["starts"] > 0
