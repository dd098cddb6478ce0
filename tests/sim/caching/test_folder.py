"""The cache is the user's own folder, or a temporary one where that cannot be had or must not be trusted."""

import fcntl
import os
from pathlib import Path

import pytest

from cyscc.sim.caching.folder import cache_directory, remove_temporary_cache, usable_cache


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the cache, which is not there; temporary ones are beside it."""
    monkeypatch.setenv("CYSCC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache"


def test_it_is_made_for_its_owner_alone(folder: Path) -> None:
    assert usable_cache() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def _others_may_write(folder: Path) -> str:
    folder.mkdir()
    folder.chmod(0o777)
    return "others may write it (mode 777; chmod go-w mends that)"


def _of_another(folder: Path) -> str:
    if os.geteuid():
        pytest.skip("only root may give folders away")
    folder.mkdir()
    os.chown(folder, 12345, -1)
    return "it belongs to another user (12345)"


def _a_file(folder: Path) -> str:
    folder.touch()
    return "File exists"


@pytest.mark.parametrize("spoil", [_others_may_write, _of_another, _a_file])
def test_what_must_not_be_trusted_is_left_alone(spoil: object, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert callable(spoil)
    reason = spoil(folder)
    cache = usable_cache()
    assert cache != folder
    assert cache.stat().st_mode & 0o777 == 0o700
    assert usable_cache() == cache_directory() == cache
    assert capfd.readouterr().err == (
        f"cyscc: {folder}: {reason}: a temporary cache is used; CYSCC_CACHE names another folder\n"
    )
    remove_temporary_cache()
    assert not cache.exists()


def test_user_without_a_home(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CYSCC_CACHE", "")
    monkeypatch.setattr("cyscc.sim.caching.folder.user_cache_path", lambda name: Path("~/.cache", name))
    assert usable_cache().is_absolute()
    assert capfd.readouterr().err.startswith("cyscc: ~/.cache/cyscc: the user has no home: a temporary cache is used")
    remove_temporary_cache()


def test_temporary_caches_of_processes_that_are_gone_are_removed(folder: Path) -> None:
    left, held = folder.with_name("cyscc-cache-left"), folder.with_name("cyscc-cache-held")
    for cache in (left, held):
        cache.mkdir()
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    folder.touch()
    usable_cache()
    assert (left.exists(), held.exists()) == (False, True)
    os.close(descriptor)
    remove_temporary_cache()
