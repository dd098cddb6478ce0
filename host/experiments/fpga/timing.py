"""Clocks of an AE's components, each synthesised behind registers, placed and routed for an ECP5."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import msgspec

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.fpga import tools
from cyscc.host.experiments.fpga.modules import ports_of
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Measured
from cyscc.host.experiments.sheets import sheet_of
from cyscc.host.output.files import open_output
from cyscc.host.output.text import count_text
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.verilog import KERNEL_NAMES, SLICE_NAMES, kernel_verilog, shell_verilog, slice_kinds, slice_verilog

_UNTIMED = ("clk", "rst")
"""Clock and reset, which have networks of their own."""


def harnessed(text: str, *, top: str, name: str) -> str:
    """Return Verilog with an additional module that instantiates a component behind a register for each input bit.

    Timing reports leave out paths that begin at an input without a register. In a machine, these inputs come from
    registers of a neighbour.

    Parameters
    ----------
    text : str
        Verilog of the component. Ports must be declared in the body of its module.
    top : str
        Module of the component; also the name of its instance.
    name : str
        Name of the new module, which has the same ports.

    Raises
    ------
    ToolError
        The module or its ports are not found.
    """
    ports = ports_of(text, top)
    if not ports:
        raise tools.ToolError(f"the Verilog has no module {top!r} with ports")
    lines = [f"module {name} ({', '.join(port for _, _, port in ports)});"]
    inside = []
    for direction, width, port in ports:
        bits = f"[{width - 1}:0] "
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
        Both ends: kind and source name.
    luts : int
        LUTs on the path, including those of wide functions with their multiplexers.
    carries : int
        Carry chains on the path, of any length.
    launch : float
        Clock-to-output time of the start, in ns.
    logic : float
        Delay of LUTs and carry chains, and set-up time of the end, in ns.
    routing : tuple of float
        Delay of each wire, in ns.
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
        """Delay of all wires in ns."""
        return sum(self.routing)

    @property
    def total(self) -> float:
        """Delay of the path in ns."""
        return self.launch + self.logic + self.wires

    def words(self) -> str:
        """Return the path as a sentence without a full stop."""
        counts = ((self.luts, "LUT"), (self.carries, "carry chain"))
        cells = [count_text(count, name) for count, name in counts if count]
        way = f"through {' and '.join(cells)}" if cells else "straight"
        inside = self.total - self.wires
        return (
            f"from {self.start} ({self.launch:.2f} ns from the clock to its output) {way} to {self.end}: "
            f"{self.total:.2f} ns, {inside:.2f} of them in cells ({inside / self.total:.0%}) and {self.wires:.2f} "
            f"in wires ({self.wires / self.total:.0%}), the longest of {max(self.routing, default=0.0):.2f}"
        )

    def document(self) -> dict[str, Any]:
        """Return the path as a JSON document, with times in ns."""
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
    """Result of one run of placement and routing.

    Parameters
    ----------
    seed : int
        Seed of the placement.
    fmax : float
        Highest clock in MHz.
    path : CriticalPath
        The critical path.
    cells : mapping of str to int
        Number of cells by kind, without kinds that are not used.
    """

    seed: int
    fmax: float
    path: CriticalPath
    cells: Mapping[str, int]


_MEMORY_INPUTS = {"AD": "address", "CE": "enable", "DI": "data", "WE": "write enable"}
_REGISTER_INPUTS = {"CE": " (its enable)", "LSR": " (its reset)"}


def _place(cell: str, port: str) -> str:
    """Return kind and source name of a path's end, with the input unless it is a register's data.

    Yosys names a register after the signal that it drives. It names each block of a memory after the memory, with the
    block's row and column.
    """
    name, found, _ = cell.partition("_TRELLIS_FF_")
    if found:
        return f"register {name}{_REGISTER_INPUTS.get(port, '')}"
    if match := re.fullmatch(r"(.+?)\.\d+\.\d+(\$.*)?", cell):
        which = _MEMORY_INPUTS.get(port[:2])
        return f"memory {match[1]}" + (f" (its {which})" if which else "")
    return f"cell {cell}"


def _path(steps: Sequence[Mapping[str, Any]]) -> CriticalPath:
    delays = [(step["type"], float(step["delay"])) for step in steps]
    # A carry chain counts once, where it is entered; wires inside a slice, between carries, have no delay.
    logic = [(step["from"]["port"], step["to"]["port"]) for step in steps if step["type"] == "logic"]
    ends = [sink for source, sink in logic if source != "FCI"]
    first, last = steps[0]["from"], steps[-1]["to"]
    return CriticalPath(
        start=_place(first["cell"], first["port"]),
        end=_place(last["cell"], last["port"]),
        luts=sum(sink != "FCO" for sink in ends),
        carries=ends.count("FCO"),
        launch=sum(delay for kind, delay in delays if kind == "clk-to-q"),
        logic=sum(delay for kind, delay in delays if kind not in ("clk-to-q", "routing")),
        routing=tuple(delay for kind, delay in delays if kind == "routing" and delay),
    )


def read_report(path: Path, *, seed: int) -> Routed:
    """Read the result in a report of nextpnr.

    Parameters
    ----------
    path : Path
        The report, JSON.
    seed : int
        The seed of the run.

    Raises
    ------
    ToolError
        The file is no such report, or has no path of the clock ``clk``.
    """
    try:
        report = json.loads(path.read_text())
        paths = [one["path"] for one in report["critical_paths"] if (one["from"], one["to"]) == (_CLOCK, _CLOCK)]
        if not paths:
            raise tools.ToolError(f"{path.name}: no path from {_CLOCK!r} to {_CLOCK!r}")
        return Routed(
            seed=seed,
            fmax=float(report["fmax"]["clk"]["achieved"]),
            path=_path(paths[0]),
            cells={name: int(cell["used"]) for name, cell in report["utilization"].items() if cell["used"]},
        )
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise tools.ToolError(f"{path.name}: not a report of nextpnr: {type(error).__name__}: {error}") from None


_HARNESS = "harness"

COMPONENTS: dict[str, Callable[[AcceleratorConfig], str]] = {
    **{name: partial(kernel_verilog, kind) for kind, name in KERNEL_NAMES.items()},
    "shell": shell_verilog,
    **{name: partial(slice_verilog, kind) for kind, name in SLICE_NAMES.items()},
}
"""Components to place and route, by module name, with the functions that write their Verilog."""


def components_of(config: AcceleratorConfig) -> tuple[str, ...]:
    """Return which of `COMPONENTS` a machine has."""
    there = {*KERNEL_NAMES.values(), "shell", *(SLICE_NAMES[kind] for kind in slice_kinds(config))}
    return tuple(name for name in COMPONENTS if name in there)


class _Netlist(TypedDict):
    netlist: str


@dataclass(frozen=True, kw_only=True)
class NetlistRequest(tools.ToolRequest):
    """A synthesis of a component for an ECP5, behind registers (`harnessed`).

    Parameters
    ----------
    name : str
        Key of `COMPONENTS`.
    text : str
        Its Verilog.
    folder : Path
        Folder for Verilog, netlist and log.
    """

    tool: ClassVar[str] = tools.YOSYS
    kind: ClassVar[Any] = _Netlist

    name: str
    text: str

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.name} for ECP5"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Synthesise the component and return its ``netlist`` as text. There is nothing to verify."""
        name = self.name
        (self.folder / f"{name}.v").write_text(harnessed(self.text, top=name, name=_HARNESS))
        script = f"read_verilog {name}.v\nsynth_ecp5 -top {_HARNESS} -json {name}.json\n"
        tools.run_yosys(script, folder=self.folder, log=name)
        return {"netlist": (self.folder / f"{name}.json").read_text()}


