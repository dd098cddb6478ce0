"""Registers in front of a component."""

import re

import pytest

from cyscc.host.experiments.fpga.timing import COMPONENTS, harnessed
from cyscc.host.experiments.fpga.tools import ToolError
from cyscc.hw.config import PRESETS

TEXT = """\
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
    assert harnessed(TEXT, top="part", name="harness") == TEXT + HARNESS


@pytest.mark.parametrize("top", ["absent", "par"])
def test_a_module_that_is_not_there_is_refused(top: str) -> None:
    with pytest.raises(ToolError, match=rf"^the Verilog has no module '{top}' with ports$"):
        harnessed(TEXT, top=top, name="harness")


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
