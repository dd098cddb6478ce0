"""The exported Verilog in a foreign simulator makes the runs of the engine: the same cycles, answers and memory."""

import json
from pathlib import Path

import pytest

from cyscc.sim.executors.amaranth import AmaranthExecutor
from tests.cocotb.bench import OUTCOMES, SUITE
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
