"""Clocks: medians, verdicts, figures, errors. The tools are replaced; `test_bars` runs them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cyscc.host.experiments.fpga.timing
import cyscc.host.experiments.fpga.tools
from cyscc.host.command_line.main import main
from cyscc.host.experiments.fpga.timing import (
    COMPONENTS,
    CriticalPath,
    Routed,
    Timing,
    components_of,
    measure,
    timing_answer,
)
from cyscc.host.experiments.fpga.tools import NEXTPNR
from cyscc.host.experiments.plan.plan import Plan
from cyscc.hw.config import PRESETS, AcceleratorConfig
from tests.host.experiments.fpga.netlists import step, write_report
from tests.host.experiments.told import answer_path, told

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
def test_answer() -> None:
    answer = timing_answer([timing("bfs_kernel", 170.0, 149.0, 160.0), timing("shell", 149.9)], name="hc2")
    assert told(answer) == answer_path(__file__, "timing").read_text()


def stand_in(name: str) -> Callable[[AcceleratorConfig], str]:
    """Return what writes a module for a component, of which `test_harness` has the real ones."""
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


def test_every_median_reaches_the_clock(measured: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timing", "--component", "bfs_kernel", "--seeds", "1", "--jobs", "2"]) == 0
    assert measured == {"config": PRESETS["hc2"], "names": ("bfs_kernel",), "seeds": 1}
    answer = timing_answer([timing("bfs_kernel", 155.0)], name="hc2")
    tail = "0 measurements, 0 of them taken over from build/results\nwritten: build/timing.json, build/timing.md\n"
    assert capsys.readouterr().out.endswith(tail)
    assert Path("build/timing.md").read_text() == answer.markdown()
    assert answer.fields.items() <= json.loads(Path("build/timing.json").read_text()).items()


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--config", "x.toml"], "--config: x.toml: No such file or directory"),
        (["--seeds", "0"], "argument --seeds: must be at least 1, not 0"),
        (["--jobs", "many"], "argument --jobs: 'many' is not an integer"),
        (["--json", "absent/x"], "absent/x: its directory does not exist (--json)"),
        (
            ["--component", "share"],
            "argument --component: unknown component 'share': there are bfs_kernel, intersection_kernel, shell, "
            "kernel_slice, link_slice, exchange_slice",
        ),
        (["--component", "link_slice"], "--component: hc2 has no link_slice"),
    ],
)
def test_bad_usage_is_one_line(
    options: list[str], message: str, measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["timing", *options]) == 2
    assert capsys.readouterr().err == f"cyscc timing: {message}\n"
    assert measured == {}
