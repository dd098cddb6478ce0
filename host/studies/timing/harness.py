"""Registers in front of a component, so that the way from its inputs to its own registers is timed, too."""

import re

from host.studies.fpga_tools import ToolError

__all__ = ["harnessed"]

_PORT = re.compile(r"^ *(input|output) +(?:wire +)?(?:\[(\d+):0\] +)?(\w+) *;", re.MULTILINE)
_UNTIMED = ("clk", "rst")
"""Clock and reset are spread by nets of their own."""


def harnessed(text: str, *, top: str, name: str) -> str:
    """Return Verilog with one more module, which instantiates another behind a register per input bit.

    Paths that begin at an input without a register are in no timing report. In a machine these inputs come from
    registers of a neighbour.

    Parameters
    ----------
    text : str
        Verilog of the component. Its ports are declared in the body of its module.
    top : str
        Module of the component; the instance has its name, too.
    name : str
        Name of the new module. It has the same ports.

    Raises
    ------
    ToolError
        The module or its ports are not found.
    """
    body = re.search(rf"^module {top} ?\(.*?^endmodule", text, re.DOTALL | re.MULTILINE)
    ports = _PORT.findall(body[0]) if body else []
    if not ports:
        raise ToolError(f"the Verilog has no module {top!r} with ports")
    lines = [f"module {name} ({', '.join(port for _, _, port in ports)});"]
    inside = []
    for direction, last, port in ports:
        bits = f"[{last or 0}:0] "
        lines.append(f"  {direction} {bits}{port};")
        inner = port
        if direction == "input" and port not in _UNTIMED:
            inner = f"{port}_before"
            lines += [f"  reg {bits}{inner};", f"  always @(posedge clk) {inner} <= {port};"]
        inside.append(f".{port}({inner})")
    lines += [f"  {top} {top} ({', '.join(inside)});", "endmodule"]
    return text + "\n".join(["", *lines, ""])
