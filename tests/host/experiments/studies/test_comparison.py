"""Entries of software: times, counts, checks by scipy, and time limits."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cyscc.host.baselines.devices.cpu
from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.devices.steps import Order
from cyscc.host.baselines.peers import PEERS, installed_peers
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting, transposed
from cyscc.host.experiments.studies.comparison import AlgorithmComparison, Contenders, Entry
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import strong_components
from cyscc.host.interface.software import _answer
from cyscc.host.output.progress import Progress
from cyscc.sim.errors import SimulationError
from tests.host.conftest import Answers
from tests.host.experiments.told import told
from tests.system.graphs import messy_graph

GRAPH = messy_graph(300, 500, 2)
LABELS = strong_components(GRAPH)


def timed(name: str, **changed: Any) -> tuple[Entry, NDArray[np.uint32] | None]:
    how: dict[str, Any] = {"threads": 2, "seed": 1, "runs": 2, "limit": 60.0, **changed}
    contenders = Contenders(device="cpu", order=Order("reversed"), **how)
    return contenders.timed(name, GRAPH, transposed(GRAPH), lambda *_: None)


@pytest.mark.parametrize("name", KINDS)
def test_every_algorithm(name: str) -> None:
    entry, labels = timed(name)
    assert labels is not None
    assert np.array_equal(labels, LABELS)
    assert entry.name == name
    assert entry.trouble is None
    assert not entry.simulated
    assert entry.where == ("2 threads" if KINDS[name].threads else "1 thread")
    assert entry.milliseconds is not None
    assert entry.milliseconds > 0
    assert (entry.edges, entry.passes) == (entry.counts.get("edges"), entry.counts.get("passes"))
    assert (entry.transpose_milliseconds is None) == (name == "tarjan")
    assert entry.upload_milliseconds == (0 if KINDS[name].devices else None)


@pytest.mark.parametrize("name", installed_peers())
def test_libraries(name: str) -> None:
    entry, labels = timed(name)
    assert labels is not None
    assert np.array_equal(labels, LABELS)
    assert (entry.where, entry.transpose_milliseconds, entry.edges) == ("1 thread", None, None)
    assert entry.milliseconds is not None
    assert entry.upload_milliseconds is not None
    assert entry.total_milliseconds == entry.milliseconds + entry.upload_milliseconds
    assert entry.ready_milliseconds == entry.milliseconds


def wrong(graph: Graph, _: Graph, __: SoftwareSetting) -> Decomposition:
    return Decomposition(labels=np.zeros(graph.vertices, np.int64))


def endless(graph: Graph, _: Graph, setting: SoftwareSetting) -> Decomposition:
    while True:
        setting.watch(0, graph.vertices)
        time.sleep(0.01)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return what puts another algorithm in Tarjan's place, without a warm-up."""

    def replace(algorithm: Any) -> None:
        monkeypatch.setattr("cyscc.host.baselines.software.tarjan.tarjan", algorithm)
        monkeypatch.setattr(cyscc.host.baselines.devices.cpu.CpuDevice, "compiles", False)

    return replace


def compared(folder: Path, *algorithms: str, limit: float = 60.0) -> AlgorithmComparison:
    (folder / "g.txt").write_text("1 2\n2 3\n3 1\n3 4\n")
    contenders = Contenders(algorithms=algorithms, device="cpu", order=Order(), threads=1, seed=1, runs=1, limit=limit)
    return contenders.compare(str(folder / "g.txt"), Progress(quiet=True))


def test_a_wrong_result(other: Callable[[Any], None], tmp_path: Path) -> None:
    other(wrong)
    with pytest.raises(
        SimulationError, match=r"^wrong result: tarjan: vertex 4 is in another component than by scipy$"
    ):
        compared(tmp_path, "tarjan")


def test_what_takes_too_long(other: Callable[[Any], None]) -> None:
    other(endless)
    entry, labels = timed("tarjan", limit=0.05)
    assert labels is None
    assert entry.milliseconds is entry.total_milliseconds is None
    assert entry.trouble == "given up after 0.05 s"


def test_a_later_run_that_takes_too_long(other: Callable[[Any], None]) -> None:
    runs: list[int] = []

    def slower(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
        runs.append(1)
        return (endless if len(runs) > 1 else wrong)(graph, transpose, setting)

    other(slower)
    entry, _ = timed("tarjan", limit=0.5)
    assert entry.trouble is None
    assert entry.milliseconds is not None


def test_another_reference_where_scipy_takes_too_long(
    other: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def slow(graph: Graph) -> NDArray[np.integer]:
        if graph.vertices == 4:  # the warm-up is over
            time.sleep(60)
        return strong_components(graph)

    monkeypatch.setitem(PEERS, "scipy", lambda graph, _: lambda: slow(graph))
    found = compared(tmp_path, "scipy", "tarjan", limit=0.5)
    assert (found.reference, found.components, found.largest) == ("tarjan", 2, 3)
    assert [entry.trouble for entry in found.entries] == ["given up after 0.5 s", None]
    assert _answer({}, [found]).facts == {"components": "2, the largest of 3 vertices (by tarjan)"}
    other(endless)
    found = compared(tmp_path, "tarjan", limit=0.05)
    assert (found.reference, found.components) == (None, None)
    assert _answer({}, [found]).facts == {"components": "unknown"}


def test_an_algorithm_whose_process_is_killed(other: Callable[[Any], None]) -> None:
    other(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    entry, _ = timed("tarjan")
    assert entry.trouble == "its process was killed by signal 9, for lack of memory?"


def comparison(*entries: Entry) -> AlgorithmComparison:
    return AlgorithmComparison(
        graph="g.txt", vertices=10, edges=20, components=4, largest=5, reference="scipy", entries=entries
    )


ENTRIES = (
    Entry(name="scipy", simulated=False, where="1 thread", milliseconds=3.0, upload_milliseconds=2.0),
    Entry(name="tarjan", simulated=False, where="1 thread", milliseconds=4.0, edges=20, passes=1),
    Entry(name="fbt", simulated=False, where="cuda", milliseconds=1, transpose_milliseconds=4, upload_milliseconds=1),
    Entry(name="slow", simulated=False, where="2 threads", trouble="given up after 3 s"),
    Entry(name="hc2", simulated=True, where="150 MHz", milliseconds=0.5, edges=33, passes=7, cycles=75_000),
)


def test_answer(answers: Answers) -> None:
    with_area = replace(ENTRIES[-1], area={"luts": 49_260, "xc6v.luts": 49_261})
    found = [_answer({}, [each]) for each in (comparison(*ENTRIES), comparison(with_area))]
    answers("compare", "".join(map(told, found)))


def test_without_the_base_there_is_no_speed_up() -> None:
    def ratios(name: str, *entries: Entry) -> list[float | None]:
        rows = [row for simulated in (False, True) for row in comparison(*entries).rows(simulated=simulated)]
        return [row.get(name) for row in rows]

    assert ratios("speed_up", ENTRIES[0], ENTRIES[-1]) == [None, None]
    assert ratios("speed_up", *ENTRIES) == [4 / 3, 1, 4, None, 8]
    assert ratios("over_scipy", *ENTRIES[1:]) == [None] * 4
    assert ratios("over_scipy", *ENTRIES) == [1, 3 / 4, 3 / 6, None, 6]
    assert ratios("over_scipy_total", *ENTRIES) == [1, 5 / 4, 5 / 6, None, None]
