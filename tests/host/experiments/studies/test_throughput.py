"""Figures 10 and 11, from made-up measurements."""

import pytest

from cyscc.host.output.errors import InputError
from cyscc.host.output.files import version
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


def test_document_and_answer() -> None:
    found = grid(
        "fig10",
        [(8, 16), (9, 32)],
        lambda each: made_up(each, gteps=each.graph.vertices / 100),
        max_edges=256,
        seed=3,
    )
    points = found.document.pop("points")
    assert found.document == {
        "figure": "fig10",
        "version": version(),
        "memory": "hc2",
        "clock_hz": 150e6,
        "seed": 3,
        "kind": "random",
        "max_edges": 256,
        "paper_average_over_vertices": [2**20, 2**21, 2**22, 2**23],
        "left_out": [{"degree": 9, "vertices": 32}],
    }
    assert [
        (p["degree"], p["vertices"], p["engines"], p["simulated"], p["paper"], p["ratio"]) for p in points[2:6]
    ] == [
        (8, 32, 1, 0.32, 0.504, pytest.approx(0.32 / 0.504)),
        (8, 32, 4, 0.32, 1.949, pytest.approx(0.32 / 1.949)),
        (9, 16, 1, 0.16, None, None),
        (9, 16, 4, 0.16, None, None),
    ]
    assert found.answer.title == "Figure 10: breadth-first search of uniform random graphs"
    assert found.answer.said[1:] == ["Left out, more than 2^8 edges: degree 9 with 2^5 vertices."]
    cells = found.cells("points")
    assert cells[:2] == [
        ["published", "8", "16", "1", "0.504", "0.160", "0.317", "0.745"],
        ["published", "8", "16", "4", "1.949", "0.160", "0.082", "0.745"],
    ]
    assert cells[4] == ["published", "9", "16", "1", "", "0.160", "", ""]
