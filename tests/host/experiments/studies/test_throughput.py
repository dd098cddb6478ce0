"""Figures 10 and 11, from made-up measurements."""

from typing import Any

import pytest

from cyscc.host.experiments.measuring.machines import BfsRequest
from cyscc.host.output.errors import InputError
from tests.host.experiments.studies.results import grid, made_up, study


def test_bounds() -> None:
    found = study("fig10", vertices=(16, 32, 64), degrees=(2, 4), max_edges=128)
    assert found.graphs() == [(2, 16), (2, 32), (2, 64), (4, 16), (4, 32)]
    with pytest.raises(InputError, match=r"^no graph has at most 31 edges: the smallest one has 32 \(--max-edges\)$"):
        study("fig10", vertices=(16, 32), degrees=(2, 4), max_edges=31).graphs()
    assert study("fig10", vertices=(16,), degrees=(2,), max_edges=32).graphs() == [(2, 16)]


def test_requests_come_in_the_order_of_the_panels() -> None:
    requests = grid("fig11", [(8, 16), (8, 32)], seed=3).requests
    runs = [(vertices, preset) for vertices in (16, 32) for preset in ("published-bfs-1ae", "published-bfs")]
    assert [(request.graph.vertices, request.preset) for request in requests] == runs
    assert all((request.graph.kind, request.graph.seed) == ("rmat", 3) for request in requests)


def test_degrees_that_the_paper_has_not() -> None:
    def result(each: BfsRequest) -> dict[str, Any]:
        return made_up(each, gteps=each.graph.vertices / 100)

    found = grid("fig10", [(8, 16), (9, 32)], result, max_edges=256)
    assert [
        (p["degree"], p["vertices"], p["engines"], p["simulated"], p["paper"], p["ratio"])
        for p in found.document["points"][2:6]
    ] == [
        (8, 32, 1, 0.32, 0.504, pytest.approx(0.32 / 0.504)),
        (8, 32, 4, 0.32, 1.949, pytest.approx(0.32 / 1.949)),
        (9, 16, 1, 0.16, None, None),
        (9, 16, 4, 0.16, None, None),
    ]
    assert found.cells("points")[4] == ["published", "9", "16", "1", "", "0.160", "", ""]
