"""Table I: its cells, means, differences and tables, from made-up measurements."""

import itertools
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import BfsRequest
from cyscc.host.experiments.studies.attia import TABLE1, averages, errors
from tests.host.experiments.studies.results import Made, made, made_up


def off(request: BfsRequest) -> dict[str, Any]:
    """Return a result that is right for random graphs, and off by the binary logarithm of the vertices in percent."""
    assert isinstance(request.graph, GraphSpec)
    engines = 1 if request.preset.endswith("-1ae") else 4
    paper = TABLE1[request.graph.kind, request.graph.degree][str(engines)]
    part = 0.0 if request.graph.kind == "random" else (request.graph.vertices.bit_length() - 1) / 100
    return made_up(request, gteps=paper * (1 - part))


def table(configs: tuple[str, ...] = ("published", "hc2"), vertices: tuple[int, ...] = (16,)) -> Made:
    return made("table1", off, configs=configs, vertices=vertices)


def percents(mean: float, largest: float) -> dict[str, Any]:
    return {"mean_percent": pytest.approx(mean), "largest_percent": pytest.approx(largest)}


def test_cells_and_their_order() -> None:
    found = table().document["cells"]
    keys = [tuple(cell[name] for name in ("config", "vertices", "kind", "degree", "engines")) for cell in found]
    assert keys == list(itertools.product(("published", "hc2"), (16,), ("random", "rmat"), (8, 16, 32, 64), (1, 4)))
    assert [cell["preset"] for cell in found[16:18]] == ["hc2-1ae", "hc2"]
    assert found[8]["betkaoui"] == 0.450


def test_a_document_of_one_size_has_no_means() -> None:
    document = table(configs=("hc2",)).document
    assert "averages" not in document
    assert document["errors"] == {"hc2": {**percents(2, 4), "random": percents(0, 0), "rmat": percents(4, 4)}}


def test_means_over_the_sizes() -> None:
    document = table(configs=("hc2",), vertices=(16, 64)).document
    assert len(document["cells"]) == 32
    assert len(document["averages"]) == 16
    mean = document["averages"][8]
    assert (mean["kind"], mean["degree"], mean["engines"]) == ("rmat", 8, 1)
    assert (mean["config"], mean["preset"]) == ("hc2", "hc2-1ae")
    assert mean["simulated"] == pytest.approx(0.504 * 0.95)
    assert mean["ratio"] == pytest.approx(0.95)
    assert mean["cycles"] == pytest.approx(40000)
    assert mean["shares"]["write"] == pytest.approx(1)
    assert "vertices" not in mean
    assert document["errors"]["hc2"]["rmat"]["largest_percent"] == pytest.approx(5), "of the means"
    assert averages(document["cells"]) == document["averages"]


def test_differences_count_in_both_directions() -> None:
    found = [{"kind": "random", "ratio": 1.1}, {"kind": "random", "ratio": 0.98}, {"kind": "rmat", "ratio": 1.0}]
    assert errors(found) == {**percents(4, 10), "random": percents(6, 10), "rmat": percents(0, 0)}
