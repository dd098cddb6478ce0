"""Repeated edges: right and no hang on every memory, and cheap on a machine that drops copies."""

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from tests.sim.executors.outcomes import CROWD, assert_equal, outcome
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph, repeated
from tests.system.runs import MEMORIES, check_bfs, check_scc, made

DROPPING = PRESETS["test"].replace(remembered_ids=32)
"""The small machine, with a memory of fewer ids than some of its graphs have."""

CROSSED = graph_of(9, [(u, v) for _ in range(50) for u in range(8) for v in (8, (u + 1) % 8)] + [(8, 0)] * 40)
"""Copies of two neighbours in turn, and of one vertex by all others."""


@pytest.mark.parametrize("memory", MEMORIES)
def test_twenty_edges_each_are_no_hang(memory: str) -> None:
    with made("test", memory) as machine:
        run = check_scc(machine, repeated(20))
    assert run.forward.duplicates > 0


@pytest.mark.parametrize("memory", MEMORIES)
def test_copies_do_not_multiply_where_they_are_dropped(memory: str) -> None:
    cycles = []
    for copies in (1, 20, 200):
        with made(DROPPING, memory) as machine:
            run = check_scc(machine, repeated(copies))
        assert (run.forward.duplicates, run.backward.duplicates, run.retries) == (0, 0, 0)
        cycles.append(run.cycles)
    # Of each further edge the id is read, eight at a time, and no more.
    assert cycles[1] < 2 * cycles[0]
    assert cycles[2] < 20 * cycles[0]


@pytest.mark.parametrize(
    ("graph", "memory"),
    [
        (CROSSED, "hc2"),
        (CROSSED, "stress"),
        (messy_graph(200, 3000, 4), "hc2"),
        (messy_graph(200, 3000, 4), "stress"),
        (repeated(1000), "hc2"),
    ],
    ids=["crossed-hc2", "crossed-stress", "messy-hc2", "messy-stress", "1000-hc2"],
)
def test_other_graphs_with_copies(graph: Graph, memory: str) -> None:
    with made(DROPPING, memory) as machine:
        check_scc(machine, graph)
        check_bfs(machine, graph, 1)


@pytest.mark.parametrize("name", GRAPHS)
def test_awkward_graphs(name: str) -> None:
    with made(DROPPING, "hc2") as machine:
        check_scc(machine, GRAPHS[name])
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


def test_executors_agree() -> None:
    outcomes = []
    for executor in EXECUTORS:
        with made(DROPPING, "hc2", executor=executor) as machine:
            outcomes.append(outcome(machine, CROWD, source=0))
    assert_equal(*outcomes)
