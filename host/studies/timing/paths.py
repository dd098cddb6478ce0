"""Reports of nextpnr for the ECP5: clock frequency, and the critical path in words."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.studies.fpga_tools import ToolError

__all__ = ["CriticalPath", "Routed", "read_report"]

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
