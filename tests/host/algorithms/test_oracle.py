"""Whether the memory still holds what was put there."""

from collections.abc import Callable

import numpy as np
import pytest

from host.algorithms.driver import breadth_first_search
from host.algorithms.verification import Checked, check_graphs, check_stray_writes
from host.graph.csr import Graph
from host.graph.memory_map import PlacedGraph
from sim.errors import SimulationError
from sim.hardware import LEVEL, VISITED
from tests.host.fake_coprocessor import FakeCoprocessor
from tests.host.graphs import GRAPHS
from tests.refusals import refused
from tests.system.graphs import graph_of, messy_graph

LARGE = messy_graph(100, 2600, 5)
"""Its neighbours take three blocks."""


def placed(graph: Graph = LARGE, coprocessor: FakeCoprocessor | None = None, **options: str) -> PlacedGraph:
    result = PlacedGraph.place(coprocessor or FakeCoprocessor(), graph, **options)
    result.reset(np.zeros(graph.vertices, np.bool_))
    return result


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("searches", [False, True])
def test_a_search_leaves_all_that_it_must(name: str, searches: bool) -> None:
    coprocessor, graph = FakeCoprocessor(searches=searches), GRAPHS[name]
    searched = placed(graph, coprocessor)
    run = breadth_first_search(coprocessor, searched, 0)
    levels = run.reached if searches else 0
    assert check_graphs(coprocessor, (searched,)) == Checked(
        neighbour_blocks=int(graph.edges > 0), graph_words=graph.vertices - levels, level_words=levels
    )


def test_several_graphs_are_counted_together() -> None:
    coprocessor = FakeCoprocessor()
    checked = check_graphs(coprocessor, [placed(LARGE, coprocessor), placed(GRAPHS["chain"], coprocessor)])
    assert checked == Checked(neighbour_blocks=4, graph_words=120, level_words=0)


def test_what_was_read_counts_and_not_what_stands_in_memory() -> None:
    changed = placed()
    changed.graph.targets[1100] ^= 1
    with pytest.raises(SimulationError) as caught:
        check_graphs(FakeCoprocessor(), (changed,))
    begin = changed.neighbours_address + 4096
    assert str(caught.value) == (
        "memory: neighbours of the graph are not those that were read: "
        f"block 1, addresses {begin:#x} to {begin + 4095:#x} (1 of 3 blocks changed)"
    )


def test_the_last_block_ends_with_the_array() -> None:
    coprocessor = FakeCoprocessor()
    graphs = [placed(coprocessor=coprocessor), placed(coprocessor=coprocessor, name="transpose")]
    graphs[1].graph.targets[-1] ^= 1 << 31
    begin = graphs[1].neighbours_address
    with refused(
        SimulationError,
        "memory: neighbours of the transpose are not those that were read: "
        f"block 2, addresses {begin + 8192:#x} to {begin + 4 * 2600 - 1:#x} (1 of 3 blocks changed)",
    ):
        check_graphs(coprocessor, graphs)


def start(word: np.uint64) -> np.uint64:
    return word ^ np.uint64(1 << 63)


def degree(word: np.uint64) -> np.uint64:
    return word ^ np.uint64(2)


@pytest.mark.parametrize("change", [start, degree])
def test_start_and_degree_must_stay(change: Callable[[np.uint64], np.uint64]) -> None:
    changed = placed()
    changed.words[:] |= VISITED.put(1)
    changed.words[7] = change(changed.words[7])
    with refused(
        SimulationError,
        "memory: graph words of the graph are not those of the graph that was read: "
        f"word 7, address {changed.words_address + 56:#x}, is {int(changed.words[7]):#x} (1 of 100 words changed)",
    ):
        check_graphs(FakeCoprocessor(), (changed,))


def test_of_a_word_that_holds_a_level_nothing_else_is_left() -> None:
    searching = FakeCoprocessor(searches=True)
    searched = placed()
    searched.words[7] = VISITED.put(1) | LEVEL.put(2**31 - 1)
    assert check_graphs(searching, (searched,)).level_words == 1
    for wrong in (searched.words[7] | np.uint64(1 << 32), searched.words[7] ^ VISITED.put(1)):
        searched.words[7] = wrong
        with pytest.raises(SimulationError, match=r"^memory: graph words of the graph .*: word 7, .* \(1 of 100 words"):
            check_graphs(searching, (searched,))


def test_stray_writes_are_refused() -> None:
    class Strayed(FakeCoprocessor):
        def stray_writes(self) -> list[int]:
            return strays

    strays: list[int] = []
    check_stray_writes(Strayed())
    strays += [0x1204, 0x1208]
    with refused(SimulationError, "memory: address 0x1204, which is in no array, was written to (2 such places)"):
        check_stray_writes(Strayed())


def test_who_cannot_tell_tells_of_none() -> None:
    check_stray_writes(FakeCoprocessor())


def test_graph_without_edges() -> None:
    assert check_graphs(FakeCoprocessor(), (placed(graph_of(3, [])),)).neighbour_blocks == 0
