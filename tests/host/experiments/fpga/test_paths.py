"""Critical paths, read from what nextpnr writes."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import msgspec
import pytest

from cyscc.host.experiments.fpga.timing import Routed, read_report
from cyscc.host.experiments.fpga.tools import ToolError
from tests.host.experiments.fpga.netlists import step, write_report

MEMORY = [
    step("clk-to-q", 4.0, "reader.fifo.storage.0.1:DOB10", "reader.fifo.storage.0.1:DOB10"),
    step("routing", 1.5, "reader.fifo.storage.0.1:DOB10", "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:C"),
    step("logic", 0.25, "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:C", "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:F"),
    step("routing", 0.25, "entry_TRELLIS_FF_Q_3_DI_LUT4_Z:F", "visitor.entry_TRELLIS_FF_Q_3:DI"),
    step("setup", 0.0, "visitor.entry_TRELLIS_FF_Q_3:DI", "visitor.entry_TRELLIS_FF_Q_3:DI"),
]
CARRY = [
    step("clk-to-q", 0.5, "count_TRELLIS_FF_Q:Q", "count_TRELLIS_FF_Q:Q"),
    step("routing", 1.0, "count_TRELLIS_FF_Q:Q", "sum$CCU2_COMB0:A"),
    step("logic", 0.5, "sum$CCU2_COMB0:A", "sum$CCU2_COMB0:FCO"),
    step("routing", 0, "sum$CCU2_COMB0:FCO", "sum$CCU2_COMB1:FCI"),
    step("logic", 0.25, "sum$CCU2_COMB1:FCI", "sum$CCU2_COMB1:F"),
    step("routing", 1.0, "sum$CCU2_COMB1:F", "a:D"),
    step("logic", 0.25, "a:D", "a:F"),
    step("routing", 0.75, "a:F", "b:M"),
    step("logic", 0.25, "b:M", "b:OFX"),
    step("routing", 0.25, "b:OFX", "phase_TRELLIS_FF_Q_1:CE"),
    step("setup", 0.25, "phase_TRELLIS_FF_Q_1:CE", "phase_TRELLIS_FF_Q_1:CE"),
]


STRAIGHT = [MEMORY[0], step("routing", 1.0, "reader.fifo.storage.0.1:DOB10", "entry_TRELLIS_FF_Q_3:M")]
WORDS = {
    "from memory reader.fifo.storage (4.00 ns from the clock to its output) through 1 LUT to register "
    "visitor.entry: 6.00 ns, 4.25 of them in cells (71%) and 1.75 in wires (29%), the longest of 1.50": MEMORY,
    "from memory reader.fifo.storage (4.00 ns from the clock to its output) straight to register entry: "
    "5.00 ns, 4.00 of them in cells (80%) and 1.00 in wires (20%), the longest of 1.00": STRAIGHT,
    # A carry chain counts once, and the LUTs beside it.
    "from register count (0.50 ns from the clock to its output) through 2 LUTs and 1 carry chain to register phase "
    "(its enable): 5.00 ns, 2.00 of them in cells (40%) and 3.00 in wires (60%), the longest of 1.00": CARRY,
}


def words(path: Path) -> str:
    return read_report(path, seed=1).path.words()


@pytest.mark.parametrize("text", WORDS, ids=["through a LUT", "straight", "through a carry chain"])
def test_paths_in_words(text: str, tmp_path: Path) -> None:
    assert words(write_report(tmp_path / "r.json", WORDS[text])) == text


@pytest.mark.parametrize(
    ("port", "which"), [("CEB", "enable"), ("ADA3", "address"), ("DIA0", "data"), ("WEA", "write enable")]
)
def test_into_a_memory(port: str, which: str, tmp_path: Path) -> None:
    end = f"fifo.storage.0.0:{port}"
    steps = [CARRY[0], step("routing", 1.5, "count_TRELLIS_FF_Q:Q", end), step("setup", 0.5, end, end)]
    text = words(write_report(tmp_path / "r.json", steps))
    assert f" straight to memory fifo.storage (its {which}): 2.50 ns, " in text


def test_frequency_cells_and_document(tmp_path: Path) -> None:
    routed = read_report(write_report(tmp_path / "r.json", CARRY, fmax=200.125), seed=4)
    assert (routed.seed, routed.fmax, routed.cells) == (4, 200.125, {"TRELLIS_COMB": 7})
    assert msgspec.convert(json.loads(json.dumps(asdict(routed))), Routed) == routed
    document = routed.path.document()
    assert document.pop("words") == routed.path.words()
    assert document == {
        "start": "register count",
        "end": "register phase (its enable)",
        "luts": 2,
        "carry_chains": 1,
        "total_ns": 5.0,
        "cells_ns": 2.0,
        "routing_ns": 3.0,
    }


def test_a_report_without_the_clock_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"critical_paths": []}')
    with pytest.raises(ToolError, match=r"^r\.json: no path from 'posedge clk' to 'posedge clk'$"):
        read_report(path, seed=1)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{", "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("{}", "KeyError: 'critical_paths'"),
        ('{"critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": []}]}', "KeyError: 'fmax'"),
    ],
)
def test_what_is_no_report_is_refused(text: str, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ToolError, match=rf"^r\.json: not a report of nextpnr: {re.escape(cause)}$"):
        read_report(path, seed=1)
