"""Data written by the hardware are checked before they are used as indices."""

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
from cyscc.sim.errors import SimulationError
from cyscc.sim.hardware import LEVEL, VISITED
from tests.refusals import refused
from tests.words import graph_word


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
