"""`cyscc software`: the table, the JSON, limits and interrupts."""

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


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    (folder / "g.txt").write_text("1 2\n2 3\n3 1\n3 4\n")


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


def test_the_function_is_the_command() -> None:
    graph = cyscc.graph_from_edges(4, [0, 1, 2, 2], [1, 2, 0, 3])
    answer = cyscc.software("quach", graph, threads=1, pivots="3")
    assert (answer.title, answer.components) == ("graph: 4 vertices, 4 edges", {"count": 2, "largest": 3})
    assert answer.options == {"pivots": 3}
