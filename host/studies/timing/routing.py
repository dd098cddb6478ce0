"""Components of an AE synthesised, placed and routed for an ECP5, and their clocks measured."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar

import msgspec

from host.measuring.requests import Measured
from host.output import open_output
from host.studies.fpga_tools import NEXTPNR, YOSYS, ToolRequest, place_and_route, run_yosys
from host.studies.timing.harness import harnessed
from host.studies.timing.paths import Routed, read_report
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, kernel_verilog, shell_verilog

__all__ = ["COMPONENTS", "NetlistRequest", "RouteRequest"]

_HARNESS = "harness"

COMPONENTS: dict[str, Callable[[AcceleratorConfig], str]] = {
    **{name: partial(kernel_verilog, kind) for kind, name in KERNEL_NAMES.items()},
    "shell": shell_verilog,
}
"""What is placed and routed, by the name of its module: function that writes its Verilog."""


@dataclass(frozen=True, kw_only=True)
class NetlistRequest(ToolRequest):
    """A component to be synthesised for an ECP5, behind registers (`host.studies.timing.harness`).

    Parameters
    ----------
    name : str
        Key of `COMPONENTS`.
    text : str
        Its Verilog.
    folder : Path
        For Verilog, netlist and log.
    """

    tool: ClassVar[str] = YOSYS

    name: str
    text: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.name} for ECP5"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Synthesise it, and return the text of its ``netlist``. There is nothing to verify."""
        name = self.name
        (self.folder / f"{name}.v").write_text(harnessed(self.text, top=name, name=_HARNESS))
        script = f"read_verilog {name}.v\nsynth_ecp5 -top {_HARNESS} -json {name}.json\n"
        run_yosys(script, folder=self.folder, log=name)
        return {"netlist": (self.folder / f"{name}.json").read_text()}


@dataclass(frozen=True, kw_only=True)
class RouteRequest(ToolRequest):
    """A component to be placed and routed.

    Parameters
    ----------
    name : str
        Key of `COMPONENTS`.
    netlist : str
        What a `NetlistRequest` gave.
    seed : int
        Seed of the placement.
    clock_mhz : float
        Clock that the placement and routing aim at.
    folder : Path
        For netlist, report and log.
    """

    tool: ClassVar[str] = NEXTPNR

    name: str
    netlist: str
    seed: int
    clock_mhz: float

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.name}, seed {self.seed}"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Place and route it, and return what `Routed` holds. There is nothing to verify."""
        # Runs with other seeds read the same file.
        with open_output(str(self.folder / f"{self.name}.json")) as file:
            file.write(self.netlist.encode())
        path = place_and_route(self.name, seed=self.seed, clock_mhz=self.clock_mhz, folder=self.folder)
        return asdict(read_report(path, seed=self.seed))

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{msgspec.convert(result, Routed).fmax:.1f} MHz"
