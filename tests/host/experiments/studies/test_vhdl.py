"""The comparison with the published hardware, of made-up measurements."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.studies.published_runs import REFERENCE, PublishedRun, read_runs
from cyscc.host.experiments.studies.vhdl import PublishedHardware
from cyscc.host.output.errors import InputError
from tests.host.experiments.studies.results import FakeMeasurements

STUDY = PublishedHardware(
    configs=("published-1ae",), reference=None, folder=None, graphs=(), latencies=None, quick=False
)
RUNS = {(run.graph, f"fixed:{run.latency}"): run for run in read_runs(REFERENCE)}


def published(request: Any) -> PublishedRun:
    return RUNS[request.graph.path.stem, request.memory]


def made_up(request: Any) -> dict[str, Any]:
    """Return the published run with 1 % more cycles, without loss."""
    run = published(request)
    levels = [[level.cycles * 1.01, level.frontier, level.edges] for level in run.levels]
    return {"cycles": run.cycles * 1.01, "edges_read": run.edges, "levels": levels}


def document_of(study: PublishedHardware = STUDY, result: Any = made_up) -> dict[str, Any]:
    measurements: Any = FakeMeasurements(result)
    return study.document(measurements)


def two_graphs() -> dict[str, Any]:
    """Return the document of a graph with few levels, and of one with many."""
    return document_of(replace(STUDY, graphs=("hub_3001", "chain_300")))


def test_what_is_compared() -> None:
    measurements: Any = FakeMeasurements(made_up)
    study = replace(STUDY, configs=("hc2-1ae", "published-1ae"), graphs=("hub_3001",), quick=True)
    study.document(measurements)
    latencies = (60, 75, 90, 105, 120)
    assert [(each.preset, each.memory) for each in measurements.requests] == [
        (config, f"fixed:{latency}") for config in study.configs for latency in latencies
    ]
    assert {each.spec.source for each in measurements.requests} == {0}
    assert len(STUDY.chosen()) == 78


@pytest.mark.parametrize(
    ("asked", "cause"),
    [
        ({"latencies": (60, 61)}, "has no latency 61: there are 60, 65, 70, "),
        ({"graphs": ("hub",)}, "has no graph hub: there are random_4096_d16, random_4096_d8, "),
    ],
)
def test_only_runs_of_the_table(asked: dict[str, Any], cause: str) -> None:
    with pytest.raises(InputError) as caught:
        replace(STUDY, **asked).chosen()
    assert str(caught.value).startswith(f"{REFERENCE}: {cause}")


def test_bars() -> None:
    (machine,) = two_graphs()["machines"]
    assert [(bar["limit"], bar["worst"], bar["met"]) for bar in machine["bars"]] == [
        (0.008, pytest.approx(0.01), False),
        (0.002, pytest.approx(0.01), False),
        (0.015, pytest.approx(0.01), True),
    ]
    assert {level["level"] for level in machine["levels"] if level["graph"] == "hub_3001"} == {1, 2, 3}
    hub, chain = machine["graphs"]
    assert (hub["runs"], hub["lossless"], chain["lossless"]) == (13, 13, 13)
    assert hub["scatter"]["simulated"] == pytest.approx(hub["scatter"]["published"])


def test_a_loss_of_the_published_hardware() -> None:
    def lossless(request: Any) -> dict[str, Any]:
        levels = [[level.cycles, level.frontier, level.edges] for level in published(request).levels]
        return made_up(request) | {"levels": levels[:2]}

    # At a latency of 95 it finds a vertex a level late: what its second level read is not compared.
    document = document_of(replace(STUDY, graphs=("hub_3001",), latencies=(90, 95)), lossless)
    assert [(run["lossless"], run["edges_compared_in"]) for run in document["runs"]] == [(True, [1, 2]), (False, [1])]
    (machine,) = document["machines"]
    assert machine["vertices_and_edges"] == {"lossless": 1, "compared_in": 3, "differ_in": [], "met": True}

    def fewer(request: Any) -> dict[str, Any]:
        found = lossless(request)
        found["levels"][0][2] -= 1
        return found

    (machine,) = document_of(replace(STUDY, graphs=("hub_3001",), latencies=(90,)), fewer)["machines"]
    assert machine["vertices_and_edges"]["differ_in"] == ["hub_3001, latency 90"]
    assert not machine["vertices_and_edges"]["met"]


def test_what_only_the_simulation_counts() -> None:
    def counted(request: Any) -> dict[str, Any]:
        run = published(request)
        levels = [[level.cycles + 8, level.frontier, level.edges] for level in run.levels]
        return {"cycles": run.cycles + 8 * len(levels), "edges_read": run.edges, "levels": levels}

    configs = ("published-vhdl-1ae", "published-1ae")
    first, second = document_of(replace(STUDY, configs=configs, graphs=("chain_300",)), counted)["machines"]
    assert (first["counted_before"], first["ratio"], second["counted_before"]) == (8, 1, 0)
    assert second["ratio"] > 1.02
    assert [sum(level["equal"] for level in each["levels"]) for each in (first, second)] == [3900, 0]


def test_tables() -> None:
    answer = PublishedHardware.answer_of(two_graphs())
    assert answer.title == "The published hardware and the simulation"
    assert answer.facts == {"published hardware": "cycles.csv"}
    config = answer.said[-1].partition(":")[0]
    assert answer.said[-1] == f"{config}: 2 of 4 bars are met."
    cells = {name: table.cells() for name, table in answer.tables.items()}
    assert [config, "mean over all graphs", "0.2%", "+1.00%", "all", "no"] in cells["bars"]
    level = ["1 to 300", "349", "246 to 446", "353", "248.46 to 450.46", "1.010", "0", "3900"]
    assert [config, "chain_300", *level] in cells["levels"]
    assert cells["ratios"][-1] == [config, "120", "1.010", "1.010"]


def test_a_table_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    head = "graph,latency,level,cycles,frontier,pushed,duplicates,edges"
    path.write_text(f"{head}\npair,75,1,300,1,1,0,1\npair,75,2,310,1,0,0,1\n")
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    (graphs / "pair.txt").write_text("0 1\n1 0\n")
    study = replace(STUDY, reference=str(path), folder=str(graphs))
    result = {"cycles": 610, "edges_read": 2, "levels": [[300, 1, 1], [310, 1, 1]]}
    document = document_of(study, lambda _: result)
    assert document["reference"] == str(path)
    assert document["runs"][0]["ratio"] == 1
    assert document["machines"][0]["graphs"][0]["scatter"] == {"published": None, "simulated": None}
    # Its levels are too short to be judged.
    assert [bar["met"] for bar in document["machines"][0]["bars"]] == [True, True, True]
    assert "scatter: published" not in PublishedHardware.answer_of(document).markdown()
