"""Machines that read neighbour ids in pairs: right results, in fewer cycles, on both executors."""

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph
from tests.system.runs import MEMORIES, check_bfs, check_scc, made

SMALL = PRESETS["test"]
PAIRS = SMALL.replace(pair_reads=True)

ODD_END = graph_of(6, [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (5, 0)])
"""Lists that begin and end at odd and even indices; the last one ends in the middle of a pair."""


@pytest.mark.parametrize("name", GRAPHS)
def test_awkward_graphs(name: str) -> None:
    with made(PAIRS, "hc2") as machine:
        check_scc(machine, GRAPHS[name])
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", MEMORIES)
def test_memories(memory: str) -> None:
    for graph in (ODD_END, messy_graph(200, 1501, 4)):
        with made(PAIRS, memory) as machine:
            check_scc(machine, graph)
            check_bfs(machine, graph, 1)


@pytest.mark.parametrize(
    "options", [{"remembered_ids": 32}, {"blocking_reservation": True, "issue_interval": 2}, {"bfs_only": True}]
)
def test_with_other_options(options: dict[str, int]) -> None:
    with made(PAIRS.replace(**options), "stress") as machine:
        graph = messy_graph(200, 1500, 5)
        check_bfs(machine, graph, 1)
        if machine.config.finds_components:
            check_scc(machine, graph)


def test_fewer_reads_take_fewer_cycles() -> None:
    graph = messy_graph(4096, 65_536, 6)
    cycles = []
    for paired in (False, True):
        with made(PRESETS["hc2-1ae"].replace(pair_reads=paired), "fixed:20") as machine:
            check_bfs(machine, graph, 1, slack=None)
            cycles.append(machine.cycle)
    # Of two reads of an edge, half a one is spared; pushes cost the same.
    assert 0.7 * cycles[0] < cycles[1] < 0.88 * cycles[0]


def test_room_behind_a_list_of_odd_length() -> None:
    for config, room in ((SMALL, 0), (PAIRS, 4)):
        with made(config, "hc2") as machine:
            check_bfs(machine, ODD_END, 0)
            assert machine.memory.allocations[1][1] == 4 * ODD_END.edges + room


@pytest.mark.parametrize("graph", [TANGLE, ODD_END], ids=["tangle", "odd"])
def test_executors_agree(graph: Graph) -> None:
    outcomes = []
    for name in EXECUTORS:
        with made(PAIRS, "hc2", executor=name) as machine:
            outcomes.append(outcome(machine, graph, source=None))
    for other in outcomes[1:]:
        assert_equal(outcomes[0], other)
