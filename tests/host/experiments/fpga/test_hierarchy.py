"""Netlists of an engine: hierarchy, modules, and parts."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from amaranth.back import verilog
from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from cyscc.host.experiments.fpga.hierarchy import (
    Hierarchy,
    Resources,
    cell_resources,
    components,
    parts,
    queues,
    read_hierarchy,
)
from cyscc.host.experiments.fpga.modules import merged, ports_of, stub
from cyscc.host.experiments.fpga.synthesis import ModuleRequest
from cyscc.host.experiments.fpga.tools import ToolError
from cyscc.hw.config import PRESETS
from cyscc.hw.credits import Credits
from cyscc.hw.queue import Queue
from cyscc.hw.verilog import KERNEL_NAMES, SLICE_NAMES, application_engine_verilog, port_names, slice_verilog


def cell(kind: str, **connections: list[int | str]) -> dict[str, Any]:
    """Return a cell of a netlist; a bit is a number, or a string if it is constant."""
    return {"type": kind, "connections": connections}


def module(cells: dict[str, dict[str, Any]], **attributes: str) -> dict[str, Any]:
    """Return a module of a netlist."""
    return {"attributes": attributes, "cells": cells}


def write_netlist(path: Path, modules: dict[str, dict[str, Any]]) -> Path:
    """Write a netlist, with a module of the library of cells as Yosys adds them."""
    library = {"LUT2": module({"inside": cell("$not")}, blackbox="1")}
    path.write_text(json.dumps({"creator": "Yosys", "modules": library | modules}))
    return path


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("LUT1 LUT2 LUT3 LUT4 LUT5 LUT6 LUT6_2 INV", Resources(logic=1)),
        ("RAM32M RAM64M RAM128X1D RAM256X1S", Resources(memory=4)),
        ("RAM16X1D RAM32X1D RAM64X1D RAM128X1S", Resources(memory=2)),
        ("RAM16X1S RAM32X1S RAM64X1S SRL16 SRL16E SRLC16E SRLC32E", Resources(memory=1)),
        ("FDRE FDRE_1 FDSE FDSE_1 FDCE FDCE_1 FDPE FDPE_1 LDCE LDPE", Resources(registers=1)),
        ("RAMB18 RAMB18SDP RAMB18E1", Resources(block_ram=18)),
        ("RAMB36 RAMB36SDP RAMB36E1", Resources(block_ram=36)),
        ("CARRY4", Resources(carries=1)),
        ("DSP48E DSP48E1", Resources(dsps=1)),
        ("$scopeinfo BUFG GND MUXF7 MUXF8 VCC", Resources()),
    ],
)
def test_cells(kinds: str, expected: Resources) -> None:
    for kind in kinds.split():
        assert cell_resources(kind, module="m") == expected, kind


def test_unknown_cell_is_refused() -> None:
    with pytest.raises(ToolError, match=r"^no resources are known for the cell 'LUT0' in kernel$"):
        cell_resources("LUT0", module="kernel")
    with pytest.raises(ToolError, match=r"^no resources are known for the cell 'LUT7' in kernel\.mux$"):
        cell_resources("LUT7", module="kernel.mux")


PART = module({"flop": cell("FDRE"), "ram": cell("RAMB18SDP")})
TOP = module({"b": cell("part"), "a": cell("part"), "lut": cell("LUT2", O=[10]), "flop": cell("FDSE", Q=[11])})


def test_totals_count_every_instance(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(write_netlist(tmp_path / "n.json", {"top": TOP, "part": PART}))
    assert hierarchy.own("top") == Resources(logic=1, registers=1)
    assert hierarchy.modules["top"] == [("a", "part"), ("b", "part")]
    assert hierarchy.total("top") == Resources(logic=1, registers=3, block_ram=36)


def test_carry_inputs_without_a_lut_in_front_take_one(tmp_path: Path) -> None:
    cells = {
        "lut": cell("LUT2", O=[10]),
        "inverter": cell("INV", O=[11]),
        "flop": cell("FDRE", Q=[12]),
        # Bit 13 is a port's, the string a constant.
        "carry": cell("CARRY4", S=[10, 11, 12, 13]),
        "last": cell("CARRY4", S=[12, "0", "0", "x"]),
    }
    hierarchy = read_hierarchy(write_netlist(tmp_path / "n.json", {"top": module(cells)}))
    assert hierarchy.total("top") == Resources(logic=2, route_through=3, registers=1, carries=2)


def test_a_black_box_is_found_in_another_netlist(tmp_path: Path) -> None:
    box = module({"flop": cell("FDRE")}, blackbox="1")
    top = read_hierarchy(write_netlist(tmp_path / "top.json", {"top": TOP, "part": box}), elsewhere=["part"])
    with pytest.raises(ToolError, match=r"^the netlist has no module 'part'$"):
        top.total("top")
    part = read_hierarchy(write_netlist(tmp_path / "part.json", {"part": PART}))
    assert (top | part).total("top") == Resources(logic=1, registers=3, block_ram=36)


def test_an_unexpected_black_box_is_refused(tmp_path: Path) -> None:
    path = write_netlist(tmp_path / "n.json", {"top": TOP, "part": module({}, blackbox="1")})
    with pytest.raises(ToolError, match=r"^no resources are known for the cell 'part' in top$"):
        read_hierarchy(path)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ("[]", "TypeError: list indices must be integers or slices, not str"),
        ('{"modules": {"m": {"attributes": {}}}}', "KeyError: 'cells'"),
    ],
)
def test_what_is_no_netlist_is_refused(text: str, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "n.json"
    path.write_text(text)
    with pytest.raises(ToolError, match=rf"^n\.json: not a netlist of yosys: {re.escape(cause)}$"):
        read_hierarchy(path)


TEXT = r"""// a comment
module \top.a (clk, x);
  input clk;
  input [3:0] x;
  \leaf.first  leaf (
    .clk(clk)
  );
