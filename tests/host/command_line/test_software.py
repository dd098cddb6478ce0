"""`cyscc software`: the table, the JSON, limits and interrupts."""

import json
import multiprocessing
import os
import signal
import threading
from pathlib import Path
from signal import setitimer

import numpy as np
import pytest

import cyscc
from cyscc.host.baselines.algorithms import Kind
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareRun
from cyscc.host.command_line.main import main
from cyscc.host.graph.csr import Graph
from cyscc.host.output.files import identity
from tests.refusals import refused


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    (folder / "g.txt").write_text("1 2\n2 3\n3 1\n3 4\n")


@pytest.mark.parametrize(
    ("algorithm", "threads"), [("kosaraju", "1 thread"), ("tarjan", "1 thread"), ("hong", "3 threads")]
)
def test_table(algorithm: str, threads: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["software", algorithm, "g.txt", "--threads", threads.split()[0]]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[:3] == [
        "g.txt: 4 vertices, 4 edges",
        f"algorithm   {algorithm}, {threads}",
        "components  2, the largest of 3 vertices",
    ]
    assert lines[3].startswith("time        ")
    assert [line.split()[0] for line in lines[4:]] == ["edges", "passes", "verified"]
    assert lines[-1] == "verified    yes"


def test_json(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["software", "hong", "g.txt", "--threads", "2", "--no-verify", "--json", "-"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    document = json.loads(out)
    assert document.pop("seconds") > 0
    assert document.pop("total_seconds") > document.pop("transpose_seconds") > 0
    assert document.pop("wall")["load"] > 0
    assert document.pop("counts") == {"edges": 19, "passes": 9}
    assert document.pop("title") == "g.txt: 4 vertices, 4 edges"
    assert document.pop("facts")["components"] == "2, the largest of 3 vertices"
    assert document == {
        "said": [],
        **identity(),
        "algorithm": "hong",
        "graph": {"file": "g.txt", "vertices": 4, "edges": 4},
        "undirected": False,
        "device": "cpu",
        "order": "natural",
        "threads": 2,
        "options": {},
        "components": {"count": 2, "largest": 3},
        "upload_seconds": 0.0,
        "verified": None,
    }
    assert main(["software", "tarjan", "g.txt", "--quiet", "--json", "out.json"]) == 0
    assert capfd.readouterr() == ("", "")
    document = json.loads((folder / "out.json").read_text())
    assert document["verified"] is True
    assert document["transpose_seconds"] is None
    assert document["total_seconds"] == document["seconds"]


def test_pivots(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["software", "quach", "g.txt", "--pivots", "3", "--threads", "1", "--json", "-"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["options"] == {"pivots": 3}
    # All three draw among the vertices of the cycle.
    assert document["counts"]["pivots_wasted"] == 2
    assert document["counts"]["pruned"] == 1
    assert main(["software", "quach", "g.txt", "--threads", "1"]) == 0
    assert "\npivots wasted        9\n" in capfd.readouterr().out


def test_compiled_code_does_not_delay_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    over = threading.Event()

    def work(*_: object) -> Decomposition:
        if not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)
        # As compiled code, it does not notice the interrupt.
        over.wait(60)
        return Decomposition(labels=np.zeros(4, np.int64))

    monkeypatch.setattr(Kind, "load", lambda self: work)
    # A shell has its background jobs ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["software", "hong", "g.txt", "--threads", "2"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert not over.is_set()
    over.set()
    assert capfd.readouterr() == ("", "cyscc software: interrupted\n")


def test_a_time_limit(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["software", "hong", "g.txt", "--limit", "60", "--threads", "2"]) == 0
    assert "\nverified    yes\n" in capfd.readouterr().out

    def endless(graph: Graph, *_: object) -> Decomposition:
        while graph.vertices == 4:  # the warm-up is over
            pass
        return Decomposition(labels=np.zeros(graph.vertices, np.int64))

    monkeypatch.setattr(Kind, "load", lambda self: endless)
    monkeypatch.setattr("signal.setitimer", lambda which, limit: setitimer(which, limit / 1000))
    before = multiprocessing.active_children()
    assert main(["software", "hong", "g.txt", "--limit", "60", "--json", "-"]) == 3
    assert capfd.readouterr() == ("", "cyscc software: hong: given up after 60 s\n")
    assert set(multiprocessing.active_children()) <= set(before)


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    found = Decomposition(labels=np.arange(4, dtype=np.uint32))
    wrong = SoftwareRun(algorithm="tarjan", device="cpu", threads=1, found=found, seconds=1.0)
    monkeypatch.setattr("cyscc.host.baselines.software.decomposition.run_software", lambda *_, **__: wrong)
    assert main(["software", "tarjan", "g.txt"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("cyscc software: wrong result: ")


def test_an_algorithm_of_steps_shows_its_counts(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["software", "li", "g.txt", "--threads", "1", "--sources", "0", "--as-printed"]
    assert main(arguments) == 0
    lines = capfd.readouterr().out.splitlines()
    # The last vertex, behind the cycle, is elected first.
    assert [line.split() for line in lines[4:]] == [
        ["depth", "2"],
        ["queries", "4"],
        ["edges", "8"],
        ["passes", "10"],
        ["subgraphs", "3"],
        ["verified", "yes"],
    ]
    assert main([*arguments, "--json", "-"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["options"] == {"sources": 0, "as-printed": True}
    assert document["counts"]["depth"] == 2


def test_the_function_is_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    graph = cyscc.graph_from_edges(4, [0, 1, 2, 2], [1, 2, 0, 3])
    answer = cyscc.software("quach", graph, threads=1, pivots="3")
    assert (answer.title, answer.components) == ("graph: 4 vertices, 4 edges", {"count": 2, "largest": 3})
    assert answer.options == {"pivots": 3}
    for keywords, message in (
        ({"pivots": 4}, "--pivots needs ALGORITHM quach"),
        ({"seed": 2}, "not used by hong: no random choices"),
        ({"limit": 0}, "limit: must be at least 1, not 0"),
    ):
        with refused(ValueError, message):
            cyscc.software("hong", graph, **keywords)  # type: ignore[arg-type]  # this is what is wrong
    with pytest.raises(TypeError, match=r"^software\(\) has no argument 'pivot': there are algorithm, graph, "):
        cyscc.software("hong", graph, pivot=4)
