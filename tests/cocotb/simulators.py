"""Building exported Verilog with a simulator, and running a bench of cocotb on it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import find_libpython
import pytest
from cocotb_tools.runner import get_runner

from hw.config import AcceleratorConfig
from sim.engines.build import _environment, _find_verilator
from sim.export import AxiLimits, export_verilog

__all__ = ["SIMULATORS", "needs_library", "run_bench"]

SIMULATORS = [
    "verilator",
    pytest.param(
        "icarus",
        marks=pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed"),
    ),
]
"""Simulators, as parameters of a test."""

needs_library = pytest.mark.skipif(
    find_libpython.find_libpython() is None, reason="cocotb needs a Python with a shared library"
)
"""Marks a test that runs cocotb."""

_PORTS = """\
`verilator_config
public_flat_rw -module "{module}" -var "*"
"""
"""Lets cocotb reach the ports: all that it needs, and quicker to build than everything."""

_QUICK = "OPT_GLOBAL=-O0 OPT_FAST=-O0 OPT_SLOW=-O0"
"""Of a build and a short run, the build takes longer."""

_MODULES = {
    "ae": "application_engine",
    "convey": "application_engine_convey",
    "axi": "application_engine_axi",
}


def run_bench(
    *,
    simulator: str,
    config: AcceleratorConfig,
    top: str,
    limits: AxiLimits | None = None,
    bench: str,
    folder: Path,
    variables: Mapping[str, str],
    environment: pytest.MonkeyPatch,
) -> None:
    """Export and build an AE, and run all tests of a module on it; fail with the log's end if one fails.

    Parameters
    ----------
    simulator : str
        Simulator of cocotb's runner.
    config : AcceleratorConfig
        Sizes.
    top : str
        Kind of top.
    limits : AxiLimits, optional
        Limits of AXI masters.
    bench : str
        Python module with the tests.
    folder : Path
        For everything that is written.
    variables : mapping of str to str
        Environment variables for the bench.
    environment : pytest.MonkeyPatch
        To set the environment of the tools.
    """
    arguments: list[str] = []
    if simulator == "verilator":
        (folder / "tools").mkdir()
        verilator = _find_verilator()
        (folder / "tools" / "verilator").symlink_to(verilator[0])
        tools = _environment(verilator)
        tools["PATH"] = f"{folder / 'tools'}:{tools['PATH']}"
        tools["MAKEFLAGS"] = _QUICK
        for variable, value in tools.items():
            environment.setenv(variable, value)
        ports = folder / "ports.vlt"
        ports.write_text(_PORTS.format(module=_MODULES[top]))
        arguments = ["--no-public-flat-rw", "--output-split", "0", str(ports)]
    runner = get_runner(simulator)
    log = folder / "log"
    results = folder / "results.xml"
    try:
        files = export_verilog(config, folder / "rtl", top=top, limits=limits)
        runner.build(
            sources=[path for path in files if path.suffix == ".v"],
            hdl_toplevel=_MODULES[top],
            build_args=arguments,
            build_dir=folder / "build",
            log_file=log,
            timescale=("1ns", "1ps"),
        )
        runner.test(
            test_module=bench,
            hdl_toplevel=_MODULES[top],
            build_dir=folder / "build",
            # Nothing to rewrite: done to every module imported, that takes longer than the runs.
            extra_env={**variables, "COCOTB_REWRITE_ASSERTION_FILES": ""},
            log_file=log,
            results_xml=str(results),
            timescale=("1ns", "1ps"),
        )
    except (RuntimeError, SystemExit) as error:
        pytest.fail(f"{error}\n{log.read_text()[-10_000:]}", pytrace=False)
