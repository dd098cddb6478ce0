"""Machines that write the ids of two visits at once: right results, in fewer cycles, on both executors."""

import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.executors.names import EXECUTORS
from tests.sim.executors.outcomes import TANGLE, assert_equal, outcome
from tests.system.graphs import GRAPHS, SOURCES, messy_graph
from tests.system.runs import MEMORIES, check_bfs, check_scc, made

SMALL = PRESETS["test"]
LEAN = SMALL.replace(lean_visits=True)


@pytest.mark.parametrize("name", GRAPHS)
def test_awkward_graphs(name: str) -> None:
    with made(LEAN, "hc2") as machine:
        check_scc(machine, GRAPHS[name])
        check_bfs(machine, GRAPHS[name], SOURCES.get(name, 0))


@pytest.mark.parametrize("memory", MEMORIES)
def test_memories(memory: str) -> None:
    for graph in (TANGLE, messy_graph(200, 1501, 4)):
        with made(LEAN, memory) as machine:
            check_scc(machine, graph)
            check_bfs(machine, graph, 1)


@pytest.mark.parametrize("options", [{"remembered_ids": 32}, {"issue_interval": 2}, {"pair_reads": True}])
def test_with_other_options(options: dict[str, int]) -> None:
    with made(LEAN.replace(**options), "stress") as machine:
        graph = messy_graph(200, 1500, 5)
        check_bfs(machine, graph, 1)
        check_scc(machine, graph)


def test_fewer_writes_take_fewer_cycles() -> None:
    graph = messy_graph(4096, 16_384, 6)
    cycles, writes = [], []
    for lean in (False, True):
        with made(PRESETS["hc2-1ae"].replace(lean_visits=lean), "fixed:20") as machine:
            check_bfs(machine, graph, 1, slack=None)
            cycles.append(machine.cycle)
            counted = machine.statistics()["counters"]["bfs"]
            reads = counted["entries"] + 2 * counted["items"]
            writes.append((counted["requests"] - reads) / counted["pushed"])
    assert cycles[1] < cycles[0]
    assert writes[0] == 3
    assert 2.5 <= writes[1] < 2.75


def test_executors_agree() -> None:
    outcomes = []
    for name in EXECUTORS:
        with made(LEAN, "hc2", executor=name) as machine:
            outcomes.append(outcome(machine, TANGLE, source=None))
    for other in outcomes[1:]:
        assert_equal(outcomes[0], other)
