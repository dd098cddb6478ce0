"""Strongly connected components of awkward graphs, on every machine under every memory."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyscc.hw.config import PRESETS
from tests.system.graphs import GRAPHS, graph_of
from tests.system.runs import COMPLETE, MEMORIES, check_scc, made

_CUSTOM = {
    "three engines": PRESETS["test"].replace(engines=3, link_cycles=1),
    "odd kernels": PRESETS["test"].replace(bfs_kernels=3, intersection_kernels=2, ring_stages=1),
    "one kernel, deep": PRESETS["test"].replace(
        engines=1, bfs_kernels=1, frontier_depth=512, neighbour_depth=512, word_depth=512, visit_depth=512
    ),
    "shallow, published": PRESETS["published-1ae"].replace(
        **{f"{name}_depth": 4 for name in ("frontier", "neighbour", "word", "visit", "reach", "colour", "unvisit")}
    ),
}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_small_machine(name: str, memory: str) -> None:
    with made("test", memory) as machine:
        check_scc(machine, GRAPHS[name])


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("config", COMPLETE)
def test_full_machine(config: str, memory: str) -> None:
    with made(config, memory) as machine:
        for name, graph in GRAPHS.items():
            try:
                check_scc(machine, graph)
            except BaseException as error:
                error.add_note(f"graph: {name}")
                raise


@pytest.mark.long
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", _CUSTOM)
def test_custom_machine(name: str, memory: str) -> None:
    with made(_CUSTOM[name], memory) as machine:
        for graph in GRAPHS.values():
            check_scc(machine, graph)


@settings(max_examples=60)
@given(data=st.data())
def test_any_small_graph(data: st.DataObject) -> None:
    vertices = data.draw(st.integers(1, 24))
    vertex = st.integers(0, vertices - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80))
    memory = data.draw(st.sampled_from(MEMORIES))
    with made("test", memory) as machine:
        check_scc(machine, graph_of(vertices, edges))


def test_chain_of_repeated_edges_takes_more_pushes_than_any_queue_holds() -> None:
    edges = [(v, v + 1) for v in range(120) for _ in range(2)]
    with made("hc2", "fixed:75") as machine:
        run = check_scc(machine, graph_of(121, [*edges, (120, 0)]), slack=8000)
    assert run.retries == 0
    assert run.forward.duplicates > 8000


def test_queues_too_small_are_enlarged() -> None:
    with made("test", "fixed:75") as machine:
        run = check_scc(machine, GRAPHS["hub, every edge three times"], slack=1)
    assert run.retries > 0
