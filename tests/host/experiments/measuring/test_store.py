"""Finished measurements on disk."""

import json
from pathlib import Path

import pytest

from cyscc.host.experiments.measuring.store import Store, measurement_digest

INPUTS = {"graph": {"degree": 8, "vertices": 16}, "memory": {"kind": "hc2"}}
RESULT = {"gteps": 0.5, "verified": True}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "made" / "with parents")


def only_file(folder: Path) -> Path:
    (file,) = folder.rglob("*.json")
    return file


def test_what_was_added_is_found(store: Store, tmp_path: Path) -> None:
    assert store.find(INPUTS, verified=True) is None
    store.add(INPUTS, RESULT)
    assert store.find(INPUTS, verified=True) == RESULT
    assert only_file(tmp_path).name == f"{measurement_digest(INPUTS)}.json"
    assert Store(tmp_path / "made" / "with parents").find(INPUTS, verified=True) == RESULT


def test_what_has_tuples_in_it_is_found(store: Store) -> None:
    inputs = {"options": (("segment", 7), ("cached", 3))}
    store.add(inputs, RESULT)
    assert store.find(inputs, verified=True) == RESULT


def test_the_digest_depends_on_every_value_and_not_on_the_order() -> None:
    turned = {"memory": {"kind": "hc2"}, "graph": {"vertices": 16, "degree": 8}}
    assert measurement_digest(turned) == measurement_digest(INPUTS)
    assert measurement_digest({**INPUTS, "memory": {"kind": "fixed"}}) != measurement_digest(INPUTS)
    assert measurement_digest({**INPUTS, "seed": 1}) != measurement_digest(INPUTS)


@pytest.mark.parametrize("verified", [False, None])
def test_only_a_checked_result_stands_for_a_checked_one(store: Store, verified: bool | None) -> None:
    store.add(INPUTS, {"gteps": 0.5, "verified": verified})
    assert store.find(INPUTS, verified=True) is None
    assert store.find(INPUTS, verified=False) == {"gteps": 0.5, "verified": verified}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"inputs": {**INPUTS, "seed": 2}, "result": RESULT})])
def test_what_is_damaged_or_another_measurement_is_not_taken(store: Store, tmp_path: Path, text: str) -> None:
    store.add(INPUTS, RESULT)
    only_file(tmp_path).write_text(text)
    assert store.find(INPUTS, verified=False) is None
    store.add(INPUTS, RESULT)
    assert store.find(INPUTS, verified=True) == RESULT


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
