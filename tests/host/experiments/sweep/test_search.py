"""Searches of a study's space: their options, and the points that they choose, on functions that stand for runs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.runs import PointRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep import search as searching
from cyscc.host.experiments.sweep.answer import Sweep
from cyscc.host.experiments.sweep.definition import SweepStudy
from cyscc.host.experiments.sweep.rows import best_rows, best_so_far
from cyscc.host.experiments.sweep.search import Outcome
from cyscc.host.experiments.sweep.space import search_options
from cyscc.host.output.errors import InputError
from tests.host.experiments.sweep.studies import study_of

pytest.importorskip("optuna")

STUDY = """
title = "Memory"
config = "test"
graph = { vertices = "2^5", degree = 4 }
search = { points = 30, SEARCH }
[grid]
memory.bank_busy = { from = 1, to = 60 }
memory.reads_in_flight = { from = 2, to = 512, times = 2 }
memory.port_queue = [4, 8, 16, 32]
"""
Rated = Callable[[PointRequest], dict[str, int]]


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[SweepStudy, list[Any]]]:
    """Return what makes a search, whose points have the results of a function, and fail where it raises."""

    def made(text: str, rated: Rated) -> tuple[SweepStudy, list[Any]]:
        def rows(study: SweepStudy, *_: Any) -> list[dict[str, Any]]:
            found = []
            for each in study.points:
                row = {**each.values, "point": each.point.digest, "status": "done", "reason": "", "gteps": 1.0}
                try:
                    found.append({**row, **rated(each.point)})
                except ArithmeticError:
                    found.append({**row, "status": "failed", "reason": "divided"})
            return found

        monkeypatch.setattr(searching, "made_rows", rows)
        return searching.search(study_of(text), Plan(folder=Path("out")), lambda *_: None)

    return made


def bowl(point: PointRequest) -> dict[str, int]:
    """Return the results of a run: least cycles with a bank of 20 cycles and 64 reads in flight; area by the queue."""
    memory = point.spec.profile.describe()
    reads = memory["reads_in_flight"].bit_length() - 1
    cycles = 1000 + 10 * abs(memory["bank_busy"] - 20) + 100 * abs(reads - 6)
    return {"cycles": cycles, "luts": 10 * memory["port_queue"] + reads}


def test_a_search_comes_near_the_best_and_a_longer_one_begins_like_it(searched: Any) -> None:
    study, rows = searched(STUDY.replace("SEARCH", "batch = 5"), bowl)
    points = [each.point.digest for each in study.points]
    assert len(set(points)) == len(rows) == 30 < 60 * 9 * 4
    (best,) = best_rows(study, rows)
    assert best["cycles"] == min(row["cycles"] for row in rows) < 1150
    assert best_so_far(rows, "cycles") == [min(row["cycles"] for row in rows[: place + 1]) for place in range(30)]
    more, _ = searched(STUDY.replace("30, SEARCH", "34, batch = 5"), bowl)
    assert [each.point.digest for each in more.points][:30] == points
    other, _ = searched(STUDY.replace("30, SEARCH", "5, batch = 5, seed = 1"), bowl)
    assert [each.point.digest for each in other.points] != points[:5]


def test_budgets_and_fronts(searched: Any) -> None:
    text = STUDY.replace("SEARCH", 'minimise = ["cycles", "luts"], budget = { luts = 100 }')
    study, rows = searched(text, bowl)
    assert {row["within_budget"] for row in rows} == {True, False}
    assert all(row["within_budget"] == (row["luts"] <= 100) for row in rows)
    front = best_rows(study, rows)
    within = [row for row in rows if row["within_budget"]]
    for row in within:
        beaten = [
            other
            for other in within
            if other["cycles"] <= row["cycles"] and other["luts"] <= row["luts"] and other != row
        ]
        assert any(row is each for each in front) or beaten
    assert [row["cycles"] for row in front] == sorted(row["cycles"] for row in front)
    assert len({row["luts"] for row in front}) == len(front)
    sweep = Sweep(Outcome(study=study, rows=rows, plan=Plan(folder=Path("out")), files={}), "cycles")
    document = sweep.document()
    assert [rows[place] for place in document["search"]["best"]] == front
    assert document["search"]["budget"] == {"luts": 100}
    assert document["effects"] == []
    assert sweep.said[0] == f"least cycles and luts with luts <= 100: {len(within)} points of 30 within the budget"
    assert sweep.best["cycles"].tolist() == [row["cycles"] for row in front]
    page = sweep.page()
    for part in ('id="best-cycles-chart"', 'id="best-luts-chart"', "over the budget", "least cycles and luts"):
        assert part in page


def test_families_of_the_area() -> None:
    assert search_options({"points": 1, "budget": {"cycles": 5}}).families == ()
    assert search_options({"points": 1, "minimise": "luts"}).families == ("xc5v",)
    assert search_options({"points": 1, "minimise": "luts", "budget": {"xc6v.luts": 5}}).families == ("xc5v", "xc6v")


def test_failures_are_no_results(searched: Any) -> None:
    def rated(point: PointRequest) -> dict[str, int]:
        if point.spec.profile.describe()["bank_busy"] > 30:
            raise ZeroDivisionError
        return bowl(point)

    study, rows = searched(STUDY.replace("30, SEARCH", "16, batch = 8"), rated)
    assert {row["status"] for row in rows} == {"done", "failed"}
    assert not any(row["within_budget"] for row in rows if row["status"] == "failed")
    (best,) = best_rows(study, rows)
    assert best["memory.bank_busy"] <= 30
    sweep = Sweep(Outcome(study=study, rows=rows, plan=Plan(folder=Path("out")), files={}), "cycles")
    assert sweep.rows["best_so_far"].tolist()[-1] == best["cycles"]


def test_a_space_with_fewer_points_is_made_whole(searched: Any) -> None:
    text = STUDY.replace("SEARCH", "batch = 8").replace("to = 60", "to = 2").replace("to = 512", "to = 8")
    study, rows = searched(text, bowl)
    assert len(rows) == len({each.point.digest for each in study.points}) == 2 * 3 * 4


def test_machines_that_do_not_exist_are_left_out(searched: Any) -> None:
    text = """
        graph = { vertices = "2^5", degree = 4 }
        search = 6
        [grid]
        bfs_kernels = [1, 2, 4]
        intersection_kernels = [1, 2, 4, 8]
    """
    study, _ = searched(text, lambda point: {"cycles": point.spec.configuration.bfs_kernels})
    assert len(study.points) == 6
    assert all(each.values["intersection_kernels"] <= each.values["bfs_kernels"] for each in study.points)
    with pytest.raises(InputError, match=r"^search: there is no such machine: .*must be at most bfs_kernels"):
        searched(text.replace("[1, 2, 4, 8]", "[8, 16]"), bowl)


def test_values_that_are_no_numbers(searched: Any) -> None:
    text = (
        STUDY.replace("30, SEARCH", "16, batch = 8") + "issue_interval = [1, 2]\nblocking_reservation = [false, true]\n"
    )
    study, rows = searched(text, bowl)
    assert {type(row["blocking_reservation"]) for row in rows} == {bool}
    assert best_rows(study, rows)


def test_lists_beside_the_grid(searched: Any) -> None:
    text = (
        STUDY.replace("SEARCH", "batch = 8")
        + """
        [[points]]
        name = "as it is"
        [[points]]
        name = "published"
        issue_interval = 2
        blocking_reservation = true
    """
    )
    _, rows = searched(text, lambda point: {"cycles": 100 + point.spec.configuration.issue_interval})
    assert {(row["variant"], row["cycles"]) for row in rows} == {("as it is", 101), ("published", 102)}


def test_without_optuna(searched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"^a search needs Optuna: pip install 'cyscc\[search\]'$"):
        searched(STUDY.replace("SEARCH", "batch = 8"), bowl)


def test_ranges_are_lists_in_every_study() -> None:
    text = """
        config = "test"
        graph = { vertices = "2^5", degree = 4 }
        [grid]
        word_depth = { from = 8, to = 100, times = 2 }
        [grid.memory]
        bank_busy = { from = 10, to = 31, step = 10 }
    """
    study = study_of(text)
    assert study.axes == {"word_depth": [8, 16, 32, 64], "memory.bank_busy": [10, 20, 30]}
    assert len(study.points) == 12
