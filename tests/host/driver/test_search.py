"""Searches, and what one reaches."""

from collections.abc import Callable

import numpy as np
import pytest

from cyscc.host.driver.reach import (
    ReachAccount,
    check_colours,
    check_frontier,
    compact,
    levels_of,
    levels_of_words,
)
from cyscc.host.driver.search import (
    BfsRun,
    Direction,
    Driver,
    Level,
    QueueOverflowError,
    Search,
    breadth_first_search,
)
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.memory_map import PlacedGraph, QueueArrays
from cyscc.host.graph.reference import bfs_levels
from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.errors import SimulationError
from cyscc.sim.hardware import LEVEL, VISITED
from tests.host.fake_coprocessor import FakeCoprocessor
from tests.refusals import refused
from tests.system.graphs import GRAPHS, graph_of
from tests.words import graph_word


def search(graph: Graph, source: int = 0, *, coprocessor: FakeCoprocessor, slack: int | None = None) -> BfsRun:
    return breadth_first_search(coprocessor, PlacedGraph.place(coprocessor, graph), source, slack=slack)


def drive(
    coprocessor: FakeCoprocessor, graph: Graph, source: int = 0, *, capacity: int = 10
) -> tuple[PlacedGraph, QueueArrays]:
    """Search by the driver alone; return the content of the memory afterwards."""
    placed = PlacedGraph.place(coprocessor, graph)
    placed.reset(np.zeros(graph.vertices, np.bool_))
    queues = QueueArrays.allocate(coprocessor, capacity=capacity, directions=int(coprocessor.config.keeps_reach_queue))
    Driver(coprocessor, queues).search(Direction(graph=placed, reach=next(iter(queues.reaches), None)), source)
    return placed, queues


