"""The timing report: the clocks that components of an AE reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from host.measuring.measurements import Measurements
from host.results.table_text import markdown_table
from host.studies.fpga.routing import COMPONENTS, NetlistRequest, Routed, RouteRequest
from host.studies.fpga.tools import NEXTPNR, YOSYS, check_tool, version
from host.studies.study import Report
from hw.config import AcceleratorConfig

__all__ = ["Timing", "document", "markdown", "measure", "timing_report"]


@dataclass(frozen=True, kw_only=True)
class Timing:
    """What several runs of placement and routing of one component gave.

    Parameters
    ----------
    name : str
        The component.
    clock_mhz : float
        Clock that it must reach.
    runs : tuple of Routed
        One per seed.
    """

    name: str
    clock_mhz: float
    runs: tuple[Routed, ...]

    @property
    def median(self) -> Routed:
        """The run in the middle; of two the slower one."""
        return sorted(self.runs, key=lambda run: run.fmax)[(len(self.runs) - 1) // 2]

    @property
    def best(self) -> Routed:
        """The fastest run."""
        return max(self.runs, key=lambda run: run.fmax)

    @property
    def met(self) -> bool:
        """Whether the median reaches the clock."""
        return self.median.fmax >= self.clock_mhz


def measure(
    measurements: Measurements, config: AcceleratorConfig, *, names: Sequence[str], seeds: int, folder: Path
) -> tuple[Timing, ...]:
    """Synthesise components for an ECP5, once each, then place and route each with several seeds.

    Each stands behind registers (`host.studies.fpga.routing`), which are in the figures.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    config : AcceleratorConfig
        The machine; the aim is its clock.
    names : sequence of str
        Keys of `COMPONENTS`.
    seeds : int
        How many; they are 1, 2, and so on.
    folder : Path
        For Verilog, netlists, reports and logs.

    Raises
    ------
    SimulationError
        A tool is missing or failed, or wrote what is not understood.
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


def timing_report(
    measurements: Measurements,
    config: AcceleratorConfig,
    *,
    name: str,
    names: Sequence[str],
    seeds: int,
    folder: Path,
) -> Report:
    """Measure clocks and report them; a median below the clock of the configuration is a failure.

    Parameters
    ----------
    name : str
        Name or file of the configuration.
    measurements, config, names, seeds, folder
        As of `measure`.

    Raises
    ------
    SimulationError
        A tool is missing or failed, or wrote what is not understood.
    """
    for tool in (YOSYS, NEXTPNR):
        check_tool(tool)
    timings = measure(measurements, config, names=names, seeds=seeds, folder=folder)
    slow = ", ".join(f"{one.name} ({one.median.fmax:.1f} MHz)" for one in timings if not one.met)
    return Report(
        document=document(timings, name=name),
        markdown=markdown(timings, name=name),
        failure=f"median below {config.clock_mhz:g} MHz: {slow}" if slow else "",
    )


def markdown(timings: Sequence[Timing], *, name: str) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    timings : sequence of Timing
        The components.
    name : str
        Name or file of the configuration.
    """
    rows = []
    for timing in timings:
        cells = timing.median.cells
        rows.append(
            [
                timing.name,
                f"{timing.median.fmax:.1f}",
                f"{timing.best.fmax:.1f}",
                ", ".join(f"{run.fmax:.1f}" for run in timing.runs),
                *(f"{cells.get(kind, 0):,}" for kind in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD")),
                "met" if timing.met else "not met",
            ]
        )
    clock = timings[0].clock_mhz
    head = ("component", "median (MHz)", "best", "each seed", "LUT4", "registers", "block RAM", f"{clock:g} MHz")
    paths = [f"- {one.name}, seed {one.median.seed}: {one.median.path.words()}.\n" for one in timings]
    return (
        f"## Timing of {name} on an ECP5-85k of speed grade 8\n\n"
        + markdown_table(head, rows)
        + "\nCritical path of the median run:\n\n"
        + "".join(paths)
    )


def document(timings: Sequence[Timing], *, name: str) -> dict[str, Any]:
    """Return the figures for JSON. The parameters are those of `markdown`."""
    return {
        "yosys": version(YOSYS),
        "nextpnr": version(NEXTPNR),
        "config": name,
        "device": "ECP5-85k, speed grade 8, out of context",
        "clock_mhz": timings[0].clock_mhz,
        "components": [
            {
                "name": timing.name,
                "median_mhz": round(timing.median.fmax, 2),
                "best_mhz": round(timing.best.fmax, 2),
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
