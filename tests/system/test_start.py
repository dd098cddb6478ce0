"""What a run imports when everything that it needs was built and compiled before."""

import subprocess
import sys
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from tests.conftest import ROOT

HEAVY = {"llvmlite", "matplotlib", "numba", "numpy.ma", "numpy.random", "pandas", "pyarrow", "rich", "scipy"}
COMMENTED = "# Directed graph\n1 2 0.5\n2\t1 7\n2 3 1\n"


@pytest.mark.parametrize("command", [["scc"], ["bfs", "--source", "1"]])
def test_a_run_on_a_text_file_imports_little(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text(COMMENTED)
    arguments = [*command, str(tmp_path / "g.txt"), "--config", "test", "--memory", "fixed:9", "--quiet"]
    assert main(arguments) == 0
    code = (
        "import sys; from cyscc.host.command_line.main import main; "
        f"print(main({arguments}), sorted({HEAVY} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("0 []\n", "")
