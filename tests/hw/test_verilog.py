"""Exported Verilog: each kind of kernel once, the same from run to run, and clean for another tool."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hw
from hw.bfs import Kernel as BfsKernel
from hw.config import PRESETS
from hw.shell import Shell
from hw.verilog import KERNEL_NAMES, kernel_verilog, port_names, shell_verilog
from sim.engines.build import _environment, _find_verilator

ROOT = Path(hw.__file__).resolve().parents[1]
FILES = ["bfs_kernel.v", "intersection_kernel.v", "application_engine.v", "files.f"]
EXPORT = """
import sys
from pathlib import Path
from hw.config import PRESETS
from sim.verilog import export_verilog

print(*(path.name for path in export_verilog(PRESETS["hc2"], Path(sys.argv[1]))))
"""


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Texts of the whole machine's export by file name, from two processes with different hash seeds."""
    folders = [tmp_path_factory.mktemp("verilog") for _ in range(2)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", EXPORT, str(folder)],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, folder in enumerate(folders, start=1)
    ]
    for process in processes:
        assert process.communicate()[0].split() == FILES
        assert process.returncode == 0
    return [{name: (folder / name).read_text() for name in FILES} for folder in folders]


def modules(text: str) -> list[str]:
    """Return the names of the modules declared; parts of a component have escaped names."""
    return re.findall(r"^module \\?([\w.$]+) ?\(", text, re.MULTILINE)


def instances(text: str, module: str) -> int:
    return len(re.findall(rf"^  {module} \S+ \($", text, re.MULTILINE))


def test_each_kind_of_kernel_appears_once_and_is_instantiated_often(exports: list[dict[str, str]]) -> None:
    text = "".join(exports[0][name] for name in FILES[:-1])
    declared = modules(text)
    assert len(declared) == len(set(declared))
    for name, count in (("bfs_kernel", 16), ("intersection_kernel", 8)):
        assert declared.count(name) == 1
        assert instances(text, name) == count
        # Nor does a copy hide behind another name.
        assert [part for part in declared if part.endswith(".mux")].count(f"{name}.mux") == 1
    assert len([part for part in declared if part.endswith(".mux")]) == 2


def test_the_text_is_short_enough_to_read(exports: list[dict[str, str]]) -> None:
    lines = {name: exports[0][name].count("\n") for name in FILES}
    assert sum(lines.values()) <= 25_000
    assert exports[0]["files.f"] == "bfs_kernel.v\nintersection_kernel.v\napplication_engine.v\n"


def test_two_processes_write_the_same(exports: list[dict[str, str]]) -> None:
    assert exports[0] == exports[1]


def test_no_path_of_this_machine_is_in_the_text(exports: list[dict[str, str]]) -> None:
    for text in exports[0].values():
        assert str(ROOT) not in text
        assert str(Path.home()) + "/" not in text
        assert ".py" not in text
        assert sys.prefix not in text


def test_what_only_simulation_needs_is_left_out(exports: list[dict[str, str]]) -> None:
    for text in exports[0].values():
        assert not re.search("quiescent|activity", text)
    assert re.search("quiescent", kernel_verilog(BfsKernel, PRESETS["test"], instrument=True))


def test_verilator_finds_neither_errors_nor_warnings(exports: list[dict[str, str]], tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_text(exports[0][name])
    verilator = _find_verilator()
    result = subprocess.run(
        [*verilator, "--lint-only", "-Wall", "--top-module", "application_engine", "-f", "files.f"],
        cwd=tmp_path,
        env=_environment(verilator),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("engines", [1, 2])
def test_ports_have_the_names_of_their_paths(engines: int) -> None:
    config = PRESETS["test"].replace(engines=engines)
    text = shell_verilog(config)
    header = re.search(r"^module shell\((.*?)\);", text, re.MULTILINE | re.DOTALL)
    assert header is not None
    names = [name.strip() for name in header[1].split(",")]
    assert sorted(names) == sorted({*port_names(Shell(config)), "clk", "rst"})
    assert ("link_in_valid" in names) == (engines > 1)


def test_kernels_have_their_module_names() -> None:
    assert sorted(KERNEL_NAMES.values()) == ["bfs_kernel", "intersection_kernel"]
    for kind, name in KERNEL_NAMES.items():
        assert name in modules(kernel_verilog(kind, PRESETS["test"]))
