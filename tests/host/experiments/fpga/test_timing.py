"""Timing after place and route, and how far a clock is from its bar."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cyscc.host.experiments.fpga.timing
import cyscc.host.experiments.fpga.tools
from cyscc.host.command_line.main import main
from cyscc.host.experiments.fpga.synthesis import usages
from cyscc.host.experiments.fpga.timing import (
    COMPONENTS,
    CriticalPath,
    Routed,
    Timing,
    components_of,
    harnessed,
    measure,
    read_report,
    timing_answer,
)
from cyscc.host.experiments.fpga.tools import NEXTPNR, ToolError
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.studies.paper import BAR, FITTING
from cyscc.hw.config import PRESETS, AcceleratorConfig
from tests.host.conftest import Answers
from tests.host.experiments.told import told

VERILOG = """\
module part(clk, rst, a, b, c);
  input clk;
  wire clk;
  input rst;
  wire rst;
  input [7:0] a;
  wire [7:0] a;
  input b;
  wire b;
  output [3:0] c;
  wire [3:0] c;
endmodule

module other(x);
  input x;
endmodule
"""
HARNESS = """
module harness (clk, rst, a, b, c);
  input [0:0] clk;
  input [0:0] rst;
  input [7:0] a;
  reg [7:0] a_before;
  always @(posedge clk) a_before <= a;
  input [0:0] b;
  reg [0:0] b_before;
  always @(posedge clk) b_before <= b;
  output [3:0] c;
  part part (.clk(clk), .rst(rst), .a(a_before), .b(b_before), .c(c));
