"""`cyscc report`: its messages, and refusals."""

import os
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.record.reader import Record
from tests.record.synthetic import Shape, write_record


@pytest.fixture(autouse=True)
def record(folder: Path) -> None:
    write_record(folder / "one", Shape(levels=(60, 90)))


def test_a_page_is_written(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "one", "-o", "page.html"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    size = (folder / "page.html").stat().st_size
    assert out == f"page.html: 1 run, {size / 1e6:.1f} MB\n"
    assert (folder / "page.html").read_text().startswith("<!DOCTYPE html>")


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none", "-o", "page.html"], "none: holds no complete record: there is no record.json"),
        (["one", "empty", "-o", "page.html"], "empty: holds no complete record: there is no record.json"),
        (["broken", "-o", "page.html"], "broken/kernels.parquet: "),
        (["one", "-o", "none/page.html"], "none/page.html: its directory does not exist (-o)"),
        (["one", "-o", "one"], "one: is a directory (-o)"),
        (["one"], "nothing is to be written: name a page (-o), a trace (--trace), or both"),
        (["one", "one", "--trace", "run.pftrace"], "--trace is of one run, and there are 2"),
        (["one", "--trace", "run.json"], "run.json: a trace is .pftrace or .perfetto-trace, not '.json'"),
        (["-o", "page.html"], "the following arguments are required: DIR"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    write_record(folder / "broken", Shape(levels=(60,)))
    (folder / "broken" / "kernels.parquet").write_bytes(b"nothing")
    assert main(["report", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"cyscc report: {message}")
    assert err.count("\n") == 1
    assert not (folder / "page.html").exists()
