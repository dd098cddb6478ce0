"""Tables 1 and 2 of Quach et al. 2012, from made-up measurements."""

from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.rows import printed
from cyscc.host.experiments.studies.software import NETWORKS
from tests.host.experiments.studies.results import Made, made

COUNTS = {
    "edges": 70_000,
    "edges_pruning": 20_000,
    "edges_by_pivot": 90_000,
    "passes": 17,
    "prune_rounds": 4,
    "levels": 11,
    "pruned": 30,
    "components_searched": 2,
    "pivots_wasted": 9,
}
WITH = (("pivots", 5), ("as-printed", 1))


def made_up(request: SoftwareRequest) -> dict[str, Any]:
    if request.algorithm == "tarjan":
        assert isinstance(request.graph, GraphSpec | GraphFile)
        return {"seconds": request.graph.vertices * 1e-6, "counts": {}}
    graph = request.graph
    sizes = {"vertices": graph.vertices, "edges": graph.edges, "components": 40}  # type: ignore[union-attr]
    return {"seconds": 0.004 if ("as-printed", 1) in request.options else 0.002, "counts": COUNTS, **sizes}


def table(number: int, result: Any = made_up, **options: Any) -> Made:
    return made(f"quach-table{number}", result, **{"pivots": 5, "threads": 2, **options})


def test_networks_of_the_user(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("CA-GrQc.txt.gz", "mine.mtx")]
    for path in paths:
        path.write_text("0 1\n")
    rows = table(1, lambda request: {**made_up(request), "seconds": 0.003}, graphs=paths).document["rows"]
    assert [(row["graph"], row["stands_for"], row["paper"] and row["paper"]["tarjan"]) for row in rows] == [
        ("CA-GrQc", None, 837),
        ("mine", None, None),
        ("G(n, m) for e-mail", "e-mail", 3049),
        ("G(n, m) for Internet", "Internet", 175),
    ]


def test_the_published_ratios_are_those_of_the_published_times() -> None:
    for row in (*NETWORKS, *printed("quach-table2")):
        assert row["ratio"] == pytest.approx(row["tarjan"] / row["quach"], abs=0.05)
        assert row["prune"] < row["quach"]