endmodule
"""


def test_every_input_but_clock_and_reset_is_registered() -> None:
    assert harnessed(VERILOG, top="part", name="harness") == VERILOG + HARNESS


@pytest.mark.parametrize("top", ["absent", "par"])
def test_a_module_that_is_not_there_is_refused(top: str) -> None:
    with pytest.raises(ToolError, match=rf"^the Verilog has no module '{top}' with ports$"):
        harnessed(VERILOG, top=top, name="harness")


@pytest.mark.parametrize("name", COMPONENTS)
def test_no_port_of_a_component_is_missed(name: str) -> None:
    text = COMPONENTS[name](PRESETS["fast-test"])
    listed = re.search(rf"^module {name}\((.*?)\);", text, re.DOTALL | re.MULTILINE)
    assert listed
    ports = re.findall(r"\w+", listed[1])
    assert len(ports) > 15
    harness = harnessed(text, top=name, name="harness").removeprefix(text)
    header = re.match(r"\nmodule harness \((.*)\);\n", harness)
    assert header
    assert sorted(header[1].split(", ")) == sorted(ports)
    assert all(harness.count(f".{port}(") == 1 for port in ports)


def step(kind: str, delay: float, source: str, sink: str) -> dict[str, Any]:
    """Return a step of a path; its ends are written CELL:PORT."""
    ends = [dict(zip(("cell", "port"), end.rsplit(":", 1), strict=True)) for end in (source, sink)]
    return {"type": kind, "delay": delay, "from": ends[0], "to": ends[1]}


def write_report(path: Path, steps: list[dict[str, Any]], *, fmax: float = 150.0) -> Path:
    """Write a report of nextpnr: a path from an input, which does not count, then the given one."""
    paths = [
        {"from": "async", "to": "posedge clk", "path": [step("routing", 99.0, "in:O", "x_TRELLIS_FF_Q:DI")]},
        {"from": "posedge clk", "to": "posedge clk", "path": steps},
    ]
    used = {"TRELLIS_COMB": {"available": 83640, "used": 7}, "DP16KD": {"available": 208, "used": 0}}
    fmaxes = {"clk": {"achieved": fmax, "constraint": 150}}
    path.write_text(json.dumps({"critical_paths": paths, "fmax": fmaxes, "utilization": used}))
    return path


MEMORY = [
    step("clk-to-q", 4.0, "reader.fifo.storage.0.1:DOB10", "reader.fifo.storage.0.1:DOB10"),
    step("routing", 1.5, "reader.fifo.storage.0.1:DOB10", "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:C"),
    step("logic", 0.25, "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:C", "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:F"),
    step("routing", 0.25, "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:F", "visitor.entry_TRELLIS_FF_Q_3:DI"),
    step("setup", 0.0, "visitor.entry_TRELLIS_FF_Q_3:DI", "visitor.entry_TRELLIS_FF_Q_3:DI"),
]
CARRY = [
    step("clk-to-q", 0.5, "count_TRELLIS_FF_Q:Q", "count_TRELLIS_FF_Q:Q"),
    step("routing", 1.0, "count_TRELLIS_FF_Q:Q", "sum$CCU2_COMB0:A"),
    step("logic", 0.5, "sum$CCU2_COMB0:A", "sum$CCU2_COMB0:FCO"),
    step("routing", 0, "sum$CCU2_COMB0:FCO", "sum$CCU2_COMB1:FCI"),
    step("logic", 0.25, "sum$CCU2_COMB1:FCI", "sum$CCU2_COMB1:F"),
    step("routing", 1.0, "sum$CCU2_COMB1:F", "a:D"),
    step("logic", 0.25, "a:D", "a:F"),
    step("routing", 0.75, "a:F", "b:M"),
    step("logic", 0.25, "b:M", "b:OFX"),
    step("routing", 0.25, "b:OFX", "phase_TRELLIS_FF_Q_1:CE"),
    step("setup", 0.25, "phase_TRELLIS_FF_Q_1:CE", "phase_TRELLIS_FF_Q_1:CE"),
]


PATHS = {
    "through a LUT": MEMORY,
    "straight": [MEMORY[0], step("routing", 1.0, "reader.fifo.storage.0.1:DOB10", "entry_TRELLIS_FF_Q_3:M")],
    # A carry chain counts once, and the LUTs beside it.
    "through a carry chain": CARRY,
    **{
        f"into a memory by {port}": [
            CARRY[0],
            step("routing", 1.5, "count_TRELLIS_FF_Q:Q", f"fifo.storage.0.0:{port}"),
            step("setup", 0.5, f"fifo.storage.0.0:{port}", f"fifo.storage.0.0:{port}"),
        ]
        for port in ("CEB", "ADA3", "DIA0", "WEA")
    },
}


def test_paths_in_words_are_as_pinned(tmp_path: Path, answers: Answers) -> None:
    told = []
    for name, steps in PATHS.items():
        told += [name, f"  {read_report(write_report(tmp_path / 'r.json', steps), seed=1).path.words()}"]
    answers("paths", "\n".join([*told, ""]))


def test_a_report_without_the_clock_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"critical_paths": []}')
    with pytest.raises(ToolError, match=r"^r\.json: no path from 'posedge clk' to 'posedge clk'$"):
        read_report(path, seed=1)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{", "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("{}", "KeyError: 'critical_paths'"),
        ('{"critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": []}]}', "KeyError: 'fmax'"),
    ],
)
def test_what_is_no_report_is_refused(text: str, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ToolError, match=rf"^r\.json: not a report of nextpnr: {re.escape(cause)}$"):
        read_report(path, seed=1)


PATH = CriticalPath(
    start="memory fifo.storage", end="register entry", luts=1, carries=0, launch=4.0, logic=0.5, routing=(1.0, 0.5)
)


def timing(name: str, *fmaxes: float) -> Timing:
    cells = {"TRELLIS_COMB": 2000, "TRELLIS_FF": 1000, "DP16KD": 9}
    runs = (Routed(seed=seed, fmax=fmax, path=PATH, cells=cells) for seed, fmax in enumerate(fmaxes, start=1))
    return Timing(name=name, clock_mhz=150.0, runs=tuple(runs))


@pytest.mark.parametrize(
    ("fmaxes", "median", "best", "met"),
    [
        ((150.0,), 150.0, 150.0, True),
        ((149.99,), 149.99, 149.99, False),
        ((170.0, 140.0, 151.0), 151.0, 170.0, True),
        # Of two in the middle the slower one counts.
        ((149.0, 151.0), 149.0, 151.0, False),
        ((151.0, 100.0, 200.0, 149.0), 149.0, 200.0, False),
    ],
)
def test_median_and_bar(fmaxes: tuple[float, ...], median: float, best: float, met: bool) -> None:
    one = timing("shell", *fmaxes)
    assert (one.median.fmax, one.best.fmax, one.met) == (median, best, met)


@pytest.mark.usefixtures("measured")
def test_answer(answers: Answers) -> None:
    answer = timing_answer([timing("bfs_kernel", 170.0, 149.0, 160.0), timing("shell", 149.9)], name="hc2")
    answers("timing", told(answer))


def stand_in(name: str) -> Callable[[AcceleratorConfig], str]:
    """Return what writes a module in place of that of a component."""
    text = f"// for {name}\nmodule {name}(clk, a);\n  input clk;\n  input a;\nendmodule\n"
    return lambda config: text


def test_each_component_is_synthesised_once_and_routed_with_each_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts: list[str] = []
    routed: list[tuple[str, int, float]] = []

    def run_yosys(script: str, *, folder: Path, log: str) -> None:
        text = (folder / f"{log}.v").read_text()
        assert f"\nmodule {log}" in text
        assert "\nmodule harness (" in text
        (folder / f"{log}.json").write_text(f"the netlist of {log}")
        scripts.append(script)

    def run_tool(module: str, arguments: list[str], *, folder: Path, log: str) -> None:
        options = dict(zip(arguments[-8::2], arguments[-7::2], strict=True))
        assert (module, arguments[0]) == (NEXTPNR, "--85k")
        name, seed = log.split(".")
        assert (folder / options["--json"]).read_text() == f"the netlist of {name}"
        assert options["--seed"] == seed
        routed.append((name, int(seed), float(options["--freq"])))
        steps = [
            step("clk-to-q", 0.5, "a_TRELLIS_FF_Q:Q", "a_TRELLIS_FF_Q:Q"),
            step("routing", 2.0, "a_TRELLIS_FF_Q:Q", "b_TRELLIS_FF_Q:M"),
        ]
        write_report(folder / options["--report"], steps, fmax=100.0 + int(seed))

    monkeypatch.setattr(cyscc.host.experiments.fpga.tools, "run_yosys", run_yosys)
    monkeypatch.setattr(cyscc.host.experiments.fpga.tools, "run_tool", run_tool)
    monkeypatch.setattr(cyscc.host.experiments.fpga.tools, "version", lambda module: "1")
    names = ["shell", "bfs_kernel"]
    for name in names:
        monkeypatch.setitem(COMPONENTS, name, stand_in(name))
    config = PRESETS["test"].replace(clock_mhz=102.5)
    options: dict[str, Any] = {"names": names, "seeds": 3, "folder": tmp_path}
    timings = measure(Plan(folder=tmp_path, verify=False), config, **options)
    assert measure(Plan(folder=tmp_path, verify=False), config, **options) == timings, "from the store"
    assert scripts == [f"read_verilog {name}.v\nsynth_ecp5 -top harness -json {name}.json\n" for name in names]
    assert routed == [(name, seed, 102.5) for name in names for seed in (1, 2, 3)]
    medians = [(one.name, one.median.seed, one.median.fmax, one.met) for one in timings]
    assert medians == [(name, 2, 102.0, False) for name in names]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the measurement by fixed clocks; collect the requests."""
    asked: dict[str, Any] = {}

    def fake(
        _: Plan, config: AcceleratorConfig, *, names: tuple[str, ...], folder: Path, **options: int
    ) -> tuple[Timing, ...]:
        assert folder.is_dir()
        asked.update(config=config, names=names, **options)
        clocks = {"bfs_kernel": (155.0,), "intersection_kernel": (149.5, 149.0, 180.0), "shell": (120.0,)}
        return tuple(timing(name, *clocks[name]) for name in names)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cyscc.host.experiments.fpga.timing, "measure", fake)
    monkeypatch.setattr(cyscc.host.experiments.fpga.tools, "check_tool", lambda module: None)
    monkeypatch.setattr(cyscc.host.experiments.fpga.tools, "version", lambda module: f"{module} 1")
    return asked


