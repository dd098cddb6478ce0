"""Executor on the exported Verilog in a simulator driven by cocotb, with the memory in Python."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cocotb.handle import HierarchyObject
from cocotb.task import resume
from cocotb.triggers import FallingEdge

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import find_verilator
from cyscc.sim.errors import BuildError, SimulationError
from cyscc.sim.executors.base import RunState
from cyscc.sim.executors.comparison.build import TOP, export_machine
from cyscc.sim.executors.pin_driver import PinDriver
from cyscc.sim.memory import Memory
from cyscc.sim.processors import available_cores

_PORTS = f"""\
`verilator_config
public_flat_rw -module "{TOP}" -var "*"
"""
"""Verilator configuration that exposes only the ports to cocotb, which is faster than exposing everything."""

_MAKE = "-j{jobs} OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1 CFG_CXXFLAGS_PCH_I=-include"
"""Compiler options: most of the time is spent in Python, so more optimisation would only lengthen the build."""

_OPTIONS = ("--no-public-flat-rw", "--output-split-cfuncs", "500")


def missing_cocotb() -> str | None:
    """Return the tool missing to run cocotb, as text, or None."""
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
        Its build folder.
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
                # Without pytest's assertion rewriting, which takes longer than small runs, as it applies to every
                # imported module.
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
    """Put Verilator on the path that cocotb's runner searches."""
    verilator, environment = find_verilator()
    programs = folder / "tools"
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir()
    (programs / "verilator").symlink_to(verilator[0])
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    environment["MAKEFLAGS"] = _MAKE.format(jobs=available_cores())
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _text(log: Path) -> str:
    return log.read_text()[-10_000:] if log.exists() else ""


class ExportedExecutor(PinDriver):
    """Drives the AEs of a machine in cocotb as host and memory.

    Between calls the simulation is at a falling clock edge, so that inputs change between rising edges.
    The methods of `Executor` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    dut : HierarchyObject
        Module ``accelerator``, with its clock running.
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory, with as many AEs and ports.
    watchdog : int
        Cycles without progress and without outstanding memory requests after which a run counts as hung.
    bare : bool
        `dut` is the module ``application_engine`` itself, and the machine has one AE.
    """

    def __init__(
        self, dut: HierarchyObject, config: AcceleratorConfig, memory: Memory, *, watchdog: int, bare: bool = False
    ) -> None:
        super().__init__(config, memory, watchdog=watchdog)
        self._pins = _Pins(dut, "")
        self._bare = bare
        self._engines = [_Pins(dut, "" if bare else f"e{number}_") for number in range(config.engines)]
        self._clock: Any = dut.clk

    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""
        return resume(self._run)(budget)

    def close(self) -> None:
        """Do nothing; the simulator continues with the next executor."""

    def reset(self) -> None:
        """Reset the AEs; the next cycle is cycle 0."""
        resume(self._reset)()

    async def _reset(self) -> None:
        if self._bare:
            self._pins.set("engine", 0)
        for engine in self._engines:
            for name in ("write_valid", "read_valid", "instruction_valid"):
                engine.set(name, 0)
            for port in range(self._memory.ports):
                for name in ("read_ready", "write_ready", "flushed", "response_valid"):
                    engine.set(f"port_{port}_{name}", 0)
        self._pins.set("rst", 1)
        for _ in range(2):
            await FallingEdge(self._clock)
        self._pins.set("rst", 0)

    async def _run(self, budget: int) -> RunState:
        end = self._cycle + budget
        while True:
            for _ in range(self._interval):
                self._drive(self._engines)
                await FallingEdge(self._clock)
                self._cycle += 1
            state = self._settle()
            if state != RunState.RUNNING or self._cycle >= end:
                return state


class _Pins:
    """Ports of a module with a common prefix; an input is written only when its value changes."""

    def __init__(self, dut: HierarchyObject, prefix: str) -> None:
        self._dut = dut
        self._prefix = prefix
        self._handles: dict[str, Any] = {}
        self._driven: dict[str, int] = {}

    def get(self, name: str) -> int:
        return int(self._handle(name).value)

    def set(self, name: str, value: int) -> None:
        if self._driven.get(name) != value:
            self._driven[name] = value
            self._handle(name).value = value

    def _handle(self, name: str) -> Any:
        if name not in self._handles:
            self._handles[name] = getattr(self._dut, self._prefix + name)
        return self._handles[name]
