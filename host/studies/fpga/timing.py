"""The timing report: ``python -m host.studies.fpga.timing``, `make timing`."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.studies.fpga.harness import harnessed
from host.studies.fpga.markdown import table
from host.studies.fpga.options import (
    Parser,
    add_output_options,
    at_least,
    check_outputs,
    configuration,
    ended_by_errors,
    progress,
    work_folder,
    write_report,
)
from host.studies.fpga.paths import Routed, read_report
from host.studies.fpga.tools import NEXTPNR, YOSYS, check_tool, place_and_route, run_yosys, version
from hw.config import AcceleratorConfig
from hw.verilog import KERNEL_NAMES, kernel_verilog, shell_verilog

__all__ = ["COMPONENTS", "Timing", "document", "main", "measure", "report"]

_PROG = "host.studies.fpga.timing"
_TOO_SLOW = 1
_HARNESS = "harness"

COMPONENTS: dict[str, Callable[[AcceleratorConfig], str]] = {
    **{
        name: lambda config, kind=kind: kernel_verilog(kind, config)  # type: ignore[misc]  # the default binds the kind
        for kind, name in KERNEL_NAMES.items()
    },
    "shell": shell_verilog,
}
"""What is placed and routed, by the name of its module: function that writes its Verilog."""


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
    config: AcceleratorConfig, *, names: Sequence[str], seeds: int, jobs: int, folder: Path
) -> tuple[Timing, ...]:
    """Synthesise components for an ECP5, once each, then place and route each with several seeds.

    Each stands behind registers (`host.studies.fpga.harness`), which are in the figures.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine; the aim is its clock.
    names : sequence of str
        Keys of `COMPONENTS`.
    seeds : int
        How many; they are 1, 2, and so on.
    jobs : int
        Runs at once.
    folder : Path
        For Verilog, netlists, reports and logs.

    Raises
    ------
    ToolError
        A tool is missing or failed, or wrote what is not understood.
    """
    for name in names:
        progress(f"synthesising {name} for ECP5")
        (folder / f"{name}.v").write_text(harnessed(COMPONENTS[name](config), top=name, name=_HARNESS))
        script = (
            f"read_verilog {name}.v",
            f"synth_ecp5 -top {_HARNESS} -json {name}.json",
        )
        run_yosys("\n".join([*script, ""]), folder=folder, log=name)

    def routed(name: str, seed: int) -> Routed:
        progress(f"placing and routing {name}, seed {seed} of {seeds}")
        path = place_and_route(name, seed=seed, clock_mhz=config.clock_mhz, folder=folder)
        return read_report(path, seed=seed)

    with ThreadPoolExecutor(jobs) as pool:
        runs = {name: [pool.submit(routed, name, seed) for seed in range(1, seeds + 1)] for name in names}
        try:
            return tuple(
                Timing(name=name, clock_mhz=config.clock_mhz, runs=tuple(run.result() for run in waiting))
                for name, waiting in runs.items()
            )
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def report(timings: Sequence[Timing], *, name: str) -> str:
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
        + table(head, rows)
        + "\nCritical path of the median run:\n\n"
        + "".join(paths)
    )


def document(timings: Sequence[Timing], *, name: str) -> dict[str, Any]:
    """Return the figures for JSON. The parameters are those of `report`."""
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


def _parser() -> Parser:
    parser = Parser(
        prog=f"python -m {_PROG}",
        description="Place and route the kernels and the engine shell for an ECP5-85k; report the clocks they reach.",
        epilog="exit status: 0 every median reaches the clock, 1 one does not, 2 bad usage, "
        "3 a tool is missing or failed",
        allow_abbrev=False,
    )
    parser.add_argument("--config", default="hc2", metavar="NAME|FILE.toml", help="machine (default: hc2)")
    parser.add_argument("--seeds", default=5, type=at_least(1), metavar="N", help="runs per component (default: 5)")
    parser.add_argument(
        "--component", action="append", choices=tuple(COMPONENTS), help="what to run (default: all); may be repeated"
    )
    parser.add_argument(
        "--jobs",
        default=len(os.sched_getaffinity(0)),
        type=at_least(1),
        metavar="N",
        help="runs at once (default: the cores, %(default)s)",
    )
    add_output_options(parser)
    return parser


def _run(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    check_outputs(arguments)
    config = configuration(arguments.config)
    names = tuple(dict.fromkeys(arguments.component or COMPONENTS))
    for tool in (YOSYS, NEXTPNR):
        check_tool(tool)
    with work_folder(arguments.keep) as folder:
        timings = measure(config, names=names, seeds=arguments.seeds, jobs=arguments.jobs, folder=folder)
    if arguments.json is not None:
        write_report(arguments.json, json.dumps(document(timings, name=arguments.config), indent=2) + "\n")
    write_report(arguments.output, report(timings, name=arguments.config))
    slow = [f"{one.name} ({one.median.fmax:.1f} MHz)" for one in timings if not one.met]
    if slow:
        sys.stderr.write(f"{_PROG}: median below {config.clock_mhz:g} MHz: {', '.join(slow)}\n")
        return _TOO_SLOW
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, those of the process when absent.

    Returns
    -------
    int
        Exit status: 0 every median reaches the clock of the configuration, 1 one does not, 2 bad usage, 3 a tool is
        missing or failed.
    """
    return ended_by_errors(_PROG, lambda: _run(argv))


if __name__ == "__main__":
    sys.exit(main())
