"""Figures 10 and 11, from made-up measurements."""

from typing import Any

import pytest

from cyscc.host.experiments.studies.searches import Throughput
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import version
from tests.host.experiments.studies.results import FakeMeasurements, grid_of, made_up


def test_bounds() -> None:
    options: dict[str, Any] = {"figure": "fig10", "configs": ("published",), "memory": "hc2", "seed": 3}
    grid = Throughput(vertices=(16, 32, 64), degrees=(2, 4), max_edges=128, **options)
    assert grid.graphs() == [(2, 16), (2, 32), (2, 64), (4, 16), (4, 32)]
    with pytest.raises(InputError, match=r"^no graph has at most 31 edges: the smallest one has 32 \(--max-edges\)$"):
        Throughput(vertices=(16, 32), degrees=(2, 4), max_edges=31, **options).graphs()
    assert Throughput(vertices=(16,), degrees=(2,), max_edges=32, **options).graphs() == [(2, 16)]


def test_requests_come_in_the_order_of_the_panels() -> None:
    measurements: Any = FakeMeasurements()
    grid_of("fig11", [(8, 16), (8, 32)], seed=3).document(measurements)
    requests = measurements.requests
    runs = [(vertices, preset) for vertices in (16, 32) for preset in ("published-bfs-1ae", "published-bfs")]
    assert [(request.graph.vertices, request.preset) for request in requests] == runs
    assert all((request.graph.kind, request.graph.seed) == ("rmat", 3) for request in requests)


def test_document_and_answer() -> None:
    measurements: Any = FakeMeasurements(lambda each: made_up(each, gteps=each.graph.vertices / 100))
    document = grid_of("fig10", [(8, 16), (9, 32)], max_edges=256, seed=3).document(measurements)
    points = document.pop("points")
    assert document == {
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
    answer = Throughput.answer_of({**document, "points": points})
    assert answer.title == "Figure 10: breadth-first search of uniform random graphs"
    assert answer.said[1:] == ["Left out, more than 2^8 edges: degree 9 with 2^5 vertices."]
    cells = answer.tables["points"].cells()
    assert cells[:2] == [
        ["published", "8", "16", "1", "0.504", "0.160", "0.317", "0.745"],
        ["published", "8", "16", "4", "1.949", "0.160", "0.082", "0.745"],
    ]
    assert cells[4] == ["published", "9", "16", "1", "", "0.160", "", ""]
