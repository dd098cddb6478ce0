"""Table I and figures 10 to 13 of Attia et al., from made-up measurements."""

import itertools
import re
from typing import Any

import pytest

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.machines import BfsRequest, SccRequest
from cyscc.host.experiments.measuring.software import SoftwareRequest
from cyscc.host.experiments.studies.attia import TABLE1, averages, errors
from cyscc.host.experiments.studies.machines import COMPONENT_MACHINES, SEARCH_MACHINES, preset_of
from cyscc.host.output.errors import InputError
from cyscc.host.runs.environment import processor_name
from cyscc.hw.config import PRESETS
from tests.host.experiments.studies.results import Made, grid, made, made_up, patch_computer, study


def test_searches_were_measured_on_the_bfs_build() -> None:
    # Requests of the figures have the presets of the others.
    assert preset_of("published-scc", 4) == "published"


def test_every_machine_has_presets_that_can_do_its_work() -> None:
    for machine in SEARCH_MACHINES:
        one, four = (PRESETS[preset_of(machine, engines)] for engines in (1, 4))
        assert (one.engines, four.engines) == (1, 4)
        assert one == four.replace(engines=1, ring_stages=one.ring_stages)
    assert not any(PRESETS[preset].bfs_only for preset in COMPONENT_MACHINES.values())


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


def test_software_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_computer(monkeypatch)
    requests = grid("fig13", [(16, 32), (64, 32)], configs=("published", "hc2"), memory="fixed:75").requests
    software = [each for each in requests if each.alone]
    machines = [each for each in requests if not each.alone]
    assert all(isinstance(each, SoftwareRequest) for each in software)
    timed = [(*run, degree) for degree in (16, 64) for run in (("kosaraju", 1), ("hong", 5))]
    assert [(each.algorithm, each.threads, each.graph.degree) for each in software] == timed
    assert all(isinstance(each, SccRequest) for each in machines)
    runs = [(preset, "fixed:75", degree) for degree in (16, 64) for preset in ("published", "hc2")]
    assert [(each.preset, each.memory, each.graph.degree) for each in machines] == runs


def test_wall_time_is_in_no_cycle_and_what_is_left_out_is_said() -> None:
    found = grid("fig12", [(16, 32), (128, 32)], max_edges=2048)
    points = {point["series"]: point for point in found.document["points"]}
    assert points["published"]["cycles"] == {"searches": 150_000, "intersections": 60_000}
    assert points["published"]["total"] == pytest.approx(1.5)
    assert found.answer.said[1:] == ["Left out, more than 2^11 edges: degree 128 with 2^5 vertices."]
    assert len(grid("fig13", [(16, 32)]).answer.said) == 1, "nothing is left out"


def test_the_processor_has_a_name() -> None:
    assert re.search(r"\w", processor_name())
    assert "\n" not in processor_name()
