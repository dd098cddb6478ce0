"""The exported Verilog in a foreign simulator makes the runs of the engine: the same cycles, answers and memory."""

import json
from pathlib import Path

import find_libpython
import pytest
from cocotb_tools.runner import get_runner

from hw.config import AcceleratorConfig
from sim.engines.amaranth_engine import AmaranthEngine
from sim.engines.build import _environment, _find_verilator
from sim.verilog import export_verilog
from tests.cocotb.bench import OUTCOMES, SUITE
from tests.cocotb.suites import SUITES, WATCHDOG, outcome

_PORTS = """\
`verilator_config
public_flat_rw -module "application_engine" -var "*"
"""
"""Lets cocotb reach the ports: all that it needs, and quicker to build than everything."""

_QUICK = "OPT_GLOBAL=-O0 OPT_FAST=-O0 OPT_SLOW=-O0"
"""Of a build and a short run, the build takes longer."""


def _simulate(name: str, config: AcceleratorConfig, folder: Path, environment: pytest.MonkeyPatch) -> Path:
    """Export and build the AE, make the runs of a suite on it, and return the file of outcomes."""
    (folder / "tools").mkdir()
    verilator = _find_verilator()
    (folder / "tools" / "verilator").symlink_to(verilator[0])
    variables = _environment(verilator)
    variables["PATH"] = f"{folder / 'tools'}:{variables['PATH']}"
    variables["MAKEFLAGS"] = _QUICK
    for variable, value in variables.items():
        environment.setenv(variable, value)
    ports = folder / "ports.vlt"
    ports.write_text(_PORTS)
    runner = get_runner("verilator")
    log = folder / "log"
    outcomes = folder / "outcomes.json"
    try:
        runner.build(
            sources=[path for path in export_verilog(config, folder / "rtl") if path.suffix == ".v"],
            hdl_toplevel="application_engine",
            build_args=["--no-public-flat-rw", "--output-split", "0", str(ports)],
            build_dir=folder / "build",
            log_file=log,
        )
        runner.test(
            test_module="tests.cocotb.bench",
            hdl_toplevel="application_engine",
            build_dir=folder / "build",
            # Nothing to rewrite: done to every module imported, that takes longer than the runs.
            extra_env={SUITE: name, OUTCOMES: str(outcomes), "COCOTB_REWRITE_ASSERTION_FILES": ""},
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        pytest.fail(f"{error}\n{log.read_text()[-10_000:]}", pytrace=False)
    return outcomes


@pytest.mark.skipif(find_libpython.find_libpython() is None, reason="cocotb needs a Python with a shared library")
@pytest.mark.parametrize("name", ["small", *(pytest.param(name, marks=pytest.mark.long) for name in list(SUITES)[1:])])
def test_same_as_the_engine(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, runs = SUITES[name]
    outcomes = json.loads(_simulate(name, config, tmp_path, monkeypatch).read_text())
    assert sum(len(run.seeds) for run in runs) == 20
    for run, actual in zip(runs, outcomes, strict=True):
        expected = outcome(run, config, lambda memory: AmaranthEngine(config, memory, watchdog=WATCHDOG))
        assert (run, actual) == (run, expected)
