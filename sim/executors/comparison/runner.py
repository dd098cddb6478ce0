"""Building the exported Verilog for cocotb, and running a bench on it (Verilator, everything driven from Python)."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hw.config import AcceleratorConfig
from sim.errors import BuildError, SimulationError
from sim.executors.comparison.sources import TOP, export_machine
from sim.executors.tools import find_verilator

__all__ = ["build_exported", "missing_cocotb", "run_exported"]

_PORTS = f"""\
`verilator_config
public_flat_rw -module "{TOP}" -var "*"
"""
"""Lets cocotb reach the ports: all that it needs, and quicker than everything."""

_MAKE = "-j{jobs} OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1 CFG_CXXFLAGS_PCH_I=-include"
"""Most of the time goes into Python, so that more would only make the build longer."""

_OPTIONS = ("--no-public-flat-rw", "--output-split-cfuncs", "500")


def missing_cocotb() -> str | None:
    """Return what is missing to run cocotb, in words; None when nothing is."""
    try:
        import cocotb_tools.runner  # noqa: F401 - only asked for
        import find_libpython
    except ImportError:
        return "cocotb is not installed"
    return None if find_libpython.find_libpython() else "cocotb needs a Python with a shared library"


def build_exported(config: AcceleratorConfig, folder: Path) -> None:
    """Export a machine and build it in a folder.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    from cocotb_tools.runner import get_runner

    folder.mkdir(parents=True, exist_ok=True)
    sources = export_machine(config, folder / "rtl")
    ports = folder / "ports.vlt"
    ports.write_text(_PORTS)
    log = folder / "build.log"
    with _tools(folder):
        try:
            get_runner("verilator").build(
                sources=sources,
                hdl_toplevel=TOP,
                build_args=[*_OPTIONS, str(ports)],
                build_dir=folder / "build",
                log_file=log,
                timescale=("1ns", "1ps"),
            )
        except (RuntimeError, SystemExit) as error:
            raise BuildError(f"building for cocotb: {error}", _text(log)) from None


def run_exported(folder: Path, *, bench: str, variables: Mapping[str, str]) -> None:
    """Run all tests of a Python module on a machine that `build_exported` has built.

    Parameters
    ----------
    folder : Path
        Where it was built.
    bench : str
        The module.
    variables : mapping of str to str
        Environment variables for it.

    Raises
    ------
    SimulationError
        A test failed; with its output.
    """
    from cocotb_tools.runner import get_results, get_runner

    log = folder / "run.log"
    with _tools(folder):
        try:
            results = get_runner("verilator").test(
                test_module=bench,
                hdl_toplevel=TOP,
                hdl_toplevel_lang="verilog",
                build_dir=folder / "build",
                # Nothing to rewrite: done to every module imported, that takes longer than small runs.
                extra_env={**variables, "COCOTB_REWRITE_ASSERTION_FILES": ""},
                log_file=log,
                results_xml=str(folder / "results.xml"),
                timescale=("1ns", "1ps"),
            )
            failed = get_results(results)[1]
        except (RuntimeError, SystemExit) as error:
            raise SimulationError(f"running cocotb: {error}", _text(log)) from None
    if failed:
        raise SimulationError("running cocotb: the bench failed", _text(log))


@contextmanager
def _tools(folder: Path) -> Iterator[None]:
    """Put Verilator where cocotb's runner looks for it."""
    verilator, environment = find_verilator()
    programs = folder / "tools"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir()
    (programs / "verilator").symlink_to(verilator[0])
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    environment["MAKEFLAGS"] = _MAKE.format(jobs=os.cpu_count() or 1)
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _text(log: Path) -> str:
    return log.read_text()[-10_000:] if log.exists() else ""
