"""The question of the page for developers works, and notebooks give the outputs that are kept in them."""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

import cyscc
from cyscc.host.command_line.commands import COMMANDS
from cyscc.host.command_line.main import main
from docs.executed import FORMS, NOTEBOOKS, lasting, outputs_of

ROOT = Path(__file__).resolve().parents[3]
GRAPH = "1 2\n1 3\n1 4\n2 1\n"


@pytest.fixture
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


@pytest.mark.usefixtures("question")
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


@pytest.mark.usefixtures("question")
def test_function_and_help(capfd: pytest.CaptureFixture[str]) -> None:
    answer = cyscc.degrees("g.txt", least=2)
    assert answer.degrees["degree"].tolist() == [3]
    assert "<table>" in answer._repr_html_()
    assert main(["degrees", "--help"]) == 0
    assert "Count the vertices of each out-degree." in capfd.readouterr().out
    assert main(["degrees", "g.txt", "--least", "-1"]) == 2
    assert capfd.readouterr().err == "cyscc degrees: argument --least: must be at least 0, not -1\n"


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a-run-and-its-record", "two-memories"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_kept(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """After an intended change, `make notebooks` writes them again."""
    monkeypatch.chdir(tmp_path)  # they change it
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    kept = [dict(output.data) for cell in notebook.cells for output in cell.get("outputs", ())]
    found = outputs_of(notebook)
    assert len(found) == len(kept)
    for place, (own, theirs) in enumerate(zip(found, kept, strict=True)):
        assert {form: lasting(text) for form, text in own.items()} == {
            form: lasting(text) for form, text in theirs.items()
        }, f"output {place} of {path.name}"
    # What a viewer without scripts shows; small enough for one that reads all of it.
    assert {form for output in kept for form in output} == set(FORMS)
    assert path.stat().st_size < 300_000
    assert capfd.readouterr() == ("", "")
