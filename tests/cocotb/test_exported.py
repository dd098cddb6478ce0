"""Exported Verilog under foreign simulators: as it is, and with vendors' tops."""

import json
from pathlib import Path

import pytest

from cyscc.sim.executors.amaranth import AmaranthExecutor
from tests.cocotb.axi import LIMITS
from tests.cocotb.bench import OUTCOMES, SUITE
from tests.cocotb.machine import ENGINES, GRAPHS, machine_of
from tests.cocotb.simulators import SIMULATORS, needs_library, run_bench
from tests.cocotb.suites import SUITES, WATCHDOG, outcome


# The exported machine as one model is compared with an executor, and an AE with other ports makes runs, in every run.
@pytest.mark.long
@needs_library
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("name", SUITES)
def test_same_as_the_engine(name: str, simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, runs = SUITES[name]
    outcomes = tmp_path / "outcomes.json"
    run_bench(
        simulator=simulator,
        config=config,
        top="ae",
        bench="tests.cocotb.bench",
        folder=tmp_path,
        variables={SUITE: name, OUTCOMES: str(outcomes)},
        environment=monkeypatch,
    )
    assert sum(len(run.seeds) for run in runs) == 20
    for run, actual in zip(runs, json.loads(outcomes.read_text()), strict=True):
        expected = outcome(run, config, lambda memory: AmaranthExecutor(config, memory, watchdog=WATCHDOG))
        assert (run, actual) == (run, expected)


# Building takes longer than the runs: an AE behind AXI is looked at in every run, all else in the long ones.
@needs_library
@pytest.mark.parametrize("graphs", [10, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("top", ["axi", pytest.param("convey", marks=pytest.mark.long)])
def test_one_engine(top: str, simulator: str, graphs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_bench(
        simulator=simulator,
        config=machine_of(1),
        limits=LIMITS,
        top=top,
        bench=f"tests.cocotb.{top}",
        folder=tmp_path,
        variables={GRAPHS: str(graphs)},
        environment=monkeypatch,
    )


@pytest.mark.long
@needs_library
@pytest.mark.parametrize("engines", [2, 4])
@pytest.mark.parametrize("top", ["axi", "convey"])
def test_linked_engines(top: str, engines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_bench(
        simulator="verilator",
        config=machine_of(engines),
        limits=LIMITS,
        top=top,
        bench=f"tests.cocotb.{top}",
        folder=tmp_path,
        tests="graphs_under",
        variables={ENGINES: str(engines), GRAPHS: "2"},
        environment=monkeypatch,
    )
