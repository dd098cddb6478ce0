"""Results on disk."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import pytest

from cyscc.host.experiments.plan.request import Measured, Request, inputs_digest
from cyscc.host.experiments.plan.store import RESULT, Store
from cyscc.host.output.documents import read_document, sealed, write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import write_json
from tests.refusals import refused

INPUTS = {"graph": {"degree": 8, "vertices": 16}, "memory": {"kind": "hc2"}}


class Throughput(TypedDict):
    gteps: float


@dataclass(frozen=True, kw_only=True)
class Rated(Request):
    """A request whose result is made by a function, of which some have a file."""

    kind: ClassVar[Any] = Throughput
    made: ClassVar[list[Path]] = []

    options: tuple[tuple[str, int], ...] = ()
    gteps: Any = 0.5
    fails: bool = False
    seconds: float = 0

    @property
    def label(self) -> str:
        return "it"

    def setting(self) -> dict[str, Any]:
        return INPUTS

    def make(self, folder: Path, store: Store, *, verify: bool, most: int | None) -> Measured:
        self.made.append(folder)
        time.sleep(self.seconds)
        (folder / "file").write_text("whole")
        if self.fails:
            raise KeyboardInterrupt
        return {"gteps": self.gteps, "verified": verify}

    def check_files(self, folder: Path, result: Measured) -> None:
        if (folder / "file").read_text() != "whole":
            raise InputError("is another one", path=folder / "file")


IT = Rated()
RESULT_OF_IT = {"gteps": 0.5, "verified": True}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    Rated.made.clear()
    return Store(tmp_path / "made" / "with parents")


def test_what_was_made_is_found(store: Store, tmp_path: Path) -> None:
    assert store.find(IT) is None
    assert store.make(IT, verify=True) == RESULT_OF_IT
    assert store.find(IT, verified=True) == RESULT_OF_IT
    assert [path.name for path in store.folder.iterdir()] == [IT.digest]
    assert sorted(path.name for path in store.folder_of(IT).iterdir()) == ["file", RESULT]
    assert Store(tmp_path / "made" / "with parents").make(IT) == RESULT_OF_IT
    assert len(Rated.made) == 1
    store.make(IT, again=True)
    assert len(Rated.made) == 2
    assert store.find(IT) == {**RESULT_OF_IT, "verified": False}
    store.remove(IT)
    store.remove(IT)
    assert store.find(IT) is None


def test_what_two_want_at_once_is_made_once(store: Store) -> None:
    slow = Rated(seconds=0.3)
    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(lambda folder: Store(folder).make(slow), [store.folder] * 2))
    assert made == [{"gteps": 0.5, "verified": False}] * 2
    assert len(Rated.made) == 1


def test_what_has_tuples_in_it_is_found(store: Store) -> None:
    request = Rated(options=(("segment", 7), ("cached", 3)))
    store.make(request)
    assert store.find(request) is not None


def test_the_digest_depends_on_every_value_and_not_on_the_order() -> None:
    turned = {"memory": {"kind": "hc2"}, "graph": {"vertices": 16, "degree": 8}}
    assert inputs_digest(turned) == inputs_digest(INPUTS)
    assert inputs_digest({**INPUTS, "memory": {"kind": "fixed"}}) != inputs_digest(INPUTS)
    assert inputs_digest({**INPUTS, "seed": 1}) != inputs_digest(INPUTS)
    assert IT.digest == inputs_digest(IT.inputs()) != Rated(gteps=0.6).digest


def test_only_a_checked_result_stands_for_a_checked_one(store: Store) -> None:
    store.make(IT)
    assert store.find(IT, verified=True) is None
    assert store.find(IT) == {**RESULT_OF_IT, "verified": False}
    assert store.make(IT, verify=True) == RESULT_OF_IT
    assert len(Rated.made) == 2


def document(**changes: Any) -> dict[str, Any]:
    return {"inputs": IT.inputs(), "result": RESULT_OF_IT, **changes}


def linked(it: Path) -> None:
    """Replace a folder by a link to it."""
    elsewhere = it.parents[1] / "elsewhere"
    it.rename(elsewhere)
    it.symlink_to(elsewhere)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda it: (it / RESULT).write_text(""), "/result.json: is not JSON: Expecting value: line 1 column 1"),
    "another request": (
        lambda it: write_sealed(it / RESULT, document(inputs={**IT.inputs(), "seed": 2})),
        "/result.json: has other inputs",
    ),
    "a result of another kind": (
        lambda it: write_sealed(it / RESULT, document(result={"cycles": 1})),
        "/result.json: holds no such result: Object missing required field `gteps`",
    ),
    "no result": (
        lambda it: write_sealed(it / RESULT, {"inputs": IT.inputs()}),
        "/result.json: holds no such result: Object missing required field `gteps`",
    ),
    "a value that was changed": (
        lambda it: write_json(str(it / RESULT), {**sealed(document()), "result": {"gteps": 0.6}}),
        "/result.json: is damaged: its digest is another",
    ),
    "nothing in it": (lambda it: (it / RESULT).unlink(), "/result.json: is not there"),
    "a link": (linked, ": is a link, which is not followed here"),
    "another file": (lambda it: (it / "file").write_text("other"), "/file: is another one"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_said_and_made_again(store: Store, damage: str, capfd: pytest.CaptureFixture[str]) -> None:
    store.make(IT, verify=True)
    spoil, cause = DAMAGES[damage]
    spoil(store.folder_of(IT))
    assert store.find(IT) is None
    line = capfd.readouterr().err
    assert line.startswith(f"cyscc: {store.folder_of(IT)}{cause}")
    assert line.endswith(": it is made again\n")
    assert store.make(IT, verify=True) == RESULT_OF_IT
    assert store.find(IT) == RESULT_OF_IT
    assert read_document(store.folder_of(IT) / RESULT)["result"] == RESULT_OF_IT
    assert capfd.readouterr().err == ""


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").symlink_to("elsewhere")
    with refused(InputError, f"{tmp_path / 'here'}: is a link, which is not followed here (--output)"):
        Store(tmp_path / "here")
    store = Store(tmp_path / "store")
    (tmp_path / "elsewhere" / "kept").touch()
    (store.folder / f".{IT.digest}").symlink_to(tmp_path / "elsewhere")
    store.clear(IT)
    with pytest.raises(OSError, match="Not a directory"):
        store.make(IT)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept"]


def test_what_is_left_of_a_failure_is_removed(store: Store) -> None:
    bad = Rated(fails=True)
    with pytest.raises(KeyboardInterrupt):
        store.make(bad)
    assert list(store.folder.iterdir()) == []
    (store.folder / f".{IT.digest}" / "left").mkdir(parents=True)
    store.clear(IT)
    store.clear(bad)
    assert list(store.folder.iterdir()) == []
