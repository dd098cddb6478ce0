"""AEs behind the ports of an HC-2 personality and behind AXI: right, and no rule broken, whatever the memory does."""

from pathlib import Path

import pytest

from tests.cocotb import axi_bench, convey_bench
from tests.cocotb.foreign_runs import ENGINES, GRAPHS, machine_of
from tests.cocotb.simulators import SIMULATORS, needs_library, run_bench


# Building takes longer than the runs: an AE behind AXI is looked at in every run, all else in the long ones.
@needs_library
@pytest.mark.parametrize("graphs", [10, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("top", ["axi", pytest.param("convey", marks=pytest.mark.long)])
def test_one_engine(top: str, simulator: str, graphs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_bench(
        simulator=simulator,
        config=axi_bench.CONFIG if top == "axi" else convey_bench.CONFIG,
        limits=axi_bench.LIMITS,
        top=top,
        bench=f"tests.cocotb.{top}_bench",
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
        limits=axi_bench.LIMITS,
        top=top,
        bench=f"tests.cocotb.{top}_bench",
        folder=tmp_path,
        tests="graphs_under",
        variables={ENGINES: str(engines), GRAPHS: "2"},
        environment=monkeypatch,
    )
