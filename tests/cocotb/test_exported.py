"""Exported Verilog under foreign simulators: as it is, and with vendors' tops."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import find_libpython
import pytest
from cocotb_tools.runner import get_runner

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import find_verilator
from cyscc.sim.executors.amaranth import AmaranthExecutor
from cyscc.sim.export import AxiLimits, declared_ports, export_verilog
from cyscc.sim.export.files import Port
from tests.cocotb.axi import LIMITS
from tests.cocotb.bench import OUTCOMES, SUITE, SUITES, WATCHDOG, outcome
from tests.cocotb.machine import ENGINES, GRAPHS, machine_of, prefix

ICARUS = shutil.which("iverilog") is not None

SIMULATORS = [
    # Its build takes long, and the other one runs the same.
    pytest.param("verilator", marks=pytest.mark.long if ICARUS else ()),
    pytest.param("icarus", marks=pytest.mark.skipif(not ICARUS, reason="Icarus Verilog is not installed")),
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


_SHARED = {"axi": ("aclk", "aresetn"), "convey": ("clk", "i_reset")}
_LINKS = {
    "axi": {
        "s_axis_link_tdata": (-1, "m_axis_link_tdata"),
        "s_axis_link_tvalid": (-1, "m_axis_link_tvalid"),
        "m_axis_link_tready": (1, "s_axis_link_tready"),
    },
    "convey": {
        "prvae_rx_data": (-1, "nxtae_tx_data"),
        "prvae_rx_vld": (-1, "nxtae_tx_vld"),
        "nxtae_tx_stall": (1, "prvae_rx_stall"),
        "nxtae_rx_data": (1, "prvae_tx_data"),
        "nxtae_rx_vld": (1, "prvae_tx_vld"),
        "prvae_tx_stall": (-1, "nxtae_rx_stall"),
    },
}
"""By top: each input of a link, the neighbour (one further or one before), and the neighbour's output."""


def machine_verilog(top: str, *, module: str, engines: int, ports: Sequence[Port]) -> str:
    """Return the Verilog of module ``machine``: AEs on one clock, each linked to the next.

    Parameters
    ----------
    top : str
        ``convey`` or ``axi``.
    module : str
        Name of the AE's module.
    engines : int
        Number of AEs.
    ports : sequence of Port
        Its ports.
    """
    shared, links = _SHARED[top], _LINKS[top]
    leaving = {output for _, output in links.values()}
    header = [f"  input {name}" for name in shared]
    wires: list[str] = []
    instances: list[str] = []
    for engine in range(engines):
        connections = []
        for port in ports:
            own = prefix(engine) + port.name
            outer = own
            if port.name in shared:
                outer = port.name
            elif port.name == "i_aeid":
                outer = f"2'd{engine}"
            elif port.name in links:
                step, output = links[port.name]
                outer = prefix((engine + step) % engines) + output
            elif port.name in leaving:
                wires.append(f"  wire [{port.width - 1}:0] {own};")
            else:
                header.append(f"  {port.direction} [{port.width - 1}:0] {own}")
            connections.append(f"    .{port.name}({outer})")
        instances.append(f"  {module} engine{engine} (\n" + ",\n".join(connections) + "\n  );")
    return "\n".join(["module machine (", ",\n".join(header), ");", *wires, *instances, "endmodule", ""])


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
