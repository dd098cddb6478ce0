"""The question that the page for developers shows: one file and a line, and it is a command, a function and a page."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import cyscc
from cyscc.host.command_line.commands import COMMANDS
from cyscc.host.command_line.main import main

ROOT = Path(__file__).resolve().parents[3]
GRAPH = "1 2\n1 3\n1 4\n2 1\n"


@pytest.fixture(autouse=True)
def question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the page's example to the project."""
    page = (ROOT / "docs" / "developing.md").read_text()
    found = re.search(r"<!-- file: degrees.py -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    module = ModuleType("cyscc.host.interface.degrees")
    exec(compile(found[1], "degrees.py", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(COMMANDS, "degrees", "interface.degrees")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text(GRAPH)
    yield
    vars(cyscc).pop("degrees", None)


def test_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    outputs = ("--json", "a.json", "--markdown", "a.md", "--page", "a.html", "--plot", "a.svg")
    assert main(["degrees", "g.txt", "--least", "1", *outputs]) == 0
    assert capfd.readouterr() == (
        "g.txt: 4 vertices, 4 edges\n"
        "\n"
        "out-degrees\n"
        "  degree  vertices  of all edges\n"
        "       1         1         25.0%\n"
        "       3         1         75.0%\n"
        "\n"
        "2 vertices have an out-degree of 1 or more.\n"
        "The largest is 3, the mean 1.0.\n",
        "",
    )
    document = json.loads((tmp_path / "a.json").read_text())
    assert (document["least"], document["degrees"][1]) == (1, {"degree": 3, "vertices": 1, "share": 0.75})
    assert (tmp_path / "a.md").read_text().startswith("# g.txt: 4 vertices, 4 edges\n")
    assert "<svg" in (tmp_path / "a.html").read_text()
    assert "out-degree" in (tmp_path / "a.svg").read_text()


def test_function_and_help(capfd: pytest.CaptureFixture[str]) -> None:
    answer = cyscc.degrees("g.txt", least=2)
    assert answer.degrees["degree"].tolist() == [3]
    assert "<table>" in answer._repr_html_()
    assert main(["degrees", "--help"]) == 0
    assert "Count the vertices of each out-degree." in capfd.readouterr().out
    assert main(["degrees", "g.txt", "--least", "-1"]) == 2
    assert capfd.readouterr().err == "cyscc degrees: argument --least: must be at least 0, not -1\n"
