"""`cyscc report`: its messages and files."""

import os
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.record.reader import Record
from tests.record.synthetic import Shape, write_record


@pytest.fixture(autouse=True)
def record(folder: Path) -> None:
    write_record(folder / "one", Shape(levels=(60, 90)))


def test_quiet_and_standard_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "one", "one", "-o", "page.html", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert main(["report", "one", "one", "-o", "-"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out == (folder / "page.html").read_text()


def test_names_that_are_not_utf_8_are_escaped(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"\xff")
    (folder / "one").rename(folder / name)
    assert main(["report", name, "-o", f"{name}.html", "--trace", f"{name}.pftrace"]) == 0
    assert capfd.readouterr().err == ""
    assert "\\udcff" in (folder / f"{name}.html").read_text()


def test_a_trace_needs_no_page(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "one", "--trace", "run.pftrace"]) == 0
    total = Record(folder / "one").cycles
    assert capfd.readouterr() == (f"run.pftrace: trace of {total:,} cycles\n", "")
    assert (folder / "run.pftrace").stat().st_size > 1000
