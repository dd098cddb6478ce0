"""The search for smallest depths, on functions that stand for runs."""

from collections.abc import Callable
from itertools import product
from math import prod

import pytest

from cyscc.host.experiments.depths.search import Depths, DepthSearch

LIMITS = [(4, 512)] * 3
PRESENT = (64, 128, 128)


def searched(cycles: Callable[[Depths], int], guess: Depths, within: float = 0.01) -> tuple[DepthSearch, Depths]:
    """Return the search and the depths that it found."""
    search = DepthSearch(
        present=PRESENT,
        limits=LIMITS,
        copies=[2, 2, 1],
        within=within,
        measure=lambda wanted: {depths: cycles(depths) for depths in wanted},
    )
    return search, search.smallest(guess)


def needing(*needed: int) -> Callable[[Depths], int]:
    """Return the cycles of a machine that each FIFO slows down by a tenth for each halving below what it needs."""

    def cycles(depths: Depths) -> int:
        pairs = zip(needed, depths, strict=True)
        return int(1000 * prod(1.1 ** max(0, (need // depth).bit_length() - 1) for need, depth in pairs))

    return cycles


@pytest.mark.parametrize("guess", [(4, 4, 4), (16, 32, 8), (64, 128, 128), (4, 128, 8)])
@pytest.mark.parametrize("needed", [(16, 32, 8), (64, 128, 128), (4, 4, 4), (4, 128, 64)])
def test_it_finds_what_is_needed_from_every_guess(needed: Depths, guess: Depths) -> None:
    search, found = searched(needing(*needed), guess)
    assert found == needed
    assert search.limit == 1010
    assert not search.equals(found)
    for place, depth in enumerate(found):
        half = search.halved(found, place)
        assert (half is None) == (depth == 4)
        assert half is None or search.cycles[half] > search.limit


def test_a_guess_that_is_right_is_measured_with_its_neighbours_only() -> None:
    search, found = searched(needing(16, 32, 8), (16, 32, 8))
    assert found == (16, 32, 8)
    assert len(search.cycles) <= 2 + 3 + 6


def test_depths_in_lut_ram_are_smaller_than_block_ram() -> None:
    # Either of two is enough: 32 places fewer in the first, or the second in LUT RAM.
    enough = {(32, 128, 4), (64, 64, 4)}

    def cycles(depths: Depths) -> int:
        return 1000 if any(all(map(int.__ge__, depths, least)) for least in enough) else 2000

    _, found = searched(cycles, (32, 128, 4))
    assert found == (64, 64, 4)


def test_equals_are_told() -> None:
    def cycles(depths: Depths) -> int:
        return 1000 if depths[2] >= 4 and depths[0] * depths[1] >= 16 * 8 else 2000

    search, found = searched(cycles, (16, 8, 4))
    assert {found, *search.equals(found)} == {(16, 8, 4), (8, 16, 4)}


def test_of_equally_small_depths_the_fastest_are_found() -> None:
    def cycles(depths: Depths) -> int:
        if depths[2] < 4 or depths[0] * depths[1] < 16 * 8:
            return 2000
        return 990 if depths[0] == 8 else 1000

    assert searched(cycles, (16, 8, 4))[1] == (8, 16, 4)


def test_cycles_that_fall_with_the_depths_end_the_search_too() -> None:
    # Every third machine is slower, whatever its size.
    order = {depths: place for place, depths in enumerate(product([4, 8, 16, 32, 64, 128], repeat=3))}
    search, found = searched(lambda depths: 1000 + 500 * (order[depths] % 3 == 1), (8, 8, 8))
    assert search.cycles[found] <= search.limit
    assert all((half := search.halved(found, place)) is None or search.cycles[half] > 1010 for place in range(3))


@pytest.mark.parametrize(("within", "expected"), [(0.0, (16, 32, 8)), (0.1, (16, 16, 8)), (1.0, (4, 4, 4))])
def test_the_limit(within: float, expected: Depths) -> None:
    search, found = searched(needing(16, 32, 8), (16, 32, 8), within)
    assert found == expected
    assert search.limit == int(1000 * (1 + within))
