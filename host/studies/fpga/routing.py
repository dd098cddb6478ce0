"""Components of an AE behind registers, synthesised, placed and routed for an ECP5, and their clocks measured."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from host.measuring.requests import Measured
from host.output import open_output
from host.studies.fpga.tools import NEXTPNR, YOSYS, ToolError, ToolRequest, place_and_route, run_yosys
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, kernel_verilog, shell_verilog

__all__ = ["COMPONENTS", "CriticalPath", "NetlistRequest", "RouteRequest", "Routed", "harnessed", "read_report"]

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


_CLOCK = "posedge clk"


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The slowest path between two registers or memories.

    Parameters
    ----------
    start, end : str
        Where it begins and ends: kind and name in the source.
    luts : int
        LUTs on the way, those that make a wide function with their multiplexers included.
    carries : int
        Carry chains on the way, whatever their length.
    launch : float
        Time from the clock to the output where it starts, in ns.
    logic : float
        Time in LUTs and carry chains, and of the set-up at its end, in ns.
    routing : tuple of float
        Time of each wire, in ns.
    """

    start: str
    end: str
    luts: int
    carries: int
    launch: float
    logic: float
    routing: tuple[float, ...]

    @property
    def wires(self) -> float:
        """Time of all wires in ns."""
        return sum(self.routing)

    @property
    def total(self) -> float:
        """Time of the path in ns."""
        return self.launch + self.logic + self.wires

    def words(self) -> str:
        """Return the path as a sentence without a full stop."""
        counts = ((self.luts, "LUT"), (self.carries, "carry chain"))
        cells = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in counts if count]
        way = f"through {' and '.join(cells)}" if cells else "straight"
        inside = self.total - self.wires
        return (
            f"from {self.start} ({self.launch:.2f} ns from the clock to its output) {way} to {self.end}: "
            f"{self.total:.2f} ns, {inside:.2f} of them in cells ({inside / self.total:.0%}) and {self.wires:.2f} "
            f"in wires ({self.wires / self.total:.0%}), the longest of {max(self.routing, default=0.0):.2f}"
        )

    def document(self) -> dict[str, Any]:
        """Return the path for JSON; times in ns."""
        return {
            "words": self.words(),
            "start": self.start,
            "end": self.end,
            "luts": self.luts,
            "carry_chains": self.carries,
            "total_ns": round(self.total, 3),
            "cells_ns": round(self.total - self.wires, 3),
            "routing_ns": round(self.wires, 3),
        }


@dataclass(frozen=True, kw_only=True)
class Routed:
    """What one run of placement and routing gave.

    Parameters
    ----------
    seed : int
        Its seed.
    fmax : float
        Highest clock in MHz.
    path : CriticalPath
        What limits it.
    cells : mapping of str to int
        Cells of each kind in use, those with none left out.
    """

    seed: int
    fmax: float
    path: CriticalPath
    cells: Mapping[str, int]


_MEMORY_INPUTS = {"AD": "address", "CE": "enable", "DI": "data", "WE": "write enable"}
_REGISTER_INPUTS = {"CE": " (its enable)", "LSR": " (its reset)"}


def _place(cell: str, port: str) -> str:
    """Return kind and source name of a cell at an end of a path, and of the input if it is no register's data.

    Yosys names a register after the signal that it drives, and each block of a memory after the memory and its row and
    column in it.
    """
    name, found, _ = cell.partition("_TRELLIS_FF_")
    if found:
        return f"register {name}{_REGISTER_INPUTS.get(port, '')}"
    if match := re.fullmatch(r"(.+?)\.\d+\.\d+(\$.*)?", cell):
        which = _MEMORY_INPUTS.get(port[:2])
        return f"memory {match[1]}" + (f" (its {which})" if which else "")
    return f"cell {cell}"


def _path(steps: Sequence[Mapping[str, Any]]) -> CriticalPath:
    launch = 0.0
    logic = 0.0
    routing = []
    luts = carries = 0
    for step in steps:
        kind, delay = step["type"], float(step["delay"])
        if kind == "clk-to-q":
            launch = delay
        elif kind == "routing":
            # Wires inside a slice, from carry to carry, take no time.
            if delay:
                routing.append(delay)
        else:
            logic += delay
            source, sink = step["from"]["port"], step["to"]["port"]
            if kind == "logic" and source != "FCI":
                carries += sink == "FCO"
                luts += sink != "FCO"
    first, last = steps[0]["from"], steps[-1]["to"]
    return CriticalPath(
        start=_place(first["cell"], first["port"]),
        end=_place(last["cell"], last["port"]),
        luts=luts,
        carries=carries,
        launch=launch,
        logic=logic,
        routing=tuple(routing),
    )


def read_report(path: Path, *, seed: int) -> Routed:
    """Return what a report of nextpnr says.

    Parameters
    ----------
    path : Path
        The report, JSON.
    seed : int
        The seed of the run.

    Raises
    ------
    ToolError
        The file is not such a report, or has no path of the clock ``clk``.
    """
    try:
        report = json.loads(path.read_text())
        paths = [one["path"] for one in report["critical_paths"] if (one["from"], one["to"]) == (_CLOCK, _CLOCK)]
        if not paths:
            raise ToolError(f"{path.name}: no path from {_CLOCK!r} to {_CLOCK!r}")
        return Routed(
            seed=seed,
            fmax=float(report["fmax"]["clk"]["achieved"]),
            path=_path(paths[0]),
            cells={name: int(cell["used"]) for name, cell in report["utilization"].items() if cell["used"]},
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ToolError(f"{path.name}: not a report of nextpnr: {type(error).__name__}: {error}") from None


_HARNESS = "harness"

COMPONENTS: dict[str, Callable[[AcceleratorConfig], str]] = {
    **{name: partial(kernel_verilog, kind) for kind, name in KERNEL_NAMES.items()},
    "shell": shell_verilog,
}
"""Components that are placed and routed, by the names of their modules: function that writes the Verilog."""


@dataclass(frozen=True, kw_only=True)
class NetlistRequest(ToolRequest):
    """A component to be synthesised for an ECP5, behind registers (`host.studies.fpga.routing`).

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
        """Name in messages."""
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
        """Name in messages."""
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
