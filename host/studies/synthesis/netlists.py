"""Modules synthesised by Yosys, and what they take measured."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from host.measuring.requests import Measured
from host.sources import text_digest
from host.studies.fpga_tools import YOSYS, ToolRequest, run_yosys
from host.studies.synthesis.hierarchy import read_hierarchy
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog

__all__ = ["ENGINE", "ModuleRequest", "engine_requests"]

ENGINE = "application_engine"
"""Module of an AE."""


@dataclass(frozen=True, kw_only=True)
class ModuleRequest(ToolRequest):
    """A module to be synthesised, its hierarchy kept.

    Nothing is shared or simplified across the borders of its modules, which costs a few LUTs that a flattened netlist
    would not have, and tells what each part takes.

    Parameters
    ----------
    top, text : str
        Its name, and its Verilog with that of its submodules.
    boxes : tuple of (str, str)
        Modules that it instantiates and that are synthesised elsewhere: name and Verilog, of which only the ports
        count, which are in the text too.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlist and log.
    """

    tool: ClassVar[str] = YOSYS

    top: str
    text: str
    boxes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    family: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.top} for {self.family}"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Synthesise it, and return its hierarchy's document. There is nothing to verify.

        Raises
        ------
        ToolError
            Yosys is missing or failed, or wrote what is not understood.
        """
        # Modules of the same name of other machines go to the same folder.
        name = f"{self.top}.{self.family}.{text_digest(self.text)[:8]}"
        (self.folder / f"{name}.v").write_text(self.text)
        script = []
        for box, verilog in self.boxes:
            (self.folder / f"{name}.{box}.v").write_text(verilog)
            script += [f"read_verilog {name}.{box}.v", f"blackbox {box}"]
        script += [
            f"read_verilog {name}.v",
            f"synth_xilinx -family {self.family} -noiopad -noclkbuf -top {self.top}",
            f"write_json {name}.json",
        ]
        run_yosys("\n".join([*script, ""]), folder=self.folder, log=name)
        return read_hierarchy(self.folder / f"{name}.json", elsewhere=dict(self.boxes)).document()


def engine_requests(config: AcceleratorConfig, *, family: str, folder: Path) -> list[ModuleRequest]:
    """Return the modules whose hierarchies together are that of an AE: the AE itself, and each kind of kernel.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine whose AE it is.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlists and logs.
    """
    kernels = tuple((name, kernel_verilog(kind, config)) for kind, name in KERNEL_NAMES.items())
    return [
        ModuleRequest(top=ENGINE, text=application_engine_verilog(config), boxes=kernels, family=family, folder=folder),
        *(ModuleRequest(top=name, text=text, family=family, folder=folder) for name, text in kernels),
    ]
