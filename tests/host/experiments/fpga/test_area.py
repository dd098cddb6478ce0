"""Area of machines: columns by family, one store in the cache, the Python interface. The tool is replaced."""

import os
from pathlib import Path

import pytest

import cyscc
import cyscc.host.experiments.fpga.synthesis
from cyscc.host.experiments.fpga.area import AREA, areas, machine_areas
from cyscc.host.experiments.fpga.synthesis import ENGINE, usages
from cyscc.host.experiments.plan.plan import Plan
from cyscc.hw.config import PRESETS
from tests.host.experiments.fpga.netlists import cell, module, write_netlist
from tests.refusals import refused

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


def test_refusals(done: list[str]) -> None:
    with refused(ValueError, "unknown family 'xc7': there are xc5v, xc6v"):
        cyscc.area("test", family="xc7")
    with refused(ValueError, "jobs: must be at least 1, not 0"):
        cyscc.area("test", jobs=0)
    with refused(ValueError, "word_depth must be a power of two, not 12"):
        cyscc.area("test", overrides={"word_depth": 12})
    assert done == []


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
