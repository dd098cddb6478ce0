"""Graphs and models that are measured: their names, and the estimates of their sizes."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec, ModelSpec, graph_text
from cyscc.host.experiments.measuring.machines import BfsRequest, SccRequest
from cyscc.host.output.errors import InputError


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({}, ""),
        ({"kind": "rmat", "vertices": 1 << 16, "degree": 8, "seed": 1}, "rmat 2^16 x 8 seed 1"),
        ({"vertices": 48}, "48 vertices"),
        ({"degree": 4}, "degree 4"),
        ({"kind": "random", "seed": 0}, "random seed 0"),
        ({"vertices": 1, "degree": 0}, "2^0 x 0"),
    ],
)
def test_what_people_call_a_graph(table: dict[str, Any], text: str) -> None:
    assert graph_text({f"graph.{name}": value for name, value in table.items()}) == text


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = b"0 1\n" * 5
    for name in ("g.txt", "g.txt.gz", "my.graph.txt.gz"):
        Path(name).write_bytes(content)
        graph = GraphFile.of(Path(name))
        assert graph.path == tmp_path / name
        assert graph.label == name
        assert (graph.edges, graph.vertices) == (3, 3)
        assert graph.identity() == {
            "contents": hashlib.sha256(content).hexdigest(),
            "format": ".txt.gz" if name.endswith("gz") else ".txt",
        }
    with pytest.raises(InputError, match=r"^none.txt: cannot be read: No such file or directory$"):
        GraphFile.of(Path("none.txt"))


def test_generated_ones() -> None:
    by_degree = GraphSpec(kind="random", vertices=1 << 10, degree=16, seed=3)
    exact = GraphSpec(kind="gnm", vertices=100, exact_edges=130, seed=3)
    assert (by_degree.edges, exact.edges) == (1 << 14, 130)
    assert by_degree.label == "random, degree 16, 2^10 vertices"
    assert (exact.generate().vertices, exact.generate().edges) == (100, 130)
    assert by_degree.identity() != GraphSpec(kind="random", vertices=1 << 10, degree=16, seed=4).identity()
    model = ModelSpec(family="random", sizes=(("states", 60), ("seed", 5)))
    assert model.generate().vertices == model.model().states == 60


def test_memory_that_runs_take() -> None:
    graph = GraphSpec(kind="random", vertices=1 << 10, degree=16, seed=3)
    machine: dict[str, Any] = {"graph": graph, "preset": "test", "memory": "hc2"}
    assert BfsRequest(**machine).bytes == 12 * (1 << 14) + 100 * (1 << 10) + (400 << 20)
    assert SccRequest(**machine).bytes == 20 * (1 << 14) + 200 * (1 << 10) + (400 << 20)
