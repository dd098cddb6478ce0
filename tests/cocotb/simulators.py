"""Building exported Verilog with a simulator, and running a bench of cocotb on it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import find_libpython
import pytest
from cocotb_tools.runner import get_runner

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import find_verilator
from cyscc.sim.export import AxiLimits, declared_ports, export_verilog
from tests.cocotb.machine import machine_verilog

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

_BUILT: list[Path] = []
"""Folders of earlier builds with Verilator, whose objects of Verilator's own runtime serve for the next ones."""

_MODULES = {
    "ae": "application_engine",
    "convey": "application_engine_convey",
    "axi": "application_engine_axi",
}


def _sources(config: AcceleratorConfig, *, top: str, limits: AxiLimits | None, folder: Path) -> tuple[list[Path], str]:
    """Export an AE, with several of them a machine, and return the Verilog and the top module."""
    sources = [path for path in export_verilog(config, folder, top=top, limits=limits) if path.suffix == ".v"]
    module = _MODULES[top]
    if config.engines == 1:
        return sources, module
    ports = declared_ports(sources[-1].read_text(), module)
    machine = folder / "machine.v"
    machine.write_text(machine_verilog(top, module=module, engines=config.engines, ports=ports))
    return [*sources, machine], "machine"


def run_bench(
    *,
    simulator: str,
    config: AcceleratorConfig,
    top: str,
    limits: AxiLimits | None = None,
    bench: str,
    folder: Path,
    tests: str = "",
    variables: Mapping[str, str],
    environment: pytest.MonkeyPatch,
) -> None:
    """Export and build an AE or a machine of several, run all tests of a module on it, and fail if one fails.

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
    tests : str
        Regular expression of the tests to run; all if empty.
    variables : mapping of str to str
        Environment variables for the bench.
    environment : pytest.MonkeyPatch
        To set the environment of the tools.
    """
    arguments: list[str] = []
    if simulator == "verilator":
        (folder / "tools").mkdir()
        verilator, tools = find_verilator()
        (folder / "tools" / "verilator").symlink_to(verilator[0])
        tools["PATH"] = f"{folder / 'tools'}:{tools['PATH']}"
        tools["MAKEFLAGS"] = _QUICK
        for variable, value in tools.items():
            environment.setenv(variable, value)
        arguments = ["--no-public-flat-rw", "--output-split", "0"]
    runner = get_runner(simulator)
    log = folder / "log"
    results = folder / "results.xml"
    try:
        sources, module = _sources(config, top=top, limits=limits, folder=folder / "rtl")
        if simulator == "verilator":
            ports = folder / "ports.vlt"
            ports.write_text(_PORTS.format(module=module))
            arguments.append(str(ports))
            (folder / "build").mkdir()
            for part in _BUILT[0].glob("verilated*.[od]") if _BUILT else ():
                shutil.copy2(part, folder / "build")
            _BUILT.append(folder / "build")
        runner.build(
            sources=sources,
            hdl_toplevel=module,
            build_args=arguments,
            build_dir=folder / "build",
            log_file=log,
            timescale=("1ns", "1ps"),
        )
        runner.test(
            test_module=bench,
            test_filter=tests or None,
            hdl_toplevel=module,
            build_dir=folder / "build",
            # Nothing to rewrite: done to every module imported, that takes longer than the runs.
            extra_env={**variables, "COCOTB_REWRITE_ASSERTION_FILES": ""},
            log_file=log,
            results_xml=str(results),
            timescale=("1ns", "1ps"),
        )
    except (RuntimeError, SystemExit) as error:
        pytest.fail(f"{error}\n{log.read_text()[-10_000:]}", pytrace=False)
