"""The effect of a parameter, and the points that none beats."""

from typing import Any

import pytest

from cyscc.host.experiments.sweep.definition import SweepStudy
from cyscc.host.experiments.sweep.rows import Effect, Row, effects, front


def row(cycles: int, *, status: str = "done", **values: Any) -> Row:
    return {"cycles": cycles, "status": status, **values}


def of(axes: list[str], rows: list[Row]) -> list[Effect]:
    study = SweepStudy(name="s", title="s", axes={name: [] for name in axes}, points=())
    return effects(study, rows)


ROWS = [
    row(100, depth=16, memory="hc2"),
    row(50, depth=32, memory="hc2"),
    row(400, depth=16, memory="slow"),
    row(50, depth=32, memory="slow"),
]


def test_effect_is_the_geometric_mean_over_the_other_parameters() -> None:
    depth, memory = of(["memory", "depth"], ROWS)
    assert (depth.name, depth.best) == ("depth", 32)
    assert depth.factor == pytest.approx((2 * 8) ** 0.5)
    assert (memory.name, memory.best) == ("memory", "hc2")
    assert memory.factor == pytest.approx((4 * 1) ** 0.5)
    assert depth.series == ({16: 100, 32: 50}, {16: 400, 32: 50})


def test_points_that_failed_are_left_out() -> None:
    (depth,) = of(["depth", "memory"], [*ROWS[:2], row(0, status="failed", depth=16, memory="slow")])
    assert depth.series == ({16: 100, 32: 50},)


def test_no_value_is_best_where_none_is_everywhere() -> None:
    (depth,) = of(["depth"], ROWS[:2])
    assert depth.best == 32
    rows = [row(1, a=1, b=1), row(2, a=2, b=1), row(3, a=3, b=2), row(4, a=4, b=2)]
    assert of(["a", "b"], rows)[0].best is None


def test_front() -> None:
    rows = [row(9, luts=1), row(5, luts=5), row(5, luts=4), row(6, luts=4), row(7, luts=3), row(8, luts=3)]
    assert [(each["cycles"], each["luts"]) for each in front(rows, ("cycles", "luts"))] == [(5, 4), (7, 3), (9, 1)]
    assert front([], ("cycles", "luts")) == []
    assert front(rows, ("luts",)) == [rows[0]]
