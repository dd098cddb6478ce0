"""Strongly connected components of any small graph, and of graphs whose copies fill the queues."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.system.graphs import GRAPHS, graph_of
from tests.system.runs import MEMORIES, check_scc, made


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
