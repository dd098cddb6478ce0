"""The comparison with the published hardware, of made-up measurements."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.studies.vhdl import REFERENCE, PublishedRun, read_runs
from cyscc.host.output.errors import InputError
from tests.host.experiments.studies.results import made, study

STUDY = study("vhdl", configs=("published-1ae",))
RUNS = {(run.graph, f"fixed:{run.latency}"): run for run in read_runs(REFERENCE)}


def published(request: Any) -> PublishedRun:
    return RUNS[request.graph.path.stem, request.spec.memory]


def made_up(request: Any) -> dict[str, Any]:
    """Return the published run with 1 % more cycles, without loss."""
    run = published(request)
    levels = [[level.cycles * 1.01, level.frontier, level.edges] for level in run.levels]
    return {"cycles": run.cycles * 1.01, "edges_read": run.edges, "levels": levels}


def compared(result: Any = made_up, **options: Any) -> dict[str, Any]:
    return made("vhdl", result, **{"configs": ("published-1ae",), **options}).document


def test_what_is_compared() -> None:
    configs = ("hc2-1ae", "published-1ae")
    requests = made("vhdl", made_up, configs=configs, graphs=("hub_3001",), quick=True).requests
    assert [(each.spec.config, each.spec.memory) for each in requests] == [
        (config, f"fixed:{latency}") for config in configs for latency in (60, 75, 90, 105, 120)
    ]
    assert {each.spec.source for each in requests} == {0}
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


def test_a_loss_of_the_published_hardware() -> None:
    def lossless(request: Any) -> dict[str, Any]:
        levels = [[level.cycles, level.frontier, level.edges] for level in published(request).levels]
        return made_up(request) | {"levels": levels[:2]}

    # At a latency of 95 it finds a vertex a level late: what its second level read is not compared.
    document = compared(lossless, graphs=("hub_3001",), latencies=(90, 95))
    assert [(run["lossless"], run["edges_compared_in"]) for run in document["runs"]] == [(True, [1, 2]), (False, [1])]
    (machine,) = document["machines"]
    assert machine["vertices_and_edges"] == {"lossless": 1, "compared_in": 3, "differ_in": [], "met": True}

    def fewer(request: Any) -> dict[str, Any]:
        found = lossless(request)
        found["levels"][0][2] -= 1
        return found

    (machine,) = compared(fewer, graphs=("hub_3001",), latencies=(90,))["machines"]
    assert machine["vertices_and_edges"]["differ_in"] == ["hub_3001, latency 90"]
    assert not machine["vertices_and_edges"]["met"]


def test_what_only_the_simulation_counts() -> None:
    def counted(request: Any) -> dict[str, Any]:
        run = published(request)
        levels = [[level.cycles + 8, level.frontier, level.edges] for level in run.levels]
        return {"cycles": run.cycles + 8 * len(levels), "edges_read": run.edges, "levels": levels}

    configs = ("published-vhdl-1ae", "published-1ae")
    first, second = compared(counted, configs=configs, graphs=("chain_300",))["machines"]
    assert (first["counted_before"], first["ratio"], second["counted_before"]) == (8, 1, 0)
    assert second["ratio"] > 1.02
    assert [sum(level["equal"] for level in each["levels"]) for each in (first, second)] == [3900, 0]


def test_a_table_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    head = "graph,latency,level,cycles,frontier,pushed,duplicates,edges"
    path.write_text(f"{head}\npair,75,1,300,1,1,0,1\npair,75,2,310,1,0,0,1\n")
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    (graphs / "pair.txt").write_text("0 1\n1 0\n")
    result = {"cycles": 610, "edges_read": 2, "levels": [[300, 1, 1], [310, 1, 1]]}
    document = compared(lambda _: result, reference=str(path), folder=str(graphs))
    assert document["reference"] == str(path)
    assert document["runs"][0]["ratio"] == 1
    assert document["machines"][0]["graphs"][0]["scatter"] == {"published": None, "simulated": None}
    # Its levels are too short to be judged.
    assert [bar["met"] for bar in document["machines"][0]["bars"]] == [True, True, True]
    assert "scatter: published" not in STUDY.answer_of(document).markdown()
