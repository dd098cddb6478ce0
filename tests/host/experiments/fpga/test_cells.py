"""Cells and their area."""

import pytest

from cyscc.host.experiments.fpga.hierarchy import Resources, cell_resources
from cyscc.host.experiments.fpga.tools import ToolError


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


def test_resources_add_up_and_multiply() -> None:
    one = Resources(logic=1, memory=2, route_through=3, registers=4, block_ram=18, carries=5, dsps=6)
    assert one.luts == 6
    assert one + one == one * 2
    assert (one * 3).document() == {
        "luts": 18,
        "logic": 3,
        "memory": 6,
        "route_through": 9,
        "registers": 12,
        "block_ram": 54,
        "carries": 15,
        "dsps": 18,
    }