endmodule

module \top.b (x
, clk);
  input clk;
  input [3:0] x;
  \leaf.second  leaf (
    .clk(clk)
  );
endmodule

module \leaf.first (clk);
  input clk;
endmodule

module \leaf.second (clk);
  input clk;
endmodule

module top(clk);
  input clk;
  \top.a  a (
    .clk(clk)
  );
  \top.b  \b$2  (
    .clk(clk)
  );
endmodule
"""


def names(text: str) -> list[str]:
    return re.findall(r"^module (\S+) ?\(", text, re.MULTILINE)


def instances(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^  (\S+) +(\S+) +\($", text, re.MULTILINE)


def test_equal_modules_become_one_and_then_those_that_contain_them() -> None:
    text = merged(TEXT)
    assert names(text) == [r"\top.a", r"\leaf.first", "top"]
    assert instances(text) == [(r"\leaf.first", "leaf"), (r"\top.a", "a"), (r"\top.a", r"\b$2")]


def test_a_module_that_goes_takes_its_attributes_along() -> None:
    attribute = '(* generator = "Amaranth" *)\n'
    text = "".join(f"{attribute}module {name}(a);\n  input a;\nendmodule\n\n" for name in ("first", "second"))
    assert merged(text).count(attribute) == 1


def test_modules_that_differ_stay() -> None:
    text = TEXT.replace("  input [3:0] x;", "  input [4:0] x;", 1)
    assert names(merged(text)) == [r"\top.a", r"\top.b", r"\leaf.first", "top"]
    assert merged(merged(text)) == merged(text)


def test_engines_have_each_kind_of_module_once_and_slices_elsewhere_on_demand() -> None:
    config = PRESETS["fast-test"]
    texts = [application_engine_verilog(config, slices=slices) for slices in (True, False)]
    used = [{module for module, _ in instances(text)} - set(names(text)) for text in (*texts, merged(texts[1]))]
    kernels = set(KERNEL_NAMES.values())
    assert used == [kernels, kernels | set(SLICE_NAMES.values()), kernels | set(SLICE_NAMES.values())]
    wrappers = re.findall(r"^module \\application_engine\.(\w+\d) ", merged(texts[1]), re.MULTILINE)
    assert sorted(wrappers) == ["bfs0", "exchange0", "intersection0", "share0"]
    for kind, name in SLICE_NAMES.items():
        assert name in names(slice_verilog(kind, config))


def test_a_black_box_has_the_ports() -> None:
    ports = [("input", 1, "clk"), ("input", 4, "x")]
    assert ports_of(TEXT, r"\top.b") == ports
    assert ports_of(TEXT, "absent") == []
    text = "module part(b, a);\n  output a;\n  wire a;\n  input [7:0] b;\nendmodule\n"
    lines = ["(* blackbox *) module part(a, b);", "  output [0:0] a;", "  input [7:0] b;", "endmodule", ""]
    assert stub(text, "part").split("\n") == lines


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
