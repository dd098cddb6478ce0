"""Syntheses: tables, bars, figures, errors. The tool is replaced; `test_bars` runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

import cyscc.host.experiments.fpga.synthesis
from cyscc.host.command_line.main import main
from cyscc.host.experiments.fpga.hierarchy import Component, Resources, Usage
from cyscc.host.experiments.fpga.synthesis import Machine, comparable, synthesis_answer, with_depth
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.studies.paper import BAR, DEVICES, FITTING, PUBLISHED_LESS_VENDOR
from cyscc.hw.config import PRESETS, AcceleratorConfig
from tests.host.experiments.told import answer_path, told

EACH = Resources(logic=1000, memory=300, route_through=200, registers=2500, block_ram=72, carries=10)
QUEUE = Resources(memory=300, registers=500, block_ram=72)
TOTAL = EACH * 16
KERNEL = Component(
    name="bfs_kernel",
    count=16,
    each=EACH,
    parts={"reader": QUEUE, "itself": Resources(logic=1000)},
    queues=QUEUE,
)
USAGE = Usage(components=(KERNEL,), total=TOTAL)


def machine(name: str = "hc2", family: str = "xc5v", depths: dict[int, Usage] | None = None) -> Machine:
    return Machine(name=name, config=PRESETS[name], family=family, usage=USAGE, depths=depths or {})


def cells_of(*machines: Machine) -> dict[str, list[list[str]]]:
    """Return the cells of the answer's tables."""
    return {name: table.cells() for name, table in synthesis_answer(machines).tables.items()}


DEEP = Usage(components=USAGE.components, total=TOTAL + Resources(block_ram=16 * 144))
ANSWERS = {
    "hc2": [machine()],
    "hc2 of two depths": [machine(depths={8: USAGE, 512: DEEP})],
    "families": [machine(), machine("test"), machine(family="xc6v")],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cyscc.host.experiments.fpga.synthesis, "version", lambda module: f"{module} 1")
    assert told(synthesis_answer(ANSWERS[name])) == answer_path(__file__, name).read_text()


@pytest.mark.parametrize(
    ("change", "met"),
    [
        (Resources(), (True, True, True)),
        (Resources(logic=1), (False, True, True)),
        (Resources(memory=1, registers=1), (False, False, True)),
        (Resources(route_through=1, block_ram=1), (False, True, False)),
    ],
)
def test_bars_are_met_up_to_the_limit(change: Resources, met: tuple[bool, bool, bool]) -> None:
    limit = Resources(logic=BAR.luts, registers=BAR.registers, block_ram=BAR.block_ram)
    assert (limit + change).amounts().within(BAR) == met


def test_the_bar_is_half_of_the_published_machine_without_its_vendor_interface() -> None:
    assert tuple(2 * value for value in BAR) == PUBLISHED_LESS_VENDOR
    assert [name for name, config in PRESETS.items() if not comparable(config)] == ["fast-test", "test"]


def test_a_machine_with_a_switch_or_an_exchange_may_take_70_percent_of_the_device() -> None:
    assert tuple(int(0.7 * has) for has in DEVICES["xc5v"].has) == FITTING
    usage = Usage(components=(), total=Resources(logic=FITTING.luts, registers=1, block_ram=FITTING.block_ram + 1))
    fast = Machine(name="fast", config=PRESETS["fast"], family="xc5v", usage=usage, depths={})
    rows = cells_of(fast, machine("published"))["engines"]
    assert (rows[0][-1], rows[1][-1]) == ("not met: block_ram", "met")
    bars = [row[0] for row in rows if row[0].startswith("bar")]
    assert bars == ["bar: 70% of the device", "bar: half of published without it"]
    for name in ("link_queues", "visited_filter"):
        alone = PRESETS["hc2"].replace(**{name: 64})
        one = Machine(name="alone", config=alone, family="xc5v", usage=usage, depths={})
        assert cells_of(one)["engines"][-1][0] == "bar: 70% of the device"


def test_one_depth_for_all_fifos() -> None:
    config = with_depth(PRESETS["test"], 32)
    changed = {name for name in vars(config) if getattr(config, name) != getattr(PRESETS["test"], name)}
    assert changed == {name for name in vars(config) if name.endswith("_depth")}
    assert {getattr(config, name) for name in changed} == {32}


@pytest.fixture
def synthesised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[AcceleratorConfig, str]]:
    """Replace the synthesis; collect the requests."""
    asked: list[tuple[AcceleratorConfig, str]] = []

    def fake(
        measurements: Plan, engines: list[tuple[AcceleratorConfig, str]], *, folder: Path
    ) -> dict[tuple[AcceleratorConfig, str], Usage]:
        assert folder.is_dir()
        asked.extend(engines)
        return dict.fromkeys(engines, USAGE)

    monkeypatch.setattr(cyscc.host.experiments.fpga.synthesis, "usages", fake)
    monkeypatch.chdir(tmp_path)
    return asked


def test_figures_as_json(synthesised: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "--family", "xc5v", "--depth", "16"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("One AE of hc2\n")
    assert Path("build/synthesis-depth.md").read_text().startswith("# One AE of hc2\n")
    assert out.endswith("\nwritten: build/synthesis-depth.json, build/synthesis-depth.md\n")
    assert synthesised == [(PRESETS["hc2"], "xc5v"), (with_depth(PRESETS["hc2"], 16), "xc5v")]
    document = json.loads(Path("build/synthesis-depth.json").read_text())
    assert document["published"]["scc"] == {"luts": 132_139, "registers": 150_585, "block_ram": 8_982}
    [one] = document["machines"]
    assert (one["config"], one["family"], one["device"]["name"]) == ("hc2", "xc5v", "Virtex-5 LX330")
    assert one["engine"] == TOTAL.document()
    assert one["bar"] == {
        "luts": {"limit": 55_700, "met": True},
        "registers": {"limit": 64_900, "met": True},
        "block_ram": {"limit": 3_195, "met": True},
    }
    assert one["depths"] == {"16": {"engine": one["engine"], "bar": one["bar"]}}
    [kernel] = one["components"]
    assert (kernel["name"], kernel["count"], kernel["each"]) == ("bfs_kernel", 16, EACH.document())
    assert list(kernel["parts"]) == ["reader", "itself"]


def test_both_families_of_the_named_machines_by_default(
    synthesised: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--config", "test", "--config", "hc2", "-o", "out", "--quiet", "--json", "again.json", "--keep", "kept"]
    assert main(["synth", *options]) == 0
    assert capsys.readouterr() == ("", "")
    for family in ("xc5v", "xc6v"):
        assert [config for config, asked in synthesised if asked == family] == [PRESETS["test"], PRESETS["hc2"]]
    machines = json.loads(Path("out/synthesis.json").read_text())["machines"]
    order = [(one["config"], one["family"]) for one in machines]
    assert order == [(name, family) for name in ("test", "hc2") for family in ("xc5v", "xc6v")]
    assert [one["bar"] is not None for one in machines] == [False, False, True, False]
    assert sorted(path.name for path in Path().iterdir()) == ["again.json", "kept", "out"]


def test_figures_on_standard_output(synthesised: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "--family", "xc6v", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["machines"][0]["family"] == "xc6v"
