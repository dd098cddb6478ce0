"""`cyscc cache` lists, checks and removes cached files."""

import json
import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.sim.caching.libraries import AREA_FOLDER, publish_library

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache of two libraries."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("CYSCC_CACHE", str(folder))
    for number in range(2):
        built = folder / "built"
        built.write_bytes(b"x" * 200_000)
        library = folder / f"machine-{number:016x}-{0:08x}.so"
        publish_library(built, library, {"configuration": {"name": f"own{number}"}})
    return folder


def test_list_and_check(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "--json", "cache.json"]) == 0
    summary, _, _, head, *rows = capfd.readouterr().out.splitlines()
    assert head.split() == ["name", "configuration", "state", "MB", "last", "used"]
    assert sorted(row.split()[1:4] for row in rows) == [["own0", "ok", "0.2"], ["own1", "ok", "0.2"]]
    assert summary == f"{cache}: 2 entries, 0.4 MB"
    document = json.loads(Path("cache.json").read_text())
    assert [entry["state"] for entry in document["entries"]] == ["ok", "ok"]
    next(cache.glob("*.so")).write_bytes(b"y" * 200_000)
    assert main(["cache", "check", "--quiet"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"cyscc cache: {cache}: 1 entry of 2 damaged: machine-")


def test_evict_and_clear(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "evict", "--limit", "300k"]) == 0
    assert capfd.readouterr().out.startswith(f"{cache}: 1 entry, 0.2 MB, removed\n")
    assert len(list(cache.glob("*.so"))) == 1
    assert main(["cache", "clear", "--quiet"]) == 0
    assert list(cache.iterdir()) == []


def test_cache_that_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "file"))
    assert main(["cache"]) == 2
    assert capfd.readouterr().err == f"cyscc cache: {tmp_path / 'file'}: Not a directory\n"
    monkeypatch.setattr("cyscc.sim.caching.folder.cache_directory", lambda: Path("~/.cache/cyscc"))
    assert main(["cache", "clear"]) == 2
    assert capfd.readouterr().err == "cyscc cache: the user has no home: CYSCC_CACHE names a folder\n"


def test_syntheses_are_one_entry(cache: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (cache / AREA_FOLDER).mkdir()
    (cache / AREA_FOLDER / "some.json").write_bytes(b"x" * 100_000)
    assert main(["cache"]) == 0
    summary, *_ = capfd.readouterr().out.splitlines()
    assert summary == f"{cache}: 3 entries, 0.5 MB"
    os.utime(cache / AREA_FOLDER, (1, 1))
    assert main(["cache", "evict", "--limit", "400k", "--quiet"]) == 0
    assert not (cache / AREA_FOLDER).exists(), "they were used long ago"


def test_times_are_local(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-2")
    time.tzset()
    try:
        entries = cyscc.cache().entries
    finally:
        monkeypatch.undo()
        time.tzset()
    zone = timezone(timedelta(hours=2))
    assert entries["last_used"].tolist() == [
        f"{datetime.fromtimestamp(used, zone):%Y-%m-%d %H:%M}" for used in entries["used"]
    ]
