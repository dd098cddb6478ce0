"""Synthesis: of small parts for real, of engines with the tool replaced."""

from functools import cache
from pathlib import Path

import msgspec
import pytest
from amaranth.back import verilog
from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

import cyscc.host.experiments.fpga.synthesis
from cyscc.host.experiments.fpga.hierarchy import Hierarchy, Resources, components, parts, queues
from cyscc.host.experiments.fpga.synthesis import ModuleRequest, usages
from cyscc.host.experiments.plan.plan import Plan
from cyscc.hw.config import PRESETS
from cyscc.hw.credits import Credits
from cyscc.hw.queue import Queue
from cyscc.hw.verilog import port_names
from tests.host.experiments.fpga.netlists import cell, module, write_netlist


class Sample(wiring.Component):
    """Credits and two queues side by side, their ports its own."""

    def __init__(self) -> None:
        self._parts: dict[str, wiring.Component] = {
            "credits": Credits(64),
            "shallow": Queue(9, 64),
            "deep": Queue(64, 128),
        }
        super().__init__({name: Out(part.signature) for name, part in self._parts.items()})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for name, part in self._parts.items():
            m.submodules[name] = part
            connect(m, flipped(getattr(self, name)), part)
        return m


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Hierarchy:
    """Synthesise the sample for a Virtex-5."""
    component = Sample()
    text = verilog.convert(component, name="sample", ports=port_names(component), emit_src=False)
    request = ModuleRequest(top="sample", text=text, family="xc5v", folder=tmp_path_factory.mktemp("sample"))
    return msgspec.convert(request.measure(None, verify=False), Hierarchy)


@pytest.mark.long
def test_credits_are_one_counter(sample: Hierarchy) -> None:
    found = parts(sample, "sample")["credits"]
    bits = 7  # from 0 up to the depth, a power of two
    assert found.registers == bits
    assert found.memory == found.block_ram == found.dsps == 0
    assert 0 < found.luts <= 6 * bits


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "memory", "block_ram", "registers"),
    [
        # A RAM64M keeps three bits beside its write port, in four LUTs; a register follows it, then the entry's.
        ("shallow", 3 * 4, 0, 3 * 6 + 3 + 9 + 9),
        # A block RAM has the first of the two by itself.
        ("deep", 0, 36, 3 * 7 + 3 + 64),
    ],
)
def test_shallow_queues_are_lut_ram_and_deep_ones_block_ram(
    name: str, memory: int, block_ram: int, registers: int, sample: Hierarchy
) -> None:
    found = parts(sample, "sample")[name]
    assert (found.memory, found.block_ram, found.dsps) == (memory, block_ram, 0)
    # Write and read pointer, level with one bit more, two valid bits, the entry.
    assert found.registers == registers


@pytest.mark.long
def test_the_parts_are_all_there_is(sample: Hierarchy) -> None:
    assert sample.own("sample") == Resources()
    assert list(parts(sample, "sample")) == ["credits", "deep", "shallow", "itself"]
    assert sample.total("sample") == sum(parts(sample, "sample").values(), Resources())


def hierarchy() -> Hierarchy:
    """Return an engine of two kernels in wrappers, two equal shares, another share, and a shell with a queue."""
    own = {
        "engine": Resources(logic=1),
        "wrapper0": Resources(),
        "wrapper1": Resources(),
        "bfs_kernel": Resources(logic=10),
        "share": Resources(logic=3),
        "wide_share": Resources(logic=5),
        "shell": Resources(logic=2),
        "reader": Resources(registers=1),
        "queue": Resources(memory=4),
    }
    children = {name: list[tuple[str, str]]() for name in own} | {
        "engine": [
            ("bfs0", "wrapper0"),
            ("bfs1", "wrapper1"),
            ("share0", "share"),
            ("share1", "share"),
            ("share2", "wide_share"),
            ("shell", "shell"),
        ],
        "wrapper0": [("kernel", "bfs_kernel")],
        "wrapper1": [("kernel", "bfs_kernel")],
        "shell": [("in_fifo", "queue"), ("reader", "reader")],
        "reader": [("fifo", "queue")],
    }
    return Hierarchy(own, children)


def test_components_are_counted_by_kind() -> None:
    found = components(hierarchy(), "engine")
    assert [(one.name, one.count, one.each.luts, one.resources.luts) for one in found] == [
        ("bfs_kernel", 2, 10, 20),
        ("shell", 1, 10, 10),
        ("share", 2, 3, 6),
        ("share", 1, 5, 5),
        ("between them", 1, 1, 1),
    ]
    assert sum(one.resources.luts for one in found) == hierarchy().total("engine").luts


def test_slices_of_a_switch_are_components() -> None:
    plain = hierarchy()
    own = {
        "switch": Resources(logic=7),
        "kernel_slice": Resources(memory=20),
        "link_slice": Resources(registers=9),
        "wrapper2": Resources(),
    }
    children = {
        **plain.modules,
        "engine": [*plain.modules["engine"], ("switch", "switch")],
        "switch": [("kernel0", "kernel_slice"), ("kernel1", "kernel_slice"), ("link0", "wrapper2")],
        "wrapper2": [("inner", "link_slice")],
        "kernel_slice": [],
        "link_slice": [],
    }
    whole = Hierarchy(plain.cells | own, children)
    found = {one.name: one for one in components(whole, "engine")}
    assert {name: (one.count, one.each.luts) for name, one in found.items() if name != "share"} == {
        "kernel_slice": (2, 20),
        "bfs_kernel": (2, 10),
        "shell": (1, 10),
        "link_slice": (1, 0),
        # What lies between the slices of the switch, too.
        "between them": (1, 8),
    }
    total = sum((one.resources for one in components(whole, "engine")), Resources())
    assert total == whole.total("engine")


def test_parts_and_queues_of_a_component() -> None:
    shell = components(hierarchy(), "engine")[1]
    assert shell.parts == {
        "in_fifo": Resources(memory=4),
        "reader": Resources(memory=4, registers=1),
        "itself": Resources(logic=2),
    }
    assert shell.queues == queues(hierarchy(), "shell") == Resources(memory=8)


def test_what_engines_have_in_common_is_synthesised_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def fake(script: str, *, folder: Path, log: str) -> None:
        top, family, digest = log.split(".")
        assert f"module {top}" in (folder / f"{log}.v").read_text()
        assert (family, len(digest)) == ("xc5v", 8)
        done.append(top)
        below = {"bfs0": cell("bfs_kernel"), "intersection0": cell("intersection_kernel")}
        cells = {"lut": cell("LUT2", O=[10])} | (below if top == "application_engine" else {})
        write_netlist(folder / f"{log}.json", {top: module(cells)})

    netlists = cyscc.host.experiments.fpga.synthesis
    monkeypatch.setattr(netlists, "run_yosys", fake)
    for name in ("kernel_verilog", "application_engine_verilog"):
        # The second time it would be the same, and takes as long.
        monkeypatch.setattr(netlists, name, cache(getattr(netlists, name)))
    config = PRESETS["test"]
    engines = [(config, "xc5v"), (config.replace(visit_depth=8), "xc5v")]
    for _ in range(2):  # the second time from the store
        measurements = Plan(folder=tmp_path / "store", verify=False)
        found = usages(measurements, engines, folder=tmp_path)
        assert {engine: usage.total for engine, usage in found.items()} == dict.fromkeys(engines, Resources(logic=3))
    assert sorted(done) == ["application_engine", "bfs_kernel", "bfs_kernel", "intersection_kernel"]
    assert (measurements.made, measurements.found) == (0, 4)
