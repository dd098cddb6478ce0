"""The cache lists its entries, and stays within its limit."""

import os
from pathlib import Path

import pytest

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
