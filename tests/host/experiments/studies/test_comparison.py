"""Entries of software: times, counts, checks by scipy, and time limits."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cyscc.host.baselines.devices.cpu
from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.devices.steps import Order
from cyscc.host.baselines.software import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.tarjan import tarjan
from cyscc.host.experiments.studies.comparison import (
    AlgorithmComparison,
    Contenders,
    Entry,
    comparison_text,
    scipy_entry,
)
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import strong_components
from cyscc.sim.errors import SimulationError
from tests.system.graphs import messy_graph

GRAPH = messy_graph(300, 500, 2)
LABELS = strong_components(GRAPH)


def entry_of(algorithm: str, **changed: Any) -> Entry:
    how: dict[str, Any] = {"threads": 2, "seed": 1, "runs": 2, "limit": 60.0, **changed}
    contenders = Contenders(device="cpu", order=Order("reversed"), **how)
    return contenders.timed(algorithm, GRAPH, GRAPH.transpose(), LABELS, lambda *_: None)


@pytest.mark.parametrize("name", KINDS)
def test_every_algorithm(name: str) -> None:
    entry = entry_of(name)
    assert entry.name == name
    assert entry.trouble is None
    assert not entry.simulated
    assert entry.where == ("2 threads" if KINDS[name].threads else "1 thread")
    assert entry.milliseconds is not None
    assert entry.milliseconds > 0
    assert (entry.edges, entry.passes) == (entry.counts.get("edges"), entry.counts.get("passes"))


def test_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0, 3, 10, 12, 20, 29))
    times = SimpleNamespace(perf_counter=lambda: next(clock))
    monkeypatch.setattr("cyscc.host.experiments.studies.comparison.time", times)
    entry, labels = scipy_entry(GRAPH, runs=3, limit=60)
    assert np.array_equal(labels, LABELS)
    assert entry == Entry(name="scipy", simulated=False, where="1 thread", milliseconds=2000)


def wrong(graph: Graph, _: Graph, __: SoftwareSetting) -> Decomposition:
    return Decomposition(labels=np.zeros(graph.vertices, np.int64))


def endless(graph: Graph, _: Graph, setting: SoftwareSetting) -> Decomposition:
    while True:
        setting.watch(0, graph.vertices)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Return what puts another algorithm in Tarjan's place."""

    def replace(algorithm: Any) -> None:
        monkeypatch.setattr("cyscc.host.baselines.software.tarjan.tarjan", algorithm)

    return replace


def test_a_wrong_result(other: Callable[[Any], None]) -> None:
    other(wrong)
    with pytest.raises(
        SimulationError, match=r"^wrong result: tarjan: vertex \d+ is in another component than by scipy$"
    ):
        entry_of("tarjan")


def test_what_takes_too_long(monkeypatch: pytest.MonkeyPatch, other: Callable[[Any], None]) -> None:
    other(endless)
    # So that the run on a small graph, which nobody watches, does not begin.
    monkeypatch.setattr(cyscc.host.baselines.devices.cpu.CpuDevice, "compiles", False)
    entry = entry_of("tarjan", limit=0.05)
    assert entry.milliseconds is None
    assert entry.trouble == "given up after 0.05 s"


def test_a_later_run_that_takes_too_long(monkeypatch: pytest.MonkeyPatch, other: Callable[[Any], None]) -> None:
    runs: list[int] = []

    def slower(graph: Graph, transpose: Graph, setting: SoftwareSetting) -> Decomposition:
        runs.append(1)
        return endless(graph, transpose, setting) if len(runs) > 1 else tarjan(graph)

    other(slower)
    monkeypatch.setattr(cyscc.host.baselines.devices.cpu.CpuDevice, "compiles", False)
    entry = entry_of("tarjan", limit=0.5)
    assert len(runs) == 2
    assert entry.trouble is None
    assert entry.milliseconds is not None


def comparison(*entries: Entry) -> AlgorithmComparison:
    return AlgorithmComparison(graph="g.txt", vertices=10, edges=20, components=4, largest=5, entries=entries)


ENTRIES = (
    Entry(name="scipy", simulated=False, where="1 thread", milliseconds=3.0),
    Entry(name="tarjan", simulated=False, where="1 thread", milliseconds=4.0, edges=20, passes=1),
    Entry(name="slow", simulated=False, where="2 threads", trouble="given up after 3 s"),
    Entry(name="hc2", simulated=True, where="150 MHz", milliseconds=0.5, edges=33, passes=7, cycles=75_000),
)


def test_real_and_simulated_time_stand_apart() -> None:
    text = comparison_text(comparison(*ENTRIES))
    assert text == (
        "g.txt: 10 vertices, 20 edges\n"
        "components: 4, the largest of 5 vertices\n"
        "\n"
        "software, real time  ran on                     ms  edges touched  passes  speed-up over tarjan\n"
        "scipy                1 thread                3.000                                         1.33\n"
        "tarjan               1 thread                4.000             20       1                  1.00\n"
        "slow                 2 threads  given up after 3 s\n"
        "\n"
        "machine, simulated time  ran on      ms  edges touched  passes  real time of tarjan / simulated time\n"
        "hc2                      150 MHz  0.500             33       7                                  8.00\n"
    )


def test_area_stands_beside_the_cycles() -> None:
    found = comparison(replace(ENTRIES[3], area={"luts": 49_260, "xc6v.luts": 49_261}))
    assert comparison_text(found).splitlines()[-2:] == [
        "machine, simulated time  ran on      ms  edges touched  passes  real time of tarjan / simulated time  cycles"
        "    luts  xc6v.luts",
        "hc2                      150 MHz  0.500             33       7                                        75,000"
        "  49,260     49,261",
    ]
    assert found.document()["entries"][0]["area"] == {"luts": 49_260, "xc6v.luts": 49_261}
    assert "area" not in comparison(*ENTRIES).document()["entries"][3]


def test_without_the_base_there_is_no_speed_up() -> None:
    alone = comparison(ENTRIES[0], ENTRIES[3])
    assert alone.base is None
    assert [entry["speed_up"] for entry in alone.document()["entries"]] == [None, None]
    assert [entry["speed_up"] for entry in comparison(*ENTRIES).document()["entries"]] == [4 / 3, 1.0, None, 8.0]
