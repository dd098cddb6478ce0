"""Modules of Verilog text: ports, black boxes, equal modules merged."""

import re

from cyscc.host.experiments.fpga.modules import merged, ports_of, stub
from cyscc.hw.config import PRESETS
from cyscc.hw.verilog import KERNEL_NAMES, SLICE_NAMES, application_engine_verilog, slice_verilog

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


def test_an_engine_has_each_kind_of_module_once() -> None:
    found = merged(application_engine_verilog(PRESETS["test"]))
    assert {module for module, _ in instances(found)} <= {*names(found), *KERNEL_NAMES.values()}
    assert [name for name in names(found) if re.search(r"\d$", name)] == [
        r"\application_engine.bfs0",
        r"\application_engine.intersection0",
        r"\application_engine.share0",
    ]


def test_slices_of_an_engine_are_elsewhere_on_demand() -> None:
    config = PRESETS["fast-test"]
    within, without = (application_engine_verilog(config, slices=slices) for slices in (True, False))
    used = {module for module, _ in instances(without)} - set(names(without))
    assert used == {*KERNEL_NAMES.values(), *SLICE_NAMES.values()}
    assert {module for module, _ in instances(within)} - set(names(within)) == set(KERNEL_NAMES.values())
    for kind, name in SLICE_NAMES.items():
        assert name in names(slice_verilog(kind, config))


def test_a_black_box_has_the_ports() -> None:
    ports = [("input", 1, "clk"), ("input", 4, "x")]
    assert ports_of(TEXT, r"\top.b") == ports
    assert ports_of(TEXT, "absent") == []
    text = "module part(b, a);\n  output a;\n  wire a;\n  input [7:0] b;\nendmodule\n"
    lines = ["(* blackbox *) module part(a, b);", "  output [0:0] a;", "  input [7:0] b;", "endmodule", ""]
    assert stub(text, "part").split("\n") == lines