def test_what_is_too_slow_is_named_below_the_report(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timing", "--config", "published"]) == 3
    assert (measured["config"], measured["seeds"]) == (PRESETS["published"], 5)
    assert measured["names"] == ("bfs_kernel", "intersection_kernel", "shell")
    out, err = capsys.readouterr()
    assert err == "cyscc timing: median below 150 MHz: intersection_kernel (149.5 MHz), shell (120.0 MHz)\n"
    assert out.startswith("Timing of published on an ECP5-85k of speed grade 8\n")
    assert Path("build/timing.md").read_text().startswith("# Timing of published on an ECP5-85k of speed grade 8\n")


def test_slices_are_placed_where_a_machine_has_them() -> None:
    assert components_of(PRESETS["fast"]) == tuple(COMPONENTS)
    plain = components_of(PRESETS["hc2"])
    assert components_of(PRESETS["hc2"].replace(link_queues=4)) == (*plain, "kernel_slice", "link_slice")
    assert components_of(PRESETS["hc2"].replace(visited_filter=64)) == (*plain, "exchange_slice")


pytestmark = pytest.mark.long


def test_an_engine_takes_at_most_half_of_the_published_one(tmp_path: Path) -> None:
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [usage] = usages(measurements, [(PRESETS["hc2"], "xc5v")], folder=tmp_path).values()
    counts = {component.name: component.count for component in usage.components}
    assert counts == {"bfs_kernel": 16, "intersection_kernel": 8, "share": 8, "shell": 1}
    assert sum(component.resources.luts for component in usage.components) == usage.total.luts
    assert usage.total.amounts().within(BAR) == (True, True, True), usage.total.amounts()


def test_an_engine_with_all_options_fits_beside_the_vendors_interface(tmp_path: Path) -> None:
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [usage] = usages(measurements, [(PRESETS["fast"], "xc5v")], folder=tmp_path).values()
    counts = {component.name: component.count for component in usage.components}
    slices = dict.fromkeys(("kernel_slice", "link_slice", "exchange_slice"), 16)
    kernels = {"bfs_kernel": 16, "intersection_kernel": 8}
    assert counts == {**slices, **kernels, "share": 8, "shell": 1, "between them": 1}
    assert usage.total.amounts().within(FITTING) == (True, True, True), usage.total.amounts()


@pytest.mark.parametrize(
    ("config", "name"), [(config, name) for config in ("hc2", "fast") for name in components_of(PRESETS[config])]
)
def test_the_median_of_five_seeds_reaches_the_clock(config: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip(NEXTPNR, reason="`make timing` installs it")
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [timing] = measure(measurements, PRESETS[config], names=[name], seeds=5, folder=tmp_path)
    assert len(timing.runs) == 5
    assert timing.clock_mhz == 150
    assert timing.median.fmax >= 150, [run.fmax for run in timing.runs]