@dataclass(frozen=True, kw_only=True)
class RouteRequest(tools.ToolRequest):
    """A placement and routing of a component on an ECP5-85k of speed grade 8, out of context.

    Parameters
    ----------
    name : str
        Key of `COMPONENTS`.
    netlist : str
        The netlist that a `NetlistRequest` returned.
    seed : int
        Seed of the placement.
    clock_mhz : float
        Target clock of placement and routing.
    folder : Path
        Folder for netlist, report and log.
    """

    tool: ClassVar[str] = tools.NEXTPNR
    kind: ClassVar[Any] = Routed

    name: str
    netlist: str
    seed: int
    clock_mhz: float

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.name}, seed {self.seed}"

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Place and route the component and return the fields of `Routed`. There is nothing to verify."""
        # Runs with other seeds read the same netlist.
        with open_output(str(self.folder / f"{self.name}.json")) as file:
            file.write(self.netlist.encode())
        run = f"{self.name}.{self.seed}"
        arguments = ["--85k", "--package", "CABGA381", "--speed", "8", "--out-of-context", "--timing-allow-fail"]
        arguments += ["--freq", f"{self.clock_mhz:g}", "--seed", str(self.seed)]
        arguments += ["--json", f"{self.name}.json", "--report", f"{run}.report.json"]
        tools.run_tool(self.tool, arguments, folder=self.folder, log=run)
        return asdict(read_report(self.folder / f"{run}.report.json", seed=self.seed))

    def check(self, result: Measured) -> None:
        """Check that a stored result is one of this measurement: a path that takes time."""
        super().check(result)
        if not 0 < msgspec.convert(result, Routed).path.total < inf:
            raise ValueError("its path takes no time")

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{msgspec.convert(result, Routed).fmax:.1f} MHz"


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Results of placing and routing a component with several seeds.

    Parameters
    ----------
    name : str
        Name of the component.
    clock_mhz : float
        Required clock.
    runs : tuple of Routed
        Results, one per seed.
    """

    name: str
    clock_mhz: float
    runs: tuple[Routed, ...]

    @property
    def median(self) -> Routed:
        """The median run by clock; the slower one of two."""
        return sorted(self.runs, key=lambda run: run.fmax)[(len(self.runs) - 1) // 2]

    @property
    def best(self) -> Routed:
        """The fastest run."""
        return max(self.runs, key=lambda run: run.fmax)

    @property
    def met(self) -> bool:
        """Whether the median reaches the required clock."""
        return self.median.fmax >= self.clock_mhz


def measure(
    measurements: Plan, config: AcceleratorConfig, *, names: Sequence[str], seeds: int, folder: Path
) -> tuple[Timing, ...]:
    """Synthesise components for an ECP5, once each, then place and route each with several seeds.

    Registers are added in front of the inputs of each (`harnessed`) and count in the results.

    Parameters
    ----------
    measurements : Plan
        Performs the measurements.
    config : AcceleratorConfig
        The machine, whose clock is the target.
    names : sequence of str
        Keys of `COMPONENTS`.
    seeds : int
        Number of seeds; they are 1, 2, and so on.
    folder : Path
        Folder for Verilog, netlists, reports and logs.

    Raises
    ------
    SimulationError
        A tool is missing or failed, or its output is not understood.
    """
    netlists = {name: NetlistRequest(name=name, text=COMPONENTS[name](config), folder=folder) for name in names}
    made = measurements.measure(netlists.values())
    runs = {
        name: [
            RouteRequest(
                name=name, netlist=made[request]["netlist"], seed=seed, clock_mhz=config.clock_mhz, folder=folder
            )
            for seed in range(1, seeds + 1)
        ]
        for name, request in netlists.items()
    }
    routed = measurements.measure(run for each in runs.values() for run in each)
    return tuple(
        Timing(name=name, clock_mhz=config.clock_mhz, runs=tuple(msgspec.convert(routed[run], Routed) for run in each))
        for name, each in runs.items()
    )


def timing_answer(timings: Sequence[Timing], *, name: str) -> Answer:
    """Return the clocks; the answer is a failure if a median is below the configuration's.

    Parameters
    ----------
    timings : sequence of Timing
        The components.
    name : str
        Name or file of the configuration.
    """
    clock = f"{timings[0].clock_mhz:g} MHz"
    slow = ", ".join(f"{one.name} ({one.median.fmax:.1f} MHz)" for one in timings if not one.met)
    document: dict[str, Any] = {
        "yosys": tools.version(tools.YOSYS),
        "nextpnr": tools.version(tools.NEXTPNR),
        "config": name,
        "device": "ECP5-85k, speed grade 8, out of context",
        "clock_mhz": timings[0].clock_mhz,
        "components": [
            {
                "name": timing.name,
                "median_mhz": round(timing.median.fmax, 2),
                "best_mhz": round(timing.best.fmax, 2),
                "seeds": ", ".join(f"{run.fmax:.1f}" for run in timing.runs),
                "met": timing.met,
                "median_seed": timing.median.seed,
                "cells": dict(timing.median.cells),
                "runs": [
                    {"seed": run.seed, "mhz": round(run.fmax, 2), "path": run.path.document()} for run in timing.runs
                ],
            }
            for timing in timings
        ],
    }
    rows = [{**each, "met": "met" if each["met"] else "not met"} for each in document["components"]]
    paths = "\n".join(f"  {one.name}, seed {one.median.seed}: {one.median.path.words()}." for one in timings)
    return sheet_of("timing").answer(
        {"config": name, "clock": clock},
        {"components": rows},
        said=[f"Critical path of the median run:\n{paths}"],
        fields=document,
        failure=f"median below {clock}: {slow}" if slow else "",
    )
