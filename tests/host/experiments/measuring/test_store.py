"""Finished measurements on disk."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.measuring.store import Store, measurement_digest
from cyscc.host.output.documents import sealed, write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import write_json
from tests.refusals import refused

INPUTS = {"graph": {"degree": 8, "vertices": 16}, "memory": {"kind": "hc2"}}
RESULT = {"gteps": 0.5, "verified": True}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "made" / "with parents")


def check(result: dict[str, Any]) -> None:
    """Refuse other results than those of `INPUTS`."""
    if not isinstance(result, dict) or not isinstance(result.get("gteps"), float):
        raise ValueError("no gteps")


def found(store: Store, inputs: dict[str, Any] = INPUTS, *, verified: bool = True) -> dict[str, Any] | None:
    return store.find(inputs, verified=verified, check=check)


def only_file(folder: Path) -> Path:
    (file,) = folder.rglob("*.json")
    return file


def test_what_was_added_is_found(store: Store, tmp_path: Path) -> None:
    assert found(store) is None
    store.add(INPUTS, RESULT)
    assert found(store) == RESULT
    assert only_file(tmp_path).name == f"{measurement_digest(INPUTS)}.json"
    assert found(Store(tmp_path / "made" / "with parents")) == RESULT


def test_what_has_tuples_in_it_is_found(store: Store) -> None:
    inputs = {"options": (("segment", 7), ("cached", 3))}
    store.add(inputs, RESULT)
    assert found(store, inputs) == RESULT


def test_the_digest_depends_on_every_value_and_not_on_the_order() -> None:
    turned = {"memory": {"kind": "hc2"}, "graph": {"vertices": 16, "degree": 8}}
    assert measurement_digest(turned) == measurement_digest(INPUTS)
    assert measurement_digest({**INPUTS, "memory": {"kind": "fixed"}}) != measurement_digest(INPUTS)
    assert measurement_digest({**INPUTS, "seed": 1}) != measurement_digest(INPUTS)


@pytest.mark.parametrize("verified", [False, None])
def test_only_a_checked_result_stands_for_a_checked_one(store: Store, verified: bool | None) -> None:
    store.add(INPUTS, {"gteps": 0.5, "verified": verified})
    assert found(store) is None
    assert found(store, verified=False) == {"gteps": 0.5, "verified": verified}


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda path: path.write_text(""), "is not JSON: Expecting value: line 1 column 1 (char 0)"),
    "another measurement": (
        lambda path: write_sealed(path, {"inputs": {**INPUTS, "seed": 2}, "result": RESULT}),
        "is another measurement",
    ),
    "a result of another kind": (
        lambda path: write_sealed(path, {"inputs": INPUTS, "result": {"cycles": 1}}),
        "holds no such result: no gteps",
    ),
    "no result": (lambda path: write_sealed(path, {"inputs": INPUTS}), "holds no such result: no gteps"),
    "a value that was changed": (
        lambda path: write_json(str(path), {**sealed({"inputs": INPUTS, "result": RESULT}), "result": {"gteps": 0.6}}),
        "is damaged: its digest is another",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_refused(store: Store, tmp_path: Path, damage: str) -> None:
    store.add(INPUTS, RESULT)
    path = only_file(tmp_path)
    spoil, cause = DAMAGES[damage]
    spoil(path)
    with refused(InputError, f"{path}: {cause}: remove it to measure again"):
        found(store)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").symlink_to("elsewhere")
    with refused(InputError, f"{tmp_path / 'here'}: is a link, which is not followed here (--output)"):
        Store(tmp_path / "here")
    store = Store(tmp_path / "store")
    (tmp_path / "elsewhere" / "kept").touch()
    (store.folder / ".a").symlink_to(tmp_path / "elsewhere")
    (store.folder / "b").symlink_to(tmp_path / "none")
    assert store.has("b")
    store.clear("a")
    with pytest.raises(OSError, match="Not a directory"):
        store.make("a", lambda path: path.touch())
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept"]


def test_what_is_made_in_place_is_made_once_and_whole(store: Store, tmp_path: Path) -> None:
    made: list[Path] = []

    def make(path: Path) -> None:
        made.append(path)
        assert path.suffix == ".txt"
        path.write_text("whole")

    path = store.make("a.txt", make)
    assert path == store.folder / "a.txt"
    assert path.read_text() == "whole"
    assert store.make("a.txt", make) == path
    assert len(made) == 1
    assert list(store.folder.iterdir()) == [path]


def test_what_is_left_of_a_failure_is_removed(store: Store) -> None:
    def fail(path: Path) -> None:
        path.mkdir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.make("a", fail)
    assert list(store.folder.iterdir()) == []
    (store.folder / ".a" / "left").mkdir(parents=True)
    store.clear("a")
    store.clear("b")
    assert list(store.folder.iterdir()) == []
