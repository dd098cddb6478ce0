"""The exported Verilog's claim on the memories of queues holds: no entry is read while it is written."""

import re
from pathlib import Path

import pytest
from amaranth.back import verilog

from cyscc.host.experiments.fpga.tools import ToolError, run_yosys
from cyscc.hw.config import PRESETS
from cyscc.hw.queue import Queue
from cyscc.hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog, port_names

CLAIM = "!(w_port__en && r_port__en && w_port__addr == r_port__addr)"
"""Of the module of the library's FIFO: no entry is read in the cycle in which it is written."""
READS = re.compile(r"assign r_port__en = inner_r_rdy & ")
"""How that module says that it reads only if it holds something."""


def prove(depth: int, folder: Path, *, reads_when_empty: bool = False) -> None:
    """Prove the claim by induction, with the invariant that the level is the distance of the pointers.

    Raises
    ------
    ToolError
        It does not hold.
    """
    queue = Queue(1, depth)
    text = verilog.convert(queue, name="queue", ports=port_names(queue), emit_src=False, strip_internal_attrs=False)
    outside, _, fifo = text.partition("module \\queue.fifo ")
    invariant = f"inner_level <= {depth} && w_port__addr == ((r_port__addr + inner_level) & {depth - 1})"
    claims = "".join(f"  always @* assert ({claim});\n" for claim in (CLAIM, invariant))
    fifo = fifo.replace("endmodule", f"{claims}endmodule", 1)
    assert claims in fifo
    if reads_when_empty:
        fifo, replaced = READS.subn("assign r_port__en = ", fifo)
        assert replaced == 1
    (folder / "queue.sv").write_text(f"{outside}module \\queue.fifo {fifo}")
    script = (
        "read_verilog -sv -formal queue.sv",
        "prep -top queue; flatten; memory_map; opt -full; async2sync; dffunmap; chformal -lower",
        "sat -verify -tempinduct -maxsteps 4 -prove-asserts -set-init-zero",
    )
    run_yosys("\n".join([*script, ""]), folder=folder, log="queue")


@pytest.mark.long
@pytest.mark.parametrize("depth", [4, 64, 128])
def test_no_entry_is_read_while_it_is_written(depth: int, tmp_path: Path) -> None:
    prove(depth, tmp_path)


@pytest.mark.long
def test_a_queue_that_reads_when_empty_would_break_it(tmp_path: Path) -> None:
    with pytest.raises(
        ToolError, match=r"^yosys failed on queue with status 1: ERROR: Called with -verify and proof did fail!$"
    ):
        prove(4, tmp_path, reads_when_empty=True)


@pytest.mark.long
@pytest.mark.parametrize("kind", KERNEL_NAMES, ids=KERNEL_NAMES.get)
def test_every_memory_of_a_kernel_is_a_queues(kind: type, tmp_path: Path) -> None:
    text = kernel_verilog(kind, PRESETS["hc2"])
    (tmp_path / "kernel.v").write_text(text)
    memories = re.findall(r"^  reg \[\d+:0\] (\S+) \[\d+:0\];$", text, re.MULTILINE)
    assert memories == ["storage"] * (5 if KERNEL_NAMES[kind] == "bfs_kernel" else 7)
    selections = ("m:* a:no_rw_check %i", "*fifo.fifo/m:storage")
    script = "; ".join(["read_verilog kernel.v", *(f"select -assert-count {len(memories)} {s}" for s in selections)])
    run_yosys(f"{script}\n", folder=tmp_path, log="kernel")


def test_no_other_memory_is_said_to_be_one() -> None:
    text = application_engine_verilog(PRESETS["hc2"])
    assert re.findall(r"^  reg \[\d+:0\] (\S+) \[\d+:0\];$", text, re.MULTILINE) == ["registers"]
    assert "no_rw_check" not in text
