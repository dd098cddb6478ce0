"""The example notebooks: every cell runs, and their outputs are those that are kept."""

import tempfile
from pathlib import Path

import nbformat
import pytest

from docs.executed import FORMS, NOTEBOOKS, lasting, outputs_of


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
