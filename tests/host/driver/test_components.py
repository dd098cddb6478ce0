"""The iteration over components."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyscc.host.driver.components import ComponentRun, strong_components
from cyscc.host.graph.csr import Graph, trim
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.graph.reference import canonical
from cyscc.host.graph.reference import strong_components as reference
from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.errors import SimulationError
from tests.host.fake_coprocessor import FakeCoprocessor
from tests.refusals import refused
from tests.system.graphs import GRAPHS, graph_of


def components(
    graph: Graph,
    coprocessor: FakeCoprocessor,
    *,
    trimming: bool = True,
    slack: int | None = None,
    on_iteration: Callable[[int, np.ndarray], None] | None = None,
) -> ComponentRun:
    transpose = graph.transpose()
    trimmed = trim(graph, transpose) if trimming else np.zeros(graph.vertices, np.bool_)
    return strong_components(
        coprocessor,
        PlacedGraph.place(coprocessor, graph),
        PlacedGraph.place(coprocessor, transpose),
        trimmed,
        slack=slack,
        on_iteration=on_iteration,
    )


def check(run: ComponentRun, graph: Graph) -> None:
    expected = reference(graph)
    assert canonical(run.colours).tolist() == expected.tolist()
    assert np.unique(run.colours).tolist() == list(range(1, run.components + 1))
    assert run.components == len(np.unique(expected)) == run.trimmed + run.iterations
    assert run.forward.searches == run.iterations
    assert run.backward.searches == run.intersections


def test_a_coprocessor_that_only_searches_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^the coprocessor only searches: it keeps no reach queue to intersect$"):
        components(GRAPHS["random dense"], FakeCoprocessor(searches=True))


@pytest.mark.parametrize("trimming", [True, False])
@pytest.mark.parametrize("duplicates", [True, False])
@pytest.mark.parametrize("offer", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_components_are_right(name: str, trimming: bool, duplicates: bool, offer: bool) -> None:
    coprocessor = FakeCoprocessor(duplicates=duplicates, offer=offer)
    run = components(GRAPHS[name], coprocessor, trimming=trimming)
    check(run, GRAPHS[name])
    assert run.cycles == coprocessor.cycle


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
    ),
    st.booleans(),
)
def test_any_small_graph(case: tuple[int, list[tuple[int, int]]], duplicates: bool) -> None:
    graph = graph_of(*case)
    check(components(graph, FakeCoprocessor(size=1 << 23, duplicates=duplicates)), graph)


def test_search_that_reaches_nothing_skips_the_rest() -> None:
    coprocessor = FakeCoprocessor()
    run = components(graph_of(2, [(0, 0), (1, 1), (1, 0)]), coprocessor)
    assert run.components == 2
    # Vertex 0 reaches only itself. Vertex 1 then finds 0 visited, and reaches only itself as well.
    assert coprocessor.dispatched == [Instruction.BFS_LEVEL, Instruction.BFS_LEVEL]
    assert (run.backward.searches, run.intersections, run.intersection_cycles) == (0, 0, 0)


def test_vertex_coloured_by_the_host_is_visited_in_the_transpose() -> None:
    # 0 is coloured by the host; the backward search from 1 must not enter it.
    run = components(graph_of(4, [(0, 0), (0, 1), (1, 2), (2, 1), (3, 0), (2, 3)]), FakeCoprocessor())
    check(run, graph_of(4, [(0, 0), (0, 1), (1, 2), (2, 1), (3, 0), (2, 3)]))
    first_sink = graph_of(3, [(0, 0), (1, 2), (2, 1), (1, 0), (2, 0)])
    run = components(first_sink, FakeCoprocessor())
    assert run.backward.reached == 2
    check(run, first_sink)


def test_trimmed_vertices_take_the_first_colours_and_no_cycles() -> None:
    coprocessor, seen = FakeCoprocessor(), []
    run = components(GRAPHS["star out"], coprocessor, on_iteration=lambda *now: seen.append((now[0], now[1].tolist())))
    assert (run.trimmed, run.iterations, run.cycles, coprocessor.dispatched) == (60, 0, 0, [])
    assert run.colours.tolist() == list(range(1, 61))
    assert (run.longest, seen) == (None, [(0, list(range(1, 61)))])


def test_offered_start_is_taken_first() -> None:
    # From 0 the search reaches all; 4 and 5 form a component that the intersection unvisits last.
    graph = graph_of(6, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (3, 4), (4, 5), (5, 4)])
    starts: list[int] = []
    for offer in (True, False):
        seen: list[list[int]] = []

        def note(_: int, colours: np.ndarray, seen: list[list[int]] = seen) -> None:
            seen.append(colours.tolist())

        components(graph, FakeCoprocessor(offer=offer), on_iteration=note)
        starts.append(seen[2].index(2))
    assert starts == [4, 2]


def test_counts_and_edges_by_hand() -> None:
    graph = graph_of(4, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)])
    run = components(graph, FakeCoprocessor())
    assert run.trimmed == 0
    # Forward: from 0 all four vertices with their 5 edges; then from 3 (offered last) 2 and 3 with 2 edges.
    # Backward: from 0 in the transpose 0 and 1 with 2 edges; then 3 and 2, to which 3 edges lead, 1 already visited.
    assert (run.forward.reached, run.forward.edges) == (6, 7)
    assert (run.backward.reached, run.backward.edges) == (4, 5)
    assert run.edges_traversed == 12
    assert (run.forward.levels, run.backward.levels) == (4 + 2, 2 + 2)
    assert run.longest is not None
    assert run.longest.backward is not None
    assert (run.longest.number, run.longest.forward.entries) == (1, 4)
    searches = run.longest.forward.cycles + run.longest.backward.cycles
    assert run.longest.cycles == searches + run.longest.intersection


def test_duplicates_do_not_count_as_reached() -> None:
    graph = GRAPHS["random dense"]
    plain, doubled = (components(graph, FakeCoprocessor(duplicates=d)) for d in (False, True))
    assert plain.forward.duplicates == 0 < doubled.forward.duplicates
    assert plain.edges_traversed == doubled.edges_traversed


def test_overflow_starts_again_from_nothing() -> None:
    graph = GRAPHS["random dense"]
    run = components(graph, FakeCoprocessor(duplicates=True), slack=0)
    assert run.retries == 1
    check(run, graph)


class Wrong(FakeCoprocessor):
    """Returns a fixed next start, and colours nothing when there is none."""

    def __init__(self, offered: int | None) -> None:
        super().__init__()
        self._offered = offered

    def _intersect(self) -> int:
        if self._offered is None:
            return 1
        cycles = super()._intersect()
        self._registers[Register.NEXT_START] = self._offered
        return cycles


@pytest.mark.parametrize(
    ("offered", "message"),
    [
        (0, "the intersection of iteration 1 offered vertex 0 as the next start, which has a colour"),
        (4, "the intersection of iteration 1 offered vertex 4 as the next start, of 4 vertices"),
        (None, "iteration 1 left its start, vertex 0, without its colour"),
    ],
)
def test_wrong_hardware_is_noticed(offered: int | None, message: str) -> None:
    coprocessor = Wrong(offered)
    coprocessor.set_registers({Register.NEXT_START: 1})
    with refused(SimulationError, message):
        components(graph_of(4, [(0, 1), (1, 0), (2, 3), (3, 2)]), coprocessor)


@pytest.mark.parametrize("ones", [2**32 - 1, 2**48 - 1, 2**64 - 1])
def test_all_ones_of_any_width_mean_no_start(ones: int) -> None:
    graph = graph_of(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    check(components(graph, Wrong(ones)), graph)
