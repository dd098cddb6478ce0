"""Smallest depths of FIFOs: the search, and the answer."""

import json
from collections.abc import Callable, Iterable
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.host.experiments.depths.smallest import Depths, DepthSearch
from cyscc.host.experiments.measuring.runs import PointRequest
from cyscc.host.experiments.plan.plan import Plan
from tests.host.conftest import Answers
from tests.host.experiments.told import line_of

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


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the record of a search, whose other runs take 30 cycles more for each halving of neighbours and words."""
    monkeypatch.chdir(tmp_path)
    cyscc.write_graph(cyscc.generate("random", vertices=32, degree=4, seed=1).graph, "g.gr")
    cyscc.bfs("g.gr", 1, config="test", record="seen")

    def results(plan: Plan, points: Iterable[PointRequest], *_: Any, **__: Any) -> dict[str, Any]:
        found = {}
        for point in points:
            config = point.spec.configuration
            other = point.graph.label == "other.gr"
            assert (point.spec.algorithm, point.spec.source) == ("bfs", None if other else 1)
            halvings = (config.neighbour_depth < 8) + (config.word_depth < 8)
            if other:
                halvings *= 2
            found[point.digest] = {"row": {"cycles": 2000 + 30 * halvings}}
        plan.made += len(found)
        return found

    monkeypatch.setattr(Plan, "results", results)
    return tmp_path / "seen"


FIELDS = ("within", "limit", "present_cycles", "cycles", "present", "smallest", "as_small", "settings")


def test_answers(seen: Path, monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
    digest = property(lambda point: f"{point.graph.label} {point.spec.overrides.values()}")
    monkeypatch.setattr(PointRequest, "digest", digest)
    cyscc.write_graph(cyscc.generate("random", vertices=16, degree=2, seed=1).graph, "other.gr")
    lines = []
    asked: list[dict[str, Any]] = [{}, {"within": 0.025}, {"within": 0.025, "check": ["other.gr"]}]
    for options in asked:
        answer = cyscc.smallest_depths(seen, folder="kept", **options)
        lines += [*answer.said, *(f"{name}: {line_of(table.grid().rows)}" for name, table in answer.tables.items())]
        lines += [f"{name}: {line_of(answer.fields[name])}" for name in FIELDS]
    assert main(["explain", "seen", "--depths", "--within", "2.5", "-o", "kept", "--json", "json", "--quiet"]) == 0
    document = json.loads(Path("json").read_text())
    assert [document[name] for name in FIELDS] == [answer.fields[name] for name in FIELDS]
    answers("depths", "\n".join([*lines, ""]).replace(str(seen.parent), ""))


@pytest.mark.long
def test_real_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    graph = cyscc.generate("random", vertices=64, degree=4, seed=1).graph
    recorded = cyscc.scc(graph, config="test", record="seen")
    found = cyscc.smallest_depths(recorded, within=0.02, folder="kept", jobs=2)
    assert found.cycles == cyscc.scc(graph, config="test", overrides=found.settings).cycles <= found.limit
    for row in found.depths.itertuples():
        if row.smallest > 4:
            halved = {**found.settings, row.parameter: row.smallest // 2}
            cycles = cyscc.scc(graph, config="test", overrides=halved).cycles
            assert cycles == row.halved > found.limit
    again = cyscc.smallest_depths(recorded, within=0.02, folder="kept")
    assert again.runs.equals(found.runs)
    assert str(again).endswith(f"{len(found.runs)} runs: 0 made, {len(found.runs)} from before\n")
