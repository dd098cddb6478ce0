"""Table I: its cells, means, differences and tables, from made-up measurements."""

import itertools
from typing import Any

import pytest

from cyscc.host.experiments.measuring.machines import CAUSES, BfsRequest
from cyscc.host.experiments.studies.paper import cygraph_gteps
from cyscc.host.experiments.studies.searches import Table1, averages, errors
from cyscc.host.output.files import version
from cyscc.host.runs.execution import SOURCE_RULE
from tests.host.experiments.studies.results import made_up, table1_of


def off(request: BfsRequest) -> dict[str, Any]:
    """Return a result that is right for random graphs, and off by the binary logarithm of the vertices in percent."""
    engines = 1 if request.preset.endswith("-1ae") else 4
    paper = cygraph_gteps(request.graph.kind, request.graph.degree, engines)
    assert paper is not None
    part = 0.0 if request.graph.kind == "random" else (request.graph.vertices.bit_length() - 1) / 100
    return made_up(request, gteps=paper * (1 - part))


def document(configs: tuple[str, ...] = ("published", "hc2"), vertices: tuple[int, ...] = (16,)) -> dict[str, Any]:
    return table1_of(configs, vertices, off)


def percents(mean: float, largest: float) -> dict[str, Any]:
    return {"mean_percent": pytest.approx(mean), "largest_percent": pytest.approx(largest)}


def test_cells_and_their_order() -> None:
    found = document()["cells"]
    keys = [tuple(cell[name] for name in ("config", "vertices", "kind", "degree", "engines")) for cell in found]
    assert keys == list(itertools.product(("published", "hc2"), (16,), ("random", "rmat"), (8, 16, 32, 64), (1, 4)))
    assert found[0] == {
        "kind": "random",
        "degree": 8,
        "engines": 1,
        "config": "published",
        "vertices": 16,
        "paper": 0.504,
        "simulated": 0.504,
        "ratio": 1.0,
        "betkaoui": 0.745,
        "preset": "published-bfs-1ae",
        "seed": 9,
        "source": 5,
        "cycles": 16000,
        "edges": 128,
        "levels": 7,
        "duplicates": 3,
        "reached": 16,
        "shares": {cause: float(cause == "write") for cause in CAUSES},
        "verified": True,
        "wall": {"simulate": 1.0},
    }
    assert [cell["preset"] for cell in found[16:18]] == ["hc2-1ae", "hc2"]
    assert found[8]["betkaoui"] == 0.450


def test_a_document_of_one_size_has_no_means() -> None:
    made = document(configs=("hc2",))
    assert "averages" not in made
    said = {"table": "table1", "version": version(), "memory": "hc2", "clock_hz": 150e6, "seed": 9}
    assert said.items() <= made.items()
    assert made["errors"] == {"hc2": {**percents(2, 4), "random": percents(0, 0), "rmat": percents(4, 4)}}


def test_means_over_the_sizes() -> None:
    made = document(configs=("hc2",), vertices=(16, 64))
    assert len(made["cells"]) == 32
    assert len(made["averages"]) == 16
    mean = made["averages"][8]
    assert (mean["kind"], mean["degree"], mean["engines"]) == ("rmat", 8, 1)
    assert (mean["config"], mean["preset"]) == ("hc2", "hc2-1ae")
    assert mean["simulated"] == pytest.approx(0.504 * 0.95)
    assert mean["ratio"] == pytest.approx(0.95)
    assert mean["cycles"] == pytest.approx(40000)
    assert mean["shares"]["write"] == pytest.approx(1)
    assert "vertices" not in mean
    assert made["errors"]["hc2"]["rmat"]["largest_percent"] == pytest.approx(5), "of the means"
    assert averages(made["cells"]) == made["averages"]


def test_differences_count_in_both_directions() -> None:
    found = [{"kind": "random", "ratio": 1.1}, {"kind": "random", "ratio": 0.98}, {"kind": "rmat", "ratio": 1.0}]
    assert errors(found) == {**percents(4, 10), "random": percents(6, 10), "rmat": percents(0, 0)}


def test_tables() -> None:
    answer = Table1.answer_of(document(configs=("published",), vertices=(16, 64)))
    assert answer.title == "Table I: breadth-first search"
    assert answer.facts == {"memory": "hc2", "clock": "150 MHz", "seed": "9", "source": SOURCE_RULE}
    cells = {name: table.cells() for name, table in answer.tables.items()}
    assert len(cells["cells"]) == len(cells["shares"]) == 32
    numbers = ["0.504", "0.504", "1.000", "0.745"]
    assert cells["cells"][0] == ["published", "16", "random", "8", "1", *numbers, "published-bfs-1ae"]
    assert cells["averages"][8] == ["published", "rmat", "8", "1", "0.504", "0.479", "0.950", "0.450"]
    assert cells["shares"][0] == ["published", "16", "random", "8", "1", "100.0%", *["0.0%"] * (len(CAUSES) - 1)]
    assert cells["errors"] == [
        ["published", "all", "2.50 %", "5.00 %"],
        ["published", "random", "0.00 %", "0.00 %"],
        ["published", "rmat", "5.00 %", "5.00 %"],
    ]
