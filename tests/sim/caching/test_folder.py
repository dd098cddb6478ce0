"""The folder of the cache, and the libraries in it."""

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from cyscc.sim.caching.folder import (
    cache_directory,
    provide_for_tools,
    remove_temporary_cache,
    usable_cache,
)
from cyscc.sim.caching.libraries import (
    DEFAULT_LIMIT,
    clear,
    description_of,
    entries,
    evict,
    find,
    limit,
    publish_library,
    size_of,
)
from cyscc.sim.notices import _told


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


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the environment, with nothing of a user whom the system does not know."""

    def refuse(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", refuse)
    found = {"CYSCC_CACHE": os.environ["CYSCC_CACHE"]}
    monkeypatch.setattr("os.environ", found)
    return found


@pytest.mark.parametrize("home", [{}, {"HOME": ""}, {"HOME": "here"}])
def test_user_without_a_home(
    home: dict[str, str], surroundings: dict[str, str], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    surroundings |= home
    provide_for_tools()
    tools = str(folder / "tools")
    assert surroundings.items() >= {"CYSCC_CACHE": str(folder), "HOME": tools, "XDG_CACHE_HOME": tools}.items()
    surroundings.clear()
    surroundings |= home
    _told.clear()
    provide_for_tools()
    cache = usable_cache()
    tools = str(cache / "tools")
    assert surroundings.items() >= {"CYSCC_CACHE": str(cache), "HOME": tools, "XDG_CACHE_HOME": tools}.items()
    assert capfd.readouterr().err == (
        "cyscc: ~/.cache/cyscc: the user has no home: a temporary cache is used; CYSCC_CACHE names another folder\n"
    )
    remove_temporary_cache()


def test_user_with_a_home_keeps_it(surroundings: dict[str, str], tmp_path: Path) -> None:
    surroundings |= {"HOME": str(tmp_path)}
    before = dict(surroundings)
    provide_for_tools()
    assert surroundings == before
    assert (tmp_path / ".cache").is_dir()


def test_home_that_is_unusable(surroundings: dict[str, str], folder: Path) -> None:
    surroundings |= {"HOME": "/dev/null"}
    provide_for_tools()
    assert surroundings["HOME"] == surroundings["XDG_CACHE_HOME"] == str(folder / "tools")


def test_private_cache_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path) -> Any:
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied")
        return looked_at(path)

    # Root may read everything.
    looked_at = os.scandir
    monkeypatch.setattr("os.scandir", refuse)
    assert usable_cache() != folder
    remove_temporary_cache()
    assert capfd.readouterr().err == (
        f"cyscc: {folder}: Permission denied: a temporary cache is used; CYSCC_CACHE names another folder\n"
    )


def test_tools_write_beside_a_cache_that_is_read_only(
    folder: Path, surroundings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cyscc.sim.caching.folder.os.access", lambda path, _: path != folder)
    provide_for_tools()
    assert Path(surroundings["HOME"]).parent == usable_cache() != folder
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


def add(cache: Path, number: int, *, used: int, size: int = 1000) -> Path:
    """Put a library into a cache, last used at a time."""
    built = cache / "built"
    built.write_bytes(b"x" * size)
    library = cache / f"machine-{number:016x}-{0:08x}.so"
    publish_library(built, library, {"configuration": {"name": f"of {number}"}})
    os.utime(description_of(library), (used, used))
    return library


def names(cache: Path) -> list[tuple[str, str]]:
    return [(entry.configuration or entry.path.name, entry.state) for entry in entries(cache, thorough=True)]


def test_entries_in_the_order_of_their_use(tmp_path: Path) -> None:
    first, second = add(tmp_path, 1, used=200), add(tmp_path, 2, used=300)
    code = tmp_path / "numba" / "a.module-01"
    code.mkdir(mode=0o700, parents=True)
    os.utime(code, (100, 100))
    (tmp_path / "a.user's.file").touch()
    old = tmp_path / f"machine-{0:024x}.so"
    old.touch()
    os.utime(old, (50, 50))
    assert names(tmp_path) == [("of 2", "ok"), ("of 1", "ok"), ("a.module-01", "ok"), ("?", "of an older version")]
    second.write_bytes(b"y" * 1000)
    code.chmod(0o777)
    assert find(first)
    states = ["it is damaged", "in use", "others may write it (mode 777; chmod go-w mends that)", "of an older version"]
    assert sorted(state for _, state in names(tmp_path)) == sorted(states)
    assert [entry.damaged for entry in entries(tmp_path, thorough=True)].count(True) == 2


def test_least_recently_used_goes_first(tmp_path: Path) -> None:
    libraries = [add(tmp_path, number, used=1000 - number) for number in range(4)]
    size = sum(entry.size for entry in entries(tmp_path))
    assert evict(tmp_path, size) == []
    assert [entry.path for entry in evict(tmp_path, size - 1)] == [libraries[3]]
    assert find(libraries[2])
    os.utime(description_of(libraries[2]), (1, 1))
    (tmp_path / "a.user's.file").touch()
    # What is in use stays, however old it is.
    assert [entry.path for entry in evict(tmp_path, 1)] == [libraries[1], libraries[0]]
    add(tmp_path, 5, used=1000)
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [libraries[2].name, description_of(libraries[2]).name, "a.user's.file"]
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("1000", 1000), ("5k", 5 << 10), ("500M", 500 << 20), ("1GiB", 1 << 30), ("2 TB", 2 << 40)],
)
def test_size(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert size_of(text) == size
    monkeypatch.setenv("CYSCC_CACHE_LIMIT", text)
    assert limit() == size


@pytest.mark.parametrize("text", ["x", "-1", "1.5G", "5 kg", "M"])
def test_what_is_no_size(text: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CYSCC_CACHE_LIMIT", text)
    assert limit() == DEFAULT_LIMIT
    assert capfd.readouterr().err == (
        f"cyscc: CYSCC_CACHE_LIMIT: {text!r} is no size such as 1000000, 500M or 1GiB: the limit is 1 GiB\n"
    )
