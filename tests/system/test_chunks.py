"""Machines that queue vertices in chunks: right results, in fewer cycles where a graph has hubs, on both executors."""

import numpy as np
import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import rmat_graph
from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.hardware import chunk_words, chunks_of
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph
from tests.system.runs import MEMORIES, check_bfs, check_scc, made
from tests.words import graph_word

SMALL = PRESETS["test"]
CHUNKS = SMALL.replace(edge_chunk=4)


def hub_graph(leaves: int) -> Graph:
    """Return a hub with edges to all others, and a vertex before it, to which every hundredth of them leads."""
    last = leaves + 1
    edges = [(last, 0), *((0, leaf) for leaf in range(1, leaves + 1)), *((leaf, last) for leaf in range(1, last, 100))]
    return graph_of(leaves + 2, edges)


@pytest.mark.parametrize("name", GRAPHS)
def test_awkward_graphs(name: str) -> None:
    with made(CHUNKS, "hc2") as machine:
        check_scc(machine, GRAPHS[name])
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", MEMORIES)
def test_memories(memory: str) -> None:
    for graph in (hub_graph(1000), messy_graph(100, 1501, 4), rmat_graph(512, 8, seed=2)):
        with made(CHUNKS, memory) as machine:
            check_scc(machine, graph)
            check_bfs(machine, graph, 1)


@pytest.mark.parametrize(
    "options", [{"remembered_ids": 32}, {"pair_reads": True}, {"lean_visits": True}, {"issue_interval": 2}]
)
def test_with_other_options(options: dict[str, int]) -> None:
    with made(CHUNKS.replace(**options), "stress") as machine:
        graph = messy_graph(100, 1500, 5)
        check_bfs(machine, graph, 1)
        check_scc(machine, graph)


def test_a_source_in_chunks_that_reaches_nothing_new_is_a_component() -> None:
    """Its edges are loops: there are many entries of the first level, and no backward search."""
    graph = graph_of(3, [(0, 0)] * 20 + [(1, 0), (1, 2)])
    with made(CHUNKS, "hc2") as machine:
        run = check_scc(machine, graph)
    assert run.backward.searches < run.forward.searches


def test_full_queues_restart_the_search() -> None:
    graph = messy_graph(100, 3000, 6)
    with made(CHUNKS, "stress") as machine:
        assert check_bfs(machine, graph, 1, slack=0).retries > 0


def test_a_hub_of_ten_thousand_edges_takes_fewer_cycles() -> None:
    graph = hub_graph(10_000)
    cycles = []
    for chunk in (0, 64):
        with made(PRESETS["hc2-1ae"].replace(edge_chunk=chunk), "hc2") as machine:
            run = check_bfs(machine, graph, 10_001, slack=None)
            cycles.append(run.cycles)
        assert run.reached == 10_002
    assert cycles[1] < cycles[0] / 4


def test_executors_agree() -> None:
    outcomes = []
    for executor in EXECUTORS:
        with made(CHUNKS, "hc2", executor=executor) as machine:
            outcomes.append(outcome(machine, TANGLE, source=0))
    assert_equal(*outcomes)


def test_with_lean_visits_pairs_and_a_switch() -> None:
    """Chunks with all other options of kernels that change how queues are read and written."""
    config = CHUNKS.replace(lean_visits=True, pair_reads=True, link_queues=4)
    with made(config, "stress") as machine:
        for graph in (hub_graph(1000), messy_graph(100, 1500, 7)):
            check_bfs(machine, graph, 1)
            check_scc(machine, graph)


def test_words_of_chunks() -> None:
    words = np.array([graph_word(5, degree) for degree in (0, 1, 4, 5, 8, 9)], np.uint64)
    assert chunks_of(words, 4).tolist() == [1, 1, 1, 2, 2, 3]
    assert chunks_of(words, 0).tolist() == [1] * 6
    for visited in (False, True):
        assert chunk_words(graph_word(5, 9, visited), 4).tolist() == [
            graph_word(5, 4, visited),
            graph_word(9, 4, visited),
            graph_word(13, 1, visited),
        ]
    assert chunk_words(graph_word(5, 9), 0).tolist() == [graph_word(5, 9)]
    assert chunk_words(graph_word(5, 0), 4).tolist() == [graph_word(5, 0)]
