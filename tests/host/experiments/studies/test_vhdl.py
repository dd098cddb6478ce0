"""The comparison with the published hardware: tables of its cycles, also those of strangers, made-up measurements."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.studies.vhdl import REFERENCE, PublishedLevel, find_graph, read_runs
from cyscc.host.output.errors import InputError
from tests.host.experiments.studies.results import made, published, study, vhdl_made_up

HEAD = "graph,latency,level,cycles,frontier,pushed,duplicates,edges"


def table(folder: Path, *rows: str, head: str = HEAD) -> Path:
    path = folder / "table.csv"
    path.write_text("\n".join([head, *rows, ""]))
    return path


def test_the_table_of_the_project() -> None:
    runs = read_runs(REFERENCE)
    names = ["random_4096_d16", "random_4096_d8", "random_8192_d12", "rmat_8192_d8", "hub_3001", "chain_300"]
    assert [(run.graph, run.latency) for run in runs] == [
        (name, latency) for name in names for latency in range(60, 121, 5)
    ]
    assert (runs[0].cycles, runs[0].edges) == (21030, 68826)
    assert runs[0].levels[1] == PublishedLevel(level=2, cycles=346, frontier=16, pushed=258, duplicates=17, edges=258)
    assert runs[0].repeated == [0, 0, 17, 104, 102]
    assert runs[0].vertices == [1, 16, 258 - 17, 2515 - 104, 1520 - 102]
    sizes = {name: find_graph(name, REFERENCE.parent).generate() for name in names}
    assert [(graph.vertices, graph.edges) for graph in sizes.values()] == [
        (4096, 65536),
        (4096, 32768),
        (8192, 98304),
        (8192, 65536),
        (3001, 15000),
        (300, 300),
    ]
    # The order of a vertex's neighbours decides which kernel visits them first.
    assert sizes["random_4096_d16"].targets[:4].tolist() == [2145, 3896, 859, 3411]


@pytest.mark.parametrize(
    ("rows", "line", "cause"),
    [
        ([], None, "has no rows"),
        (["a,60,1,9,1,2,0"], 2, "has 7 values, not 8"),
        (["../a,60,1,9,1,2,0,3"], 2, "graph must be a name of letters, digits and any of _.+-, not '../a'"),
        (
            ["a,60,1,9,1,2,0,3", "a,60,2,-9,1,2,0,3"],
            3,
            "cycles must be an integer from 1 to 1,000,000,000,000, not '-9'",
        ),
        (["a,0,1,9,1,2,0,3"], 2, "latency must be an integer from 1 to 100,000, not '0'"),
        (["a,60,1,9,1,2.0,0,3"], 2, "pushed must be an integer from 0 to 1,000,000,000,000, not '2.0'"),
        (["a,60,1,9,1,2,3,3"], 2, "duplicates are more than what was pushed: 3 of 2"),
        (["a,60,2,9,1,2,0,3"], 2, "level must be 1, the next of its run, not 2"),
        (
            ["a,60,1,9,1,2,0,3", "b,60,1,9,1,2,0,3", "a,60,2,9,1,2,0,3"],
            4,
            "the rows of a at latency 60 do not follow each other",
        ),
    ],
)
def test_refusals(tmp_path: Path, rows: list[str], line: int | None, cause: str) -> None:
    path = table(tmp_path, *rows)
    with pytest.raises(InputError) as caught:
        read_runs(path)
    assert str(caught.value) == (f"{path}: {cause}" if line is None else f"{path}:{line}: {cause}")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path, head="graph,cycles")
    with pytest.raises(InputError) as caught:
        read_runs(path)
    assert str(caught.value) == f"{path}:1: must begin with the columns {HEAD}"
    path.write_bytes(f"\ufeff{HEAD}\r\na,60,1,9,1,2,0,3\r\n\r\n".encode())
    assert [run.cycles for run in read_runs(path)] == [9]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"table\.csv: is no text in UTF-8$"):
        read_runs(path)
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: No such file or directory$"):
        read_runs(tmp_path / "none.csv")


def test_graphs_are_found_by_their_name(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_graph("a", tmp_path)
    assert str(caught.value) == f"{tmp_path}: no graph a: there is no a.txt, .gr, .mtx or .npz, nor one gzipped"
    (tmp_path / "a.txt").write_text("0 1\n1 0\n")
    assert find_graph("a", tmp_path).generate().edges == 2


STUDY = study("vhdl", configs=("published-1ae",))


def compared(result: Any = vhdl_made_up, **options: Any) -> dict[str, Any]:
    return made("vhdl", result, **{"configs": ("published-1ae",), **options}).document


def test_what_is_compared() -> None:
    configs = ("hc2-1ae", "published-1ae")
    requests = made("vhdl", vhdl_made_up, configs=configs, graphs=("hub_3001",), quick=True).requests
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
        return vhdl_made_up(request) | {"levels": levels[:2]}

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