@pytest.mark.parametrize("searches", [False, True])
@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_levels_are_those_of_a_sequential_search(name: str, duplicates: bool, searches: bool) -> None:
    graph = GRAPHS[name]
    for source in {0, graph.vertices // 2, graph.vertices - 1}:
        run = search(graph, source, coprocessor=FakeCoprocessor(duplicates=duplicates, searches=searches))
        expected = bfs_levels(graph, source)
        reached = expected >= 0
        # A coprocessor that only searches does not queue what has no neighbours.
        queued = reached & (graph.out_degrees() > 0) if searches else reached.copy()
        queued[source] = True
        assert run.levels.tolist() == expected.tolist()
        assert run.reached == np.count_nonzero(reached)
        assert run.edges_traversed == graph.out_degrees()[reached].sum()
        assert run.duplicates == 1 + sum(level.pushed for level in run.level_records) - np.count_nonzero(queued)
        assert run.retries == 0
        assert duplicates or run.duplicates == 0


def test_a_coprocessor_that_only_searches_is_told_the_level_and_has_the_whole_queue() -> None:
    coprocessor = FakeCoprocessor(searches=True)
    placed, _ = drive(coprocessor, graph_of(3, [(0, 1), (1, 2), (2, 0)]))
    assert [writes[Register.REACH_QUEUE] for writes in coprocessor.writes] == [1, 2, 3]
    assert [writes.get(Register.CAPACITY) for writes in coprocessor.writes] == [10, None, None]
    assert placed.words.tolist() == [1, 1 << 1 | 1, 2 << 1 | 1]


def test_level_records_and_cycles() -> None:
    coprocessor = FakeCoprocessor()
    run = search(graph_of(4, [(0, 1), (0, 2), (1, 3), (2, 3)]), coprocessor=coprocessor)
    assert run.level_records == (Level(1, 2, 103, 0), Level(2, 1, 103, 103), Level(1, 0, 101, 206))
    assert run.cycles == coprocessor.cycle == 307


def test_queues_swap_and_the_reach_queue_advances_and_nothing_unchanged_is_written() -> None:
    coprocessor = FakeCoprocessor()
    placed, queues = drive(coprocessor, graph_of(3, [(0, 1), (1, 2)]))
    addresses = [queue.address for queue in queues.frontiers]
    expected = [
        {
            Register.CURRENT_QUEUE: addresses[level % 2],
            Register.NEXT_QUEUE: addresses[1 - level % 2],
            Register.REACH_QUEUE: queues.reaches[0].address + 4 * (level + 1),
            Register.CURRENT_COUNT: 1,
            Register.CAPACITY: 9 - level,
        }
        for level in range(3)
    ]
    expected[0] |= {Register.WORDS: placed.words_address, Register.NEIGHBOURS: placed.neighbours_address}
    assert coprocessor.writes == expected


def test_source_is_placed_by_the_host() -> None:
    placed, queues = drive(FakeCoprocessor(), graph_of(3, [(1, 0), (1, 2)]), 1)
    assert queues.frontiers[0].values[0] >> np.uint64(1) == 2
    assert placed.words.tolist()[1] == 2 << 1 | 1
    assert queues.reaches[0].values[:3].tolist() == [1, 0, 2]


def test_capacity_of_exactly_the_vertices_suffices_without_duplicates() -> None:
    run = search(GRAPHS["star out"], coprocessor=FakeCoprocessor(), slack=0)
    assert (run.reached, run.retries) == (60, 0)


def test_overflow_starts_again_with_larger_queues() -> None:
    graph = GRAPHS["random dense"]
    run = search(graph, coprocessor=FakeCoprocessor(duplicates=True), slack=0)
    assert run.retries == 1
    assert run.levels.tolist() == bfs_levels(graph, 0).tolist()


def test_overflow_without_end_is_an_error() -> None:
    class Overflowing(FakeCoprocessor):
        def _level(self) -> int:
            self._registers[Register.CAPACITY] = 0
            return super()._level()

    coprocessor = Overflowing()
    with refused(
        QueueOverflowError,
        "level 0 of the search from vertex 0 overflowed its queues: 2049 of 2050 entries were free, "
        "after 6 restarts with larger queues",
    ):
        search(graph_of(2, [(0, 1)]), coprocessor=coprocessor, slack=1)
    assert len(coprocessor.dispatched) == 7


def test_count_beyond_the_capacity_is_an_overflow_even_when_no_engine_says_so() -> None:
    class Silent(FakeCoprocessor):
        def register(self, register: int) -> list[int]:
            return [0] * self.engines if register == Register.STATUS else super().register(register)

    with pytest.raises(QueueOverflowError, match=r"^level 0 of the search .*: 58 of 59 entries were free$"):
        drive(Silent(), GRAPHS["star out"], capacity=59)


def test_refused_instruction_is_an_error() -> None:
    coprocessor = FakeCoprocessor()
    coprocessor.break_instruction = Instruction.BFS_LEVEL
    with refused(SimulationError, "an engine did not complete instruction 0 (BFS_LEVEL): status 0x4"):
        search(graph_of(2, [(0, 1)]), coprocessor=coprocessor)


def test_levels_are_reported_as_they_complete() -> None:
    coprocessor = FakeCoprocessor()
    seen: list[tuple[int, int]] = []
    placed = PlacedGraph.place(coprocessor, graph_of(4, [(0, 1), (0, 2), (2, 3)]))
    breadth_first_search(coprocessor, placed, 0, on_level=lambda *level: seen.append(level))
    assert seen == [(1, 3), (2, 4), (3, 4)]


def test_vertices_pushed_again_are_taken_out_of_the_reach_queue_before_it_is_full() -> None:
    chain = graph_of(200, [(v, v + 1) for v in range(199) for _ in range(2)])
    run = search(chain, coprocessor=FakeCoprocessor(duplicates=True), slack=100)
    assert run.retries == 0
    assert run.levels.tolist() == list(range(200))
    assert run.reached == 200
    assert run.duplicates == 199


def test_without_a_reach_queue_only_the_entries_of_a_level_have_to_fit() -> None:
    levels = [Level(1, 3, 900, 100), Level(3, 2, 900, 1100)]
    state = Search(source=0, count=2, entries=6, counts=[1, 3, 2], levels=levels)
    state.check(3, 3, reaches=False)
    with pytest.raises(ValueError, match=r"^its search is impossible$"):
        state.check(3, 3, reaches=True)
    with pytest.raises(ValueError, match=r"^its search is impossible$"):
        state.check(3, 2, reaches=False)
    state.check(3, 6, reaches=True)


def count(reach: np.ndarray) -> None:
    ReachAccount(5).count(np.zeros(5, np.uint64), reach, [1, 2], name="transpose")


def take_out(reach: np.ndarray) -> None:
    compact(reach, [1, 2], vertices=5, name="transpose")


def find_levels(reach: np.ndarray) -> None:
    levels_of(reach, [1, 2], vertices=5, name="transpose")


@pytest.mark.parametrize("use", [count, take_out, find_levels])
@pytest.mark.parametrize(("place", "value"), [(1, 5), (2, 2**32 - 1)])
def test_entries_that_are_no_vertices(use: Callable[[np.ndarray], None], place: int, value: int) -> None:
    reach = np.array([4, 0, 2, 2**32 - 1], np.uint32)
    use(reach.copy())
    reach[place] = value
    with refused(
        SimulationError, f"entry {place} of the reach queue of the transpose is {value}: there are 5 vertices"
    ):
        use(reach)


@pytest.mark.parametrize(("start", "degree"), [(8, 3), (2**32 - 1, 0), (0, 2**31 - 1)])
def test_frontier_words_with_neighbours_that_the_graph_has_not(start: int, degree: int) -> None:
    frontier = np.array([graph_word(10, 0, False), graph_word(7, 3, True), 0], np.uint64)
    check_frontier(frontier, edges=10, name="transpose")
    frontier[2] = graph_word(start, degree, False)
    with refused(
        SimulationError,
        f"entry 2 of a frontier queue is {int(frontier[2]):#x}: the transpose has no such neighbours, only 10 edges",
    ):
        check_frontier(frontier, edges=10, name="transpose")


def test_levels_deeper_than_the_search() -> None:
    words = np.array([VISITED.put(1) | LEVEL.put(3), LEVEL.put(9)], np.uint64)
    assert levels_of_words(words, deepest=3, name="graph").tolist() == [3, -1]
    with refused(SimulationError, "graph word 0 of the graph holds level 3: the search ended at level 2"):
        levels_of_words(words, deepest=2, name="graph")


@pytest.mark.parametrize(
    ("colours", "message"),
    [
        ([1, 3, 2], None),
        ([], "no vertex has the colour 1 of 3"),
        ([1, 0, 9], "vertex 1 has the colour 0: there are 3 of them"),
        ([1, 3, 4], "vertex 2 has the colour 4: there are 3 of them"),
        ([1, 3, 2**32 - 1], "vertex 2 has the colour 4294967295: there are 3 of them"),
        ([1, 3, 3], "no vertex has the colour 2 of 3"),
    ],
)
def test_colours_are_those_of_the_components(colours: list[int], message: str | None) -> None:
    if message is None:
        check_colours(np.array(colours, np.uint32), 3)
        return
    with refused(SimulationError, message):
        check_colours(np.array(colours, np.uint32), 3)


def test_no_vertices_have_no_colours() -> None:
    check_colours(np.empty(0, np.uint32), 0)
