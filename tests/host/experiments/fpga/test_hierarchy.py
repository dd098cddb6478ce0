"""Netlists, read from what Yosys writes, and the area of their cells."""

import re
from pathlib import Path

import pytest

from cyscc.host.experiments.fpga.hierarchy import Hierarchy, Resources, cell_resources, read_hierarchy
from cyscc.host.experiments.fpga.tools import ToolError
from tests.host.experiments.fpga.netlists import cell, module, write_netlist


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


def test_joined_hierarchies_keep_their_own_totals() -> None:
    one = Hierarchy({"a": Resources(logic=1)}, {"a": []})
    assert one.total("a") == Resources(logic=1)
    other = Hierarchy({"a": Resources(logic=2)}, {"a": []})
    assert (one | other).total("a") == Resources(logic=2)
