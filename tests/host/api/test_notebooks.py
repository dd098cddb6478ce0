"""The example notebooks: every cell runs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[3] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["a-run-and-its-record", "two-memories"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(path, as_version=4)
    # As written: outputs would differ from machine to machine.
    assert [cell for cell in notebook.cells if cell.get("outputs")] == []
    # The kernel is a process of its own, that may not find the project otherwise.
    monkeypatch.setenv("PYTHONPATH", str(path.parents[2]))
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [output.data for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    assert any("simulated" in data.get("text/html", "") for data in shown)
    assert any("<span style" in data.get("text/html", "") for data in shown)
