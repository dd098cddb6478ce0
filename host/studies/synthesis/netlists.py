"""Modules synthesised by Yosys, and what they take measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host.measuring.requests import Measured, Request
from host.measuring.sources import digest_beside, text_digest
from host.measuring.store import measurement_digest
from host.studies.fpga_tools import YOSYS, run_yosys, version
from host.studies.synthesis.hierarchy import Hierarchy, read_hierarchy
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, application_engine_verilog, kernel_verilog

__all__ = ["ENGINE", "ModuleRequest", "engine_requests", "synthesise"]

ENGINE = "application_engine"
"""Module of an AE."""


def synthesise(
    top: str, text: str, *, family: str, folder: Path, name: str, boxes: Mapping[str, str] | None = None
) -> Hierarchy:
    """Synthesise a module, its hierarchy kept.

    Nothing is shared or simplified across the borders of its modules, which costs a few LUTs that a flattened netlist
    would not have, and tells what each part takes.

    Parameters
    ----------
    top : str
        The module.
    text : str
        Its Verilog, with that of its submodules.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlist and log.
    name : str
        Name of those files.
    boxes : mapping of str to str, optional
        Modules that it instantiates and that are synthesised elsewhere: name and Verilog.

    Raises
    ------
    ToolError
        Yosys is missing or failed, or wrote what is not understood.
    """
    boxes = boxes or {}
    (folder / f"{name}.v").write_text(text)
    script = []
    for box, verilog in boxes.items():
        (folder / f"{name}.{box}.v").write_text(verilog)
        script += [f"read_verilog {name}.{box}.v", f"blackbox {box}"]
    script += [
        f"read_verilog {name}.v",
        f"synth_xilinx -family {family} -noiopad -noclkbuf -top {top}",
        f"write_json {name}.json",
    ]
    run_yosys("\n".join([*script, ""]), folder=folder, log=name)
    return read_hierarchy(folder / f"{name}.json", elsewhere=boxes)


@dataclass(frozen=True, kw_only=True)
class ModuleRequest(Request):
    """A module to be synthesised.

    Parameters
    ----------
    top, text : str
        Its name and its Verilog.
    boxes : tuple of (str, str)
        Modules that it instantiates and that are synthesised elsewhere: name and Verilog, of which only the ports
        count. They are in the text too.
    family : str
        ``xc5v`` or ``xc6v``.
    folder : Path
        For Verilog, netlist and log.
    """

    graph: None = None
    top: str
    text: str
    boxes: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    family: str
    folder: Path

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.top} for {self.family}"

    @property
    def bytes(self) -> int:
        """Memory that it takes at most, about."""
        return 1 << 30

    def inputs(self) -> dict[str, Any]:
        """Return everything that its result depends on, JSON-able."""
        return {
            "measurement": "synthesis",
            "top": self.top,
            "verilog": text_digest(self.text),
            "family": self.family,
            "yosys": version(YOSYS),
            "sources": digest_beside(__file__),
        }

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Synthesise it, and return its hierarchy's document. There is nothing to verify."""
        # Modules of the same name of other machines go to the same folder.
        name = f"{self.top}.{self.family}.{measurement_digest(self.inputs())[:8]}"
        hierarchy = synthesise(
            self.top, self.text, family=self.family, folder=self.folder, name=name, boxes=dict(self.boxes)
        )
        return hierarchy.document()

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{sum(own['luts'] for own in result['own'].values()):,} LUTs"


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
