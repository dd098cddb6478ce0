"""Small netlists and reports, as Yosys and nextpnr write them."""

import json
from pathlib import Path
from typing import Any


def cell(kind: str, **connections: list[int | str]) -> dict[str, Any]:
    """Return a cell of a netlist; a bit is a number, or a string if it is constant."""
    return {"type": kind, "connections": connections}


def module(cells: dict[str, dict[str, Any]], **attributes: str) -> dict[str, Any]:
    """Return a module of a netlist."""
    return {"attributes": attributes, "cells": cells}


def write_netlist(path: Path, modules: dict[str, dict[str, Any]]) -> Path:
    """Write a netlist, with a module of the library of cells as Yosys adds them."""
    library = {"LUT2": module({"inside": cell("$not")}, blackbox="1")}
    path.write_text(json.dumps({"creator": "Yosys", "modules": library | modules}))
    return path


def step(kind: str, delay: float, source: str, sink: str) -> dict[str, Any]:
    """Return a step of a path; its ends are written CELL:PORT."""
    ends = [dict(zip(("cell", "port"), end.rsplit(":", 1), strict=True)) for end in (source, sink)]
    return {"type": kind, "delay": delay, "from": ends[0], "to": ends[1]}


def write_report(path: Path, steps: list[dict[str, Any]], *, fmax: float = 150.0) -> Path:
    """Write a report of nextpnr: a path from an input, which does not count, then the given one."""
    paths = [
        {"from": "async", "to": "posedge clk", "path": [step("routing", 99.0, "in:O", "x_TRELLIS_FF_Q:DI")]},
        {"from": "posedge clk", "to": "posedge clk", "path": steps},
    ]
    used = {"TRELLIS_COMB": {"available": 83640, "used": 7}, "DP16KD": {"available": 208, "used": 0}}
    fmaxes = {"clk": {"achieved": fmax, "constraint": 150}}
    path.write_text(json.dumps({"critical_paths": paths, "fmax": fmaxes, "utilization": used}))
    return path
